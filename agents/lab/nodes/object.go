// Package nodes makes the Node objects of a lab cluster what its node groups ask for. kwok then
// plays their kubelets.
package nodes

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/lab"
	"commander/agents/lab/kubelet"
)

const (
	groupLabel        = "node.deckhouse.io/group"
	typeLabel         = "node.deckhouse.io/type"
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// wantedAnnotation keeps what the node group gave to the node, as JSON: what a person adds to a
	// node beside it is left alone.
	wantedAnnotation = "lab.commander.io/wanted"
	maxPods          = 110
)

// object makes the Node object at the birth of a node.
func object(n lab.Node, version string, address netip.Addr) (*corev1.Node, error) {
	kind := "CloudEphemeral"
	if n.Master() {
		kind = "CloudPermanent"
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: n.Name,
			Labels: map[string]string{
				corev1.LabelHostname: n.Name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
				groupLabel: n.Group, typeLabel: kind, "node-role.deckhouse.io/" + n.Group: "",
			},
		},
		Status: corev1.NodeStatus{
			Capacity: capacity(n.Class), Allocatable: capacity(n.Class),
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: address.String()},
				{Type: corev1.NodeHostName, Address: n.Name},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: kubelet.Port}},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:  version,
				OperatingSystem: "linux", Architecture: "amd64",
				OSImage: "Lab (played by kwok)", KernelVersion: "0.0.0-lab", ContainerRuntimeVersion: "kwok://0.8.0",
			},
		},
	}
	if n.Master() {
		node.Labels[controlPlaneLabel] = ""
	}
	return node, settle(node, n)
}

// settle gives a node the labels and taints of its group and takes away those that the group gave
// it before.
func settle(node *corev1.Node, n lab.Node) error {
	before, err := wantedOf(node)
	if err != nil {
		return err
	}
	for label := range before.Labels {
		delete(node.Labels, label)
	}
	maps.Copy(node.Labels, n.Labels)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return slices.Contains(before.Taints, fromTaint(t))
	})
	for _, t := range n.Taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	n.Ready = false
	raw, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("write what node %s is to be: %w", n.Name, err)
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[wantedAnnotation] = string(raw)
	return nil
}

// wantedOf reads what the node was last asked to be; the zero value if it was not made by the lab.
func wantedOf(node *corev1.Node) (lab.Node, error) {
	var n lab.Node
	raw := node.Annotations[wantedAnnotation]
	if raw == "" {
		return n, nil
	}
	if err := json.Unmarshal([]byte(raw), &n); err != nil {
		return n, fmt.Errorf("read what node %s is to be: %w", node.Name, err)
	}
	return n, nil
}

// observed tells what a node is: as asked for, but class, version and readiness as they are.
func observed(node *corev1.Node) (lab.Node, error) {
	n, err := wantedOf(node)
	if err != nil {
		return n, err
	}
	n.Name, n.Group = node.Name, node.Labels[groupLabel]
	n.Class = class(node.Status.Capacity)
	n.KubernetesVersion = minor(node.Status.NodeInfo.KubeletVersion)
	n.Ready = ready(node)
	// Labels and taints of the group that somebody took away are reported as missing.
	maps.DeleteFunc(n.Labels, func(k, v string) bool { return node.Labels[k] != v })
	n.Taints = slices.DeleteFunc(n.Taints, func(t lab.Taint) bool {
		return !slices.ContainsFunc(node.Spec.Taints, func(have corev1.Taint) bool { return fromTaint(have) == t })
	})
	return n, nil
}

func ready(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func fromTaint(t corev1.Taint) lab.Taint {
	return lab.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}
}

const gib = 1 << 30

func capacity(c lab.InstanceClass) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(c.CPU), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(c.MemoryGiB)*gib, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(c.RootDiskGiB)*gib, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(maxPods, resource.DecimalSI),
	}
}

func class(c corev1.ResourceList) lab.InstanceClass {
	return lab.InstanceClass{
		CPU: int(c.Cpu().Value()), MemoryGiB: int(c.Memory().Value() / gib), RootDiskGiB: int(c.StorageEphemeral().Value() / gib),
	}
}

// minor turns v1.37.2 into 1.37.
func minor(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return version
	}
	return parts[0] + "." + parts[1]
}
