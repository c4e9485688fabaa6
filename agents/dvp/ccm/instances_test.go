package ccm

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudproviderapi "k8s.io/cloud-provider/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/emulatortest"
)

func TestWhatIsSupported(t *testing.T) {
	t.Parallel()
	p := new(Provider)
	for name, supported := range map[string]bool{
		"routes": second(p.Routes()), "zones": second(p.Zones()), "clusters": second(p.Clusters()), "instances of old": second(p.Instances()),
	} {
		if supported {
			t.Errorf("%s are supported, want not", name)
		}
	}
	if !second(p.LoadBalancer()) || !second(p.InstancesV2()) || !p.HasClusterID() || p.ProviderName() != "dvp" {
		t.Error("load balancers or instances are not supported, or the name is another")
	}
}

func second[T any](_ T, ok bool) bool { return ok }

// What cannot be read is an error, and never a machine that does not exist.
func TestMalformedProviderID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"dvp://", "dvp:/a", "static://a", "a", "DVP://a"} {
		node := &corev1.Node{Spec: corev1.NodeSpec{ProviderID: id}}
		exists, err := new(Provider).InstanceExists(t.Context(), node)
		if exists || err == nil || cloud.Is(err, cloud.NotFound) {
			t.Errorf("%s: got %v, %v, want an error of its own", id, exists, err)
		}
	}
	if name, err := machineName("dvp://a-b"); name != "a-b" || err != nil {
		t.Errorf("got %q, %v, want a-b", name, err)
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	c := newCluster(t, CloudNode, CloudNodeLifecycle)
	for name, test := range map[string]func(*testing.T, *cluster){
		"initialized": testNodeIsInitialized, "address": testNodeWaitsForItsAddress, "gone": testNodeGoesWithItsMachine,
		"stopped": testStoppedMachine, "phases": testPhases, "two": testTwoMachinesOfOneNode, "recreated": testRecreatedMachine,
	} {
		t.Run(name, func(t *testing.T) {
			same := *c
			same.t = t
			test(t, &same)
		})
	}
	t.Run("errors", func(t *testing.T) { testNodeIsKeptOnErrors(t, c) })
}

func testNodeIsInitialized(t *testing.T, c *cluster) {
	vm := c.machine("init-a1b2c3", "init") // as OpenTofu names it
	c.Change(vm, func(o client.Object) {
		o.(*v1alpha2.VirtualMachine).Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "north", corev1.LabelTopologyRegion: "r"}
	})
	c.node("init")
	node := c.awaitNode("init", "open", func(n *corev1.Node) bool { return !closed(n) && len(n.Status.Addresses) == 3 })
	want := []corev1.NodeAddress{{Type: corev1.NodeExternalIP, Address: vm.Status.IPAddress}, {Type: corev1.NodeInternalIP, Address: vm.Status.IPAddress}, {Type: corev1.NodeHostName, Address: "init"}}
	if node.Spec.ProviderID != "dvp://init-a1b2c3" || !slices.Equal(node.Status.Addresses, want) {
		t.Errorf("got id %s, addresses %v, want dvp://init-a1b2c3, %v", node.Spec.ProviderID, node.Status.Addresses, want)
	}
	if node.Labels[corev1.LabelTopologyZone] != "north" || node.Labels[corev1.LabelTopologyRegion] != "r" {
		t.Errorf("got labels %v, want zone and region", node.Labels)
	}
}

func testNodeWaitsForItsAddress(t *testing.T, c *cluster) {
	vm := c.DVP.Machine("late", "late")
	vm.Labels = map[string]string{cloud.LabelHostname: "late", cloud.LabelClusterUUID: uuid}
	vm.Spec.VirtualMachineIPAddressName = "late"
	c.Make(c.Disk("late", emulatortest.Immediate, "1Gi"))
	c.Make(vm)
	c.node("late")
	if _, err := c.provider.InstanceMetadata(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "late"}}); err == nil || !strings.Contains(err.Error(), "no address yet") {
		t.Errorf("got %v, want that there is no address", err)
	}
	c.awaitNode("late", "closed", closed)
	c.Make(&v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: v1alpha2.IPAddressSpec{Type: "Auto"}})
	c.awaitNode("late", "open", func(n *corev1.Node) bool { return !closed(n) && n.Spec.ProviderID == "dvp://late" })
}

func testNodeGoesWithItsMachine(t *testing.T, c *cluster) {
	vm := c.machine("gone", "gone")
	c.node("gone")
	c.awaitNode("gone", "open", func(n *corev1.Node) bool { return !closed(n) })
	if err := c.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	c.AwaitGone(vm)
	c.ready("gone", corev1.ConditionUnknown)
	c.awaitNode("gone", "deleted", func(n *corev1.Node) bool { return n == nil })
}

func testStoppedMachine(t *testing.T, c *cluster) {
	vm := c.machine("off", "off")
	c.node("off")
	c.awaitNode("off", "open", func(n *corev1.Node) bool { return !closed(n) })
	operate(c, "off-stop", v1alpha2.OperationStop, "off")
	emulatortest.AwaitPhase(c.DVP, vm, v1alpha2.MachineStopped)
	c.ready("off", corev1.ConditionUnknown)
	shut := func(n *corev1.Node) bool {
		return n != nil && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == cloudproviderapi.TaintNodeShutdown })
	}
	c.awaitNode("off", "tainted as shut down", shut)
	operate(c, "off-start", v1alpha2.OperationStart, "off")
	emulatortest.AwaitPhase(c.DVP, vm, v1alpha2.MachineRunning)
	c.ready("off", corev1.ConditionTrue)
	c.awaitNode("off", "back", func(n *corev1.Node) bool { return n != nil && !shut(n) })
}

func operate(c *cluster, name string, kind v1alpha2.OperationType, machine string) {
	c.t.Helper()
	op := &v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: machine}}
	c.Make(op)
	emulatortest.Await(c.DVP, op, "taken up", func(op *v1alpha2.VirtualMachineOperation) bool {
		return op.Status.Phase != "" && op.Status.Phase != v1alpha2.OperationPhasePending
	})
}

func testPhases(t *testing.T, c *cluster) {
	pending := c.DVP.Machine("pending", "nothing")
	pending.Labels = map[string]string{cloud.LabelHostname: "pending", cloud.LabelClusterUUID: uuid}
	c.Make(pending)
	emulatortest.AwaitPhase(c.DVP, pending, v1alpha2.MachinePending)
	moving := c.machine("moving", "moving")
	c.Change(moving, func(o client.Object) {
		o.SetAnnotations(map[string]string{emulator.AnnotationDelays: "migrate=1h"})
	})
	operate(c, "move", v1alpha2.OperationEvict, "moving")
	emulatortest.AwaitPhase(c.DVP, moving, v1alpha2.MachineMigrating)
	for _, name := range []string{"pending", "moving"} {
		for _, node := range []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: name}}, {Spec: corev1.NodeSpec{ProviderID: "dvp://" + name}}} {
			exists, err := c.provider.InstanceExists(t.Context(), node)
			stopped, problem := c.provider.InstanceShutdown(t.Context(), node)
			if !exists || stopped || err != nil || problem != nil {
				t.Errorf("%s: got exists %v, %v, shut down %v, %v, want it there and on", name, exists, err, stopped, problem)
			}
		}
	}
}

func testTwoMachinesOfOneNode(t *testing.T, c *cluster) {
	old := c.machine("two-a", "two")
	c.machine("two-b", "two")
	c.Change(old, func(o client.Object) { o.SetFinalizers(append(o.GetFinalizers(), "test/held")) })
	if err := c.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	c.node("two")
	c.awaitNode("two", "the newer machine", func(n *corev1.Node) bool { return n != nil && n.Spec.ProviderID == "dvp://two-b" })
	release := func(o client.Object) {
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == "test/held" }))
	}
	// DVP takes its own finalizer away meanwhile.
	c.Eventually("the old machine is released", func(context.Context) bool { return c.TryChange(old, release) == nil })
}

func testRecreatedMachine(t *testing.T, c *cluster) {
	old := c.machine("again-a", "again")
	first := c.node("again")
	c.awaitNode("again", "open", func(n *corev1.Node) bool { return !closed(n) })
	c.machine("again-b", "again")
	if err := c.Delete(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	c.AwaitGone(old)
	c.ready("again", corev1.ConditionUnknown)
	c.awaitNode("again", "deleted", func(n *corev1.Node) bool { return n == nil })
	if second := c.node("again"); second.UID == first.UID {
		t.Fatal("the node was not deleted")
	}
	c.awaitNode("again", "of the new machine", func(n *corev1.Node) bool { return n != nil && n.Spec.ProviderID == "dvp://again-b" })
}

// A machine that is gone, and a DVP that does not say so clearly: the Node stays until it does.
func testNodeIsKeptOnErrors(t *testing.T, c *cluster) {
	vm := c.machine("kept", "kept")
	c.node("kept")
	c.awaitNode("kept", "open", func(n *corev1.Node) bool { return !closed(n) })
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"no connection":           broken,
		"500":                     status(http.StatusInternalServerError, "etcd"),
		"403":                     status(http.StatusForbidden, "no"),
		"401":                     status(http.StatusUnauthorized, "no"),
		"429":                     status(http.StatusTooManyRequests, "later"),
		"a proxy's own 404":       status(http.StatusNotFound, "no such page"),
		"a page in place of JSON": status(http.StatusOK, "<html>maintenance</html>"),
	} {
		c.faults.set(answer)
		c.ready("kept", corev1.ConditionUnknown)
		c.Eventually(name+" was met", func(context.Context) bool { return c.faults.count.Load() >= 4 })
		if exists, err := c.provider.InstanceExists(t.Context(), &corev1.Node{Spec: corev1.NodeSpec{ProviderID: "dvp://kept"}}); err == nil {
			t.Errorf("%s: got %v, want that it is not known", name, exists)
		}
		if node, err := c.client.CoreV1().Nodes().Get(t.Context(), "kept", metav1.GetOptions{}); err != nil || !node.DeletionTimestamp.IsZero() {
			t.Fatalf("%s: got %v, want the node kept", name, err)
		}
	}
	c.faults.set(none)
	if err := c.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	c.awaitNode("kept", "deleted at last", func(n *corev1.Node) bool { return n == nil })
}
