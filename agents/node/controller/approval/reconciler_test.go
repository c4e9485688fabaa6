package approval

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

// Two real nodes update one after the other, the first with a drain; the test plays bashible and
// the drain.
func TestUpdateOfRealNodes(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}}))
	must(c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: api.ChecksumsSecret, Namespace: api.Namespace}, Data: map[string][]byte{"roll": []byte("new")},
	}))
	must(c.Create(t.Context(), &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "roll"}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}))
	for _, name := range []string{"roll-a", "roll-b"} {
		n := node(name + " waiting")
		n.Labels = map[string]string{api.LabelGroup: "roll"}
		must(c.Create(t.Context(), &n))
	}
	r := &Reconciler{Client: c, Direct: c, Clock: clock.System{}}
	step := func() {
		t.Helper()
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "roll"}})
		must(err)
	}
	get := func(name string) *corev1.Node {
		t.Helper()
		n := new(corev1.Node)
		must(c.Get(t.Context(), client.ObjectKey{Name: name}, n))
		return n
	}
	change := func(name string, how func(*corev1.Node)) {
		t.Helper()
		n := get(name)
		how(n)
		must(c.Update(t.Context(), n))
	}
	expect := func(name, annotation string, want bool) {
		t.Helper()
		if n := get(name); has(n, annotation) != want {
			t.Fatalf("%s: %s there %t, want %t; all: %v", name, annotation, !want, want, n.Annotations)
		}
	}
	step()
	expect("roll-a", api.UpdateApproved, true)
	expect("roll-a", api.UpdateWaiting, false)
	step()
	expect("roll-b", api.UpdateApproved, false)
	change("roll-a", func(n *corev1.Node) { n.Annotations[api.UpdateDisruptionRequired] = "" })
	step()
	if by := get("roll-a").Annotations[api.UpdateDraining]; by != api.DrainByBashible {
		t.Fatalf("draining for %q, want bashible", by)
	}
	change("roll-a", func(n *corev1.Node) {
		delete(n.Annotations, api.UpdateDraining)
		n.Annotations[api.UpdateDrained] = api.DrainByBashible
		n.Spec.Unschedulable = true
	})
	step()
	expect("roll-a", api.UpdateDisruptionApproved, true)
	expect("roll-a", api.UpdateDisruptionRequired, false)
	change("roll-a", func(n *corev1.Node) { n.Annotations[api.AnnotationChecksum] = "new" })
	step()
	for _, key := range []string{api.UpdateApproved, api.UpdateDisruptionApproved, api.UpdateDrained} {
		expect("roll-a", key, false)
	}
	if get("roll-a").Spec.Unschedulable {
		t.Error("the node is still cordoned")
	}
	step()
	expect("roll-b", api.UpdateApproved, true)

	events := new(corev1.EventList)
	must(c.List(t.Context(), events, client.InNamespace("default")))
	told := map[string]bool{}
	for _, e := range events.Items {
		if e.InvolvedObject.Name == "roll-a" {
			told[e.Reason] = true
		}
	}
	for _, reason := range []string{EventApproved, EventDraining, EventDisruptionApproved, EventUpToDate} {
		if !told[reason] {
			t.Errorf("no event %s", reason)
		}
	}
}
