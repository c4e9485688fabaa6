// Package earlyoom frees memory on a node before the kernel has to, by ending one pod.
//
// The node's memory pressure is the share of time in which no task could go on because all waited
// for memory (line "full" of memory.pressure, avg10, in percent). A pod that fights with its own
// limit raises that number too, although the node has memory left; so pressure alone ends nobody.
// The node counts as short of memory only if, besides, little memory is available and somebody
// who is not at the limit of a cgroup of his own is stalled (see Decide).
//
// # The victim
//
// Never a static pod, a pod with a priority of system-cluster-critical or higher, or a cgroup
// that no known pod of the node belongs to. Of the others, in this order:
//
//  1. pods of ordinary namespaces before pods of the system (kube-system and d8-*),
//  2. pods that use more than they requested before those that do not,
//  3. lower priority first,
//  4. larger excess of use over request first,
//  5. by namespace and name, so that the choice never depends on chance.
//
// A pod that uses less than a hundredth of the node's memory is no victim: its end would not
// help. After a victim nobody else is ended until the pressure has fallen to half the threshold
// and at least fifteen seconds have passed.
package earlyoom
