package fencing

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	agent "commander/agents/node/fencing"
)

// View is what the controller knows of a node that may be lost.
type View struct {
	Node    *corev1.Node
	Timeout time.Duration // of the node's watchdog
	Age     time.Duration // of its Lease
	Known   bool          // it has a Lease, and Leases can be seen
	LostFor time.Duration // how much of that age another node did renew
	Others  bool          // the Lease of another node was renewed lately
	Stale   int           // nodes of its group with a stale Lease
	Blind   int           // nodes of its group, this one included, whose agents cannot tell who is lost
	Total   int           // nodes of its group
}

// Reason is why a node is or is not released.
type Reason string

// Reasons.
const (
	NotFenced   Reason = "NotFenced"   // its agent does not say that it is armed
	Maintenance Reason = "Maintenance" // it is being worked on
	NoLease     Reason = "NoLease"     // nothing is known of its Lease
	Alive       Reason = "Alive"       // its Lease is not old enough
	NobodyElse  Reason = "NobodyElse"  // no Lease is renewed: the control plane is to blame
	Early       Reason = "Early"       // others renew, but not for long: it may be about to
	TooMany     Reason = "TooMany"     // as many of its group are stale or blind as could feed each other
	Lost        Reason = "Lost"        // its pods may run elsewhere
)

// Judge decides whether a node is lost; it is pure.
func Judge(v View) Reason {
	_, fenced := v.Node.Labels[api.LabelFencingEnabled]
	switch {
	case !fenced:
		return NotFenced
	case api.InMaintenance(v.Node.Annotations):
		return Maintenance
	case !v.Known:
		return NoLease
	case v.Age < agent.ReleaseAfter(v.Timeout):
		return Alive
	case !v.Others:
		return NobodyElse
	case v.LostFor < agent.ReleaseAfter(v.Timeout):
		return Early
	case v.Stale >= agent.Quorum(v.Total), v.Blind >= agent.Quorum(min(v.Total, countedBy(v.Node))):
		return TooMany
	default:
		return Lost
	}
}

// countedBy is how many nodes the node's agent trusts its group to have at least. Who has not said
// so might trust itself alone.
func countedBy(node *corev1.Node) int {
	total, err := strconv.Atoi(node.Annotations[api.AnnotationFencingTotal])
	if err != nil {
		return 0
	}
	return total
}

// DeletesNode says whether a lost node's object goes too. Nodes that were made by hand could not
// come back by themselves, and in mode Notify the machine may well be running.
func DeletesNode(node *corev1.Node) bool {
	if node.Labels[api.LabelFencingMode] == string(v1.FencingNotify) {
		return false
	}
	switch v1.NodeType(node.Labels[api.LabelType]) {
	case v1.Static, v1.CloudStatic:
		return false
	default:
		return true
	}
}

// defaultTimeout is that of the schema, for a group that is gone or says nothing.
const defaultTimeout = 60 * time.Second

// TimeoutOf is the longest that the node's watchdog may wait: by what its agent wrote when it
// armed it, or by the group if that was changed to more since.
func TimeoutOf(node *corev1.Node, group *v1.NodeGroup) time.Duration {
	longest := time.Duration(0)
	if group != nil && group.Spec.Fencing != nil && group.Spec.Fencing.Watchdog != nil {
		if d, err := time.ParseDuration(group.Spec.Fencing.Watchdog.Timeout); err == nil {
			longest = d
		}
	}
	if d, err := time.ParseDuration(node.Annotations[api.AnnotationFencingTimeout]); err == nil {
		longest = max(longest, d)
	}
	if longest <= 0 {
		return defaultTimeout
	}
	return longest
}
