// Package fencing is the agent on a node that resets the node when it has lost the others, so
// that its work can be taken over without ever running twice.
//
// # The agreement
//
// A hardware or software watchdog resets the node unless it is fed within its timeout. The agent
// feeds it for as long as the node's pods are safe from the controller that releases the pods of
// lost nodes (agents/node/controller/fencing). The two never speak; they agree by these rules.
//
// The agent feeds if one of these holds (see Judge):
//
//   - the API server answers and the node's own Lease is fresh, or so old that all others are as
//     old: then nobody could renew. Whether others are as old takes a while to know; until then
//     the next rule holds;
//   - the API server does not answer, a quorum of the group (total/2+1) is alive, and none of its
//     members has told that it found this node's Lease stale: then the control plane is away for
//     everybody, or only this agent's way to it is disturbed;
//   - the group has one node: there is nobody to take over.
//
// The controller releases a node's pods only if all of these hold:
//
//   - the node says by its label that its watchdog is armed, and is not in maintenance;
//   - its Lease has not changed for ReleaseAfter, by the controller's own clock and only counting
//     time in which the API server answered and another node's Lease was fresh;
//   - fewer nodes of its group are stale than a quorum has. More could feed each other behind a
//     cut that the controller cannot see;
//   - fewer agents of its group are blind, the node's own included, than a quorum has. A member that
//     can tell who is lost does tell, so only a quorum of blind ones lets a lost node go on.
//
// An agent that can tell renews a Lease of its own (api.FencingLeasePrefix) after it has told. One
// that starts takes the time out of it before it meets the others, and so is blind until it can
// tell. What an agent has told it repeats while it is blind, for those that come back to it.
//
// Both count quorums by the same number of nodes, or the agent by a larger one: it writes the number
// onto its node (api.AnnotationFencingTotal) and never counts by fewer than may stand there, and
// the controller by no more. So a group that grows on one side of a cut is no trap.
//
// So a node that could be released has had no reason to feed for longer than its watchdog waits.
// An agent disarms (maintenance, end of the pod) only after its label is gone, and labels the
// node only once the watchdog is armed.
//
// Ages are measured by the clock of who measures, from when a change was seen; clocks of
// different machines are never compared.
package fencing

import "time"

// StaleLease is the age from which on a node's Lease means that its kubelet is away. Kubelet
// renews every ten seconds and asks for forty.
const StaleLease = 40 * time.Second

const maxTick = 10 * time.Second

// margin is for the way of a word through the group, for slow answers, and for the pause between
// two looks of the controller.
const margin = 15 * time.Second

// ReleaseAfter is the age of a Lease from which on the pods of a node with that watchdog timeout
// may be released. Its peers find the Lease stale one StaleLease after its last change, or, if
// they lost the API server just then, at most another one later: by then they would be stale
// themselves. One tick on, the node has heard of it; one timeout on, it is reset.
func ReleaseAfter(timeout time.Duration) time.Duration {
	return 2*StaleLease + ResetWithin(timeout)
}

// ResetWithin is how long a node with that watchdog timeout may go on after it was told to be lost.
// A peer that has just begun to see may have told just now, so for that long it still counts as blind.
func ResetWithin(timeout time.Duration) time.Duration {
	return 2*TickOf(timeout) + timeout + margin
}

// Quorum is how many of a group must be alive for its members to trust each other.
func Quorum(total int) int { return total/2 + 1 }

// TickOf is the pause between two looks, a quarter of the watchdog's timeout: after the last good
// look there is time for two more, each with an API server that takes a whole tick to fail. It is
// never so long that a missed look would be a gap.
func TickOf(timeout time.Duration) time.Duration { return min(timeout/4, maxTick) }
