// Package groupstatus keeps the status of node groups: how many nodes they have and how these are.
package groupstatus

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// grace is how long a new node counts as ready, so that one that just joins makes no alarm.
const grace = 5 * time.Minute

// Calculate is the status of a group with these nodes. checksum is that of the group's present
// configuration, empty if there is none yet. again is when the answer changes by time alone; zero
// if it does not.
func Calculate(group *v1.NodeGroup, nodes []corev1.Node, checksum string, now time.Time) (status v1.NodeGroupStatus, again time.Duration) {
	status = *group.Status.DeepCopy()
	status.Nodes, status.Ready, status.UpToDate = int32(len(nodes)), 0, 0
	if status.Engine == "" {
		status.Engine = "None"
	}
	counted := int32(0) // as ready, for the condition
	var waiting, updating []string
	for i := range nodes {
		node := &nodes[i]
		ready := Ready(node)
		if ready {
			status.Ready++
		}
		if checksum != "" && node.Annotations[api.AnnotationChecksum] == checksum {
			status.UpToDate++
		}
		age := now.Sub(node.CreationTimestamp.Time)
		if !node.Spec.Unschedulable && (ready || age < grace) {
			counted++
		}
		if left := grace - age; !ready && left > 0 && (again == 0 || left < again) {
			again = left
		}
		if needsDisruption(node) {
			waiting = append(waiting, node.Name)
		}
		if inUpdate(node) {
			updating = append(updating, node.Name)
		}
	}
	if group.Spec.NodeType == v1.CloudEphemeral {
		status.Min, status.Max = bounds(group.Spec.CloudInstances)
	}
	want := wanted(group, &status)
	status.Conditions = conditions(group.Status.Conditions, now,
		fact(v1.ConditionReady, enough(group, counted, want), shortage(counted, want)),
		fact(v1.ConditionUpdating, len(updating)+len(waiting) > 0, ""),
		fact(v1.ConditionWaitingDisruption, len(waiting) > 0, strings.Join(waiting, ", ")),
		fact(v1.ConditionError, status.Error != "", status.Error),
	)
	status.ConditionSummary = summary(status.Conditions)
	return status, again
}

// Ready says whether kubelet reports the node as ready.
func Ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func needsDisruption(node *corev1.Node) bool {
	_, required := node.Annotations[api.UpdateDisruptionRequired]
	_, approved := node.Annotations[api.UpdateDisruptionApproved]
	return required && !approved
}

func inUpdate(node *corev1.Node) bool {
	for key := range node.Annotations {
		if strings.HasPrefix(key, api.UpdatePrefix) {
			return true
		}
	}
	return false
}

// bounds are the least and the most nodes of a group in all of its zones.
func bounds(c *v1.CloudInstances) (least, most int32) {
	if c == nil {
		return 0, 0
	}
	zones := max(1, int32(len(c.Zones)))
	if c.MinPerZone != nil {
		least = *c.MinPerZone * zones
	}
	if c.MaxPerZone != nil {
		most = *c.MaxPerZone * zones
	}
	return least, most
}

// wanted is how many ready nodes a group needs: a static one those that it asks for or else all
// that it has, any other its least.
func wanted(group *v1.NodeGroup, status *v1.NodeGroupStatus) int32 {
	if group.Spec.NodeType != v1.Static {
		return status.Min
	}
	if s := group.Spec.StaticInstances; s != nil && s.Count > 0 {
		return s.Count
	}
	return status.Nodes
}

func enough(group *v1.NodeGroup, counted, want int32) bool {
	if group.Spec.NodeType == v1.Static {
		return counted == want
	}
	return counted >= want
}

func shortage(counted, want int32) string {
	if counted >= want {
		return ""
	}
	return fmt.Sprintf("%d of %d nodes are ready", counted, want)
}

func fact(kind string, is bool, message string) v1.NodeGroupCondition {
	c := v1.NodeGroupCondition{Type: kind, Status: metav1.ConditionFalse, Message: message}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// conditions keeps the time of a condition whose status and message did not change.
func conditions(before []v1.NodeGroupCondition, now time.Time, facts ...v1.NodeGroupCondition) []v1.NodeGroupCondition {
	for i := range facts {
		facts[i].LastTransitionTime = metav1.NewTime(now.Truncate(time.Second)) // as precise as it is stored
		for _, old := range before {
			if old.Type == facts[i].Type && old.Status == facts[i].Status && old.Message == facts[i].Message && !old.LastTransitionTime.IsZero() {
				facts[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return facts
}

func summary(all []v1.NodeGroupCondition) *v1.ConditionSummary {
	s := &v1.ConditionSummary{Ready: "True"}
	for _, c := range all {
		switch {
		case c.Type == v1.ConditionReady && c.Status != metav1.ConditionTrue:
			s.Ready, s.StatusMessage = "False", c.Message
		case c.Type == v1.ConditionError && c.Status == metav1.ConditionTrue:
			s.Ready, s.StatusMessage = "False", c.Message
		}
	}
	return s
}
