package template

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
)

// Roles of masters, and the taint that masters had before it was renamed.
const (
	roleControlPlane = "node-role.kubernetes.io/control-plane"
	roleMaster       = "node-role.kubernetes.io/master"
	masterGroup      = "master"
)

// Apply changes a node to what its group says, and tidies up after its first run. It fails if
// what was applied last cannot be read; then nothing is changed.
func Apply(node *corev1.Node, group *v1.NodeGroup) error {
	wanted := v1.NodeTemplate{}
	if group.Spec.NodeTemplate != nil {
		wanted = *group.Spec.NodeTemplate.DeepCopy()
	}
	last := v1.NodeTemplate{}
	if text := node.Annotations[api.AnnotationLastTemplate]; text != "" {
		if err := json.Unmarshal([]byte(text), &last); err != nil {
			return fmt.Errorf("read last template of node %s: %w", node.Name, err)
		}
	}
	text, err := json.Marshal(wanted)
	if err != nil {
		return fmt.Errorf("write template for node %s: %w", node.Name, err)
	}
	node.Labels = mergeMap(node.Labels, wanted.Labels, last.Labels)
	node.Annotations = mergeMap(node.Annotations, wanted.Annotations, last.Annotations)
	node.Spec.Taints = mergeTaints(node.Spec.Taints, wanted.Taints, last.Taints)
	node.Annotations[api.AnnotationLastTemplate] = string(text)
	node.Labels[api.LabelType] = string(group.Spec.NodeType)
	if group.Spec.NodeType != v1.CloudEphemeral {
		node.Annotations[api.AnnotationScaleDownDisabled] = "true"
	}
	if group.Name == masterGroup {
		node.Labels[roleControlPlane], node.Labels[roleMaster] = "", ""
		if !slices.ContainsFunc(wanted.Taints, func(t v1.Taint) bool { return t.Key == roleMaster }) {
			dropTaint(node, roleMaster)
		}
	}
	firstRun(node)
	return nil
}

// firstRun lets pods onto a node whose first run is over: label and taint go together.
func firstRun(node *corev1.Node) {
	if _, finished := node.Labels[api.LabelFirstRunFinished]; finished {
		delete(node.Labels, api.LabelFirstRunFinished)
		dropTaint(node, api.TaintUninitialized)
	}
}

func dropTaint(node *corev1.Node, key string) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}
