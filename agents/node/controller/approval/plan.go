// Package approval lets the nodes of a group change themselves, a few at a time and, where a
// change disturbs what runs there, only when that is allowed.
package approval

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/controller/groupstatus"
)

// View is what is known of a group.
type View struct {
	Group    *v1.NodeGroup
	Nodes    []corev1.Node
	Checksum string // of the group's configuration; empty if there is none
	// Deckhouse is the node that runs the pod of the controllers themselves; empty if none does.
	Deckhouse string
	Now       time.Time
}

// Step is one change to one node.
type Step struct {
	Node     *corev1.Node
	Add      map[string]string // annotations
	Drop     []string          // annotations
	Uncordon bool
	Replace  bool   // delete the node's Instance
	Event    string // its reason
}

// Reasons of events.
const (
	EventUpToDate           = "NodeUpToDate"
	EventRollingUpdate      = "RollingUpdate"
	EventDisruptionApproved = "DisruptionApproved"
	EventDraining           = "DrainingForDisruption"
	EventApproved           = "NodeApproved"
)

// Plan is what to do next: the steps of the first of three phases that has any. One phase at a
// time, so that each starts from what the one before has made of the nodes.
func Plan(v View) []Step {
	for _, phase := range []func(View) []Step{processed, disruptions, updates} {
		if steps := phase(v); len(steps) > 0 {
			return steps
		}
	}
	return nil
}

func has(node *corev1.Node, annotation string) bool {
	_, ok := node.Annotations[annotation]
	return ok
}

// drainIs says whether an annotation of a drain belongs to an update; empty means that it does.
func drainIs(node *corev1.Node, annotation string) bool {
	by, ok := node.Annotations[annotation]
	return ok && (by == api.DrainByBashible || by == "")
}

// processed tidies up behind nodes that have applied the group's configuration.
func processed(v View) []Step {
	if v.Checksum == "" {
		return nil
	}
	var steps []Step
	for i := range v.Nodes {
		node := &v.Nodes[i]
		drained := drainIs(node, api.UpdateDrained)
		late := drained && node.Spec.Unschedulable // a drain that ended after the node was done
		if node.Annotations[api.AnnotationChecksum] != v.Checksum || !groupstatus.Ready(node) || !has(node, api.UpdateApproved) && !late {
			continue
		}
		step := Step{Node: node, Uncordon: late, Event: EventUpToDate, Drop: []string{
			api.UpdateApproved, api.UpdateWaiting, api.UpdateDisruptionRequired, api.UpdateDisruptionApproved,
		}}
		if drained {
			step.Drop = append(step.Drop, api.UpdateDrained)
		}
		steps = append(steps, step)
	}
	return steps
}

// disruptions allows what the approved nodes still wait for.
func disruptions(v View) []Step {
	mode, windows, drains := rules(v.Group)
	if mode == v1.ApproveManual || !open(windows, v.Now) {
		return nil
	}
	var steps []Step
	for i := range v.Nodes {
		node := &v.Nodes[i]
		wants := has(node, api.UpdateDisruptionRequired) || has(node, api.UpdateRolling)
		if !wants || !has(node, api.UpdateApproved) || has(node, api.UpdateDisruptionApproved) || drainIs(node, api.UpdateDraining) {
			continue
		}
		switch {
		case mode == v1.ApproveRollingUpdate:
			steps = append(steps, Step{Node: node, Replace: true, Event: EventRollingUpdate})
		case drainIs(node, api.UpdateDrained) || !drains || !mayDrain(v, node):
			steps = append(steps, Step{
				Node: node, Event: EventDisruptionApproved,
				Add: map[string]string{api.UpdateDisruptionApproved: ""}, Drop: []string{api.UpdateDisruptionRequired},
			})
		case !node.Spec.Unschedulable:
			steps = append(steps, Step{Node: node, Add: map[string]string{api.UpdateDraining: api.DrainByBashible}, Event: EventDraining})
		}
	}
	return steps
}

func rules(group *v1.NodeGroup) (mode v1.ApprovalMode, windows []v1.Window, drains bool) {
	mode, drains = v1.ApproveAutomatic, true
	d := group.Spec.Disruptions
	if d == nil {
		return mode, nil, drains
	}
	if d.ApprovalMode != "" {
		mode = d.ApprovalMode
	}
	if a := d.Automatic; a != nil && mode == v1.ApproveAutomatic {
		windows = a.Windows
		drains = a.DrainBeforeApproval == nil || *a.DrainBeforeApproval
	}
	if r := d.RollingUpdate; r != nil && mode == v1.ApproveRollingUpdate {
		windows = r.Windows
	}
	return mode, windows, drains
}

// mayDrain says whether what runs on a node could run elsewhere at all: not on the only master,
// and not where the controllers themselves run without another ready node to go to.
func mayDrain(v View, node *corev1.Node) bool {
	if v.Group.Name == "master" && len(v.Nodes) == 1 {
		return false
	}
	return node.Name != v.Deckhouse || countReady(v.Nodes) >= 2
}

func countReady(nodes []corev1.Node) int {
	ready := 0
	for i := range nodes {
		if groupstatus.Ready(&nodes[i]) {
			ready++
		}
	}
	return ready
}

// updates approves waiting nodes as far as there are slots. While any node is not ready only such
// nodes get one: it may be what mends them, and the others must not break too.
func updates(v View) []Step {
	slots := Limit(v.Group, len(v.Nodes))
	var ready, broken []*corev1.Node
	for i := range v.Nodes {
		node := &v.Nodes[i]
		switch {
		case has(node, api.UpdateApproved):
			slots--
		case !has(node, api.UpdateWaiting):
		case groupstatus.Ready(node):
			ready = append(ready, node)
		default:
			broken = append(broken, node)
		}
	}
	if countReady(v.Nodes) < len(v.Nodes) {
		ready = nil
	}
	waiting := slices.Concat(ready, broken)
	slices.SortStableFunc(waiting, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	var steps []Step
	for _, node := range waiting[:min(max(0, slots), len(waiting))] {
		steps = append(steps, Step{
			Node: node, Event: EventApproved, Add: map[string]string{api.UpdateApproved: ""}, Drop: []string{api.UpdateWaiting},
		})
	}
	return steps
}

// Limit is how many of a group's nodes may change at once.
func Limit(group *v1.NodeGroup, nodes int) int {
	if group.Spec.Update == nil || group.Spec.Update.MaxConcurrent == nil {
		return 1
	}
	text := group.Spec.Update.MaxConcurrent.String()
	share, percent := strings.CutSuffix(text, "%")
	number, err := strconv.Atoi(share)
	if err != nil {
		return 1 // the schema does not let it through
	}
	if percent {
		number = nodes * number / 100
	}
	return max(1, number)
}
