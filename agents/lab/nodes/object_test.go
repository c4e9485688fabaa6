package nodes

import (
	"net/netip"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"commander/agents/lab"
)

var worker = lab.Node{
	Name: "t-worker-0", Group: "worker", Class: lab.InstanceClass{CPU: 4, MemoryGiB: 8, RootDiskGiB: 50},
	Labels: map[string]string{"tier": "front"}, Taints: []lab.Taint{{Key: "dedicated", Value: "front", Effect: "NoExecute"}},
	KubernetesVersion: "1.37",
}

func born(t *testing.T, n lab.Node) *corev1.Node {
	t.Helper()
	node, err := object(n, "v1.37.2", netip.MustParseAddr("198.18.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	return node
}

func TestObservedIsWhatWasWanted(t *testing.T) {
	t.Parallel()
	master := lab.Node{Name: "t-master-0", Group: "master", Class: worker.Class, KubernetesVersion: "1.37"}
	for _, n := range []lab.Node{worker, master} {
		node := born(t, n)
		got, err := observed(node)
		if err != nil || !same(got, n) {
			t.Errorf("got %+v, %v, want %+v", got, err, n)
		}
		if _, marked := node.Labels[controlPlaneLabel]; marked != n.Master() {
			t.Errorf("%s: marked as control plane %t, want %t", n.Name, marked, n.Master())
		}
	}
}

func TestObservedSeesWhatSomebodyChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*corev1.Node){
		"label taken away":  func(n *corev1.Node) { delete(n.Labels, "tier") },
		"label overwritten": func(n *corev1.Node) { n.Labels["tier"] = "back" },
		"taint taken away":  func(n *corev1.Node) { n.Spec.Taints = nil },
		"older kubelet":     func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.36.3" },
		"another size": func(n *corev1.Node) {
			n.Status.Capacity = capacity(lab.InstanceClass{CPU: 1, MemoryGiB: 1, RootDiskGiB: 5})
		},
	} {
		node := born(t, worker)
		change(node)
		if got, err := observed(node); err != nil || same(got, worker) {
			t.Errorf("%s: got %+v, %v, want a difference", name, got, err)
		}
	}
}

func TestSettleLeavesWhatPeopleAdded(t *testing.T) {
	t.Parallel()
	node := born(t, worker)
	node.Labels["mine"] = "yes"
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: "mine", Effect: corev1.TaintEffectNoSchedule})
	changed := worker
	changed.Labels, changed.Taints = map[string]string{"tier2": "front"}, nil
	if err := settle(node, changed); err != nil {
		t.Fatal(err)
	}
	if node.Labels["mine"] != "yes" || node.Labels["tier"] != "" || node.Labels["tier2"] != "front" || node.Labels[groupLabel] != "worker" {
		t.Errorf("got labels %v, want those of the lab, of the person and tier2, without tier", node.Labels)
	}
	if want := []corev1.Taint{{Key: "mine", Effect: corev1.TaintEffectNoSchedule}}; !reflect.DeepEqual(node.Spec.Taints, want) {
		t.Errorf("got taints %v, want %v", node.Spec.Taints, want)
	}
	if got, err := observed(node); err != nil || !same(got, changed) {
		t.Errorf("got %+v, %v, want %+v", got, err, changed)
	}
}

func TestFreeAddress(t *testing.T) {
	t.Parallel()
	taken := map[netip.Addr]bool{netip.MustParseAddr("198.18.0.1"): true, netip.MustParseAddr("198.18.0.3"): true}
	for _, want := range []string{"198.18.0.2", "198.18.0.4"} {
		if got := freeAddress(taken); got.String() != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
