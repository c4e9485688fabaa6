package drain

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

// bench is a real node with pods and a controller without a manager, whose turns the test takes.
type bench struct {
	t *testing.T
	client.Client
	*Reconciler
	name string
}

func newBench(t *testing.T, name, draining string) *bench {
	t.Helper()
	_, c := apitest.Start(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := New(c, c, ctx, clock.System{}, prometheus.NewRegistry())
	r.Every = 10 * time.Millisecond
	t.Cleanup(func() { cancel(); r.tasks.wait() })
	b := &bench{t, c, r, name}
	b.make(&corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{api.LabelGroup: name}, Annotations: map[string]string{api.UpdateDraining: draining},
	}})
	return b
}

func (b *bench) make(object client.Object) {
	b.t.Helper()
	if err := b.Client.Create(b.t.Context(), object); err != nil {
		b.t.Fatal(err)
	}
}

// pod runs on the node and ends at once when it is asked to: there is no kubelet to wait for.
func (b *bench) pod(name string, change func(*corev1.Pod)) {
	b.t.Helper()
	zero := int64(0)
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: b.name + name, Namespace: "default", Labels: map[string]string{"app": b.name + name}},
		Spec:       corev1.PodSpec{NodeName: b.name, TerminationGracePeriodSeconds: &zero, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if change != nil {
		change(p)
	}
	b.make(p)
	// A budget guards only pods that run.
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	b.must(b.Client.Status().Update(b.t.Context(), p))
}

func (b *bench) step() error {
	_, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: b.name}})
	return err
}

// over waits for the drain to end.
func (b *bench) over() {
	b.t.Helper()
	select {
	case <-b.ended:
	case <-time.After(30 * time.Second):
		b.t.Fatal("the drain does not end")
	}
}

func (b *bench) node() *corev1.Node {
	b.t.Helper()
	n := new(corev1.Node)
	if err := b.Client.Get(b.t.Context(), client.ObjectKey{Name: b.name}, n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func (b *bench) gone(pod string) bool {
	b.t.Helper()
	err := b.Client.Get(b.t.Context(), client.ObjectKey{Namespace: "default", Name: b.name + pod}, new(corev1.Pod))
	if client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
	return apierrors.IsNotFound(err)
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) told(reason string) bool {
	b.t.Helper()
	events := new(corev1.EventList)
	b.must(b.Client.List(b.t.Context(), events, client.InNamespace("default")))
	for _, e := range events.Items {
		if e.InvolvedObject.Name == b.name && e.Reason == reason {
			return true
		}
	}
	return false
}

// guard keeps a pod from being evicted.
func (b *bench) guard(pod string) {
	none := intstr.FromInt32(0)
	b.make(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: b.name + pod, Namespace: "default"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &none, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": b.name + pod}}},
	})
}

func TestDrain(t *testing.T) {
	t.Parallel()
	b := newBench(t, "drained", "")
	yes := true
	b.pod("work", nil)
	b.pod("daemon", func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", UID: "u", Controller: &yes}}
	})
	b.must(b.step())
	if !b.node().Spec.Unschedulable || testutil.ToFloat64(b.Gauge.WithLabelValues(b.name)) != 1 {
		t.Error("not cordoned, or not counted as draining")
	}
	b.over()
	b.must(b.step())
	if !b.gone("work") || b.gone("daemon") {
		t.Errorf("work gone %t, daemon gone %t, want only the work gone", b.gone("work"), b.gone("daemon"))
	}
	n := b.node()
	if _, still := n.Annotations[api.UpdateDraining]; still || n.Annotations[api.UpdateDrained] != api.DrainByBashible || !b.told(eventSucceeded) {
		t.Errorf("got %v, want it drained for bashible and told", n.Annotations)
	}
	if testutil.CollectAndCount(b.Gauge) != 0 {
		t.Error("still counted as draining")
	}
}

func TestFailedDrainIsNeverDrained(t *testing.T) {
	t.Parallel()
	b := newBench(t, "stuck", api.DrainByUser)
	one := int64(1)
	b.make(&v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: b.name}, Spec: v1.NodeGroupSpec{
		NodeType: v1.Static, NodeGroupSettings: v1.NodeGroupSettings{NodeDrainTimeoutSecond: &one},
	}})
	b.pod("work", nil)
	b.guard("work")
	b.must(b.step())
	b.over()
	if err := b.step(); err == nil || !strings.Contains(err.Error(), "stuckwork") {
		t.Errorf("got %v, want an error that names the pod", err)
	}
	n := b.node()
	if n.Annotations[api.UpdateDraining] != api.DrainByUser || n.Annotations[api.UpdateDrainFailed] == "" || n.Annotations[api.UpdateDrained] != "" || b.gone("work") {
		t.Errorf("got %v, want it still draining, failed, and the pod there", n.Annotations)
	}
	if !b.told(eventFailed) {
		t.Error("nobody was told")
	}
	// The next try, as after a restart, succeeds once the pod may go.
	b.must(b.Client.Delete(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "stuckwork", Namespace: "default"}}))
	b.must(b.step())
	b.over()
	b.must(b.step())
	n = b.node()
	if _, failed := n.Annotations[api.UpdateDrainFailed]; failed || n.Annotations[api.UpdateDrained] != api.DrainByUser {
		t.Errorf("got %v, want it drained for the user", n.Annotations)
	}
}

func TestDrainThatNobodyWantsIsCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, "unwanted", "")
	b.pod("work", nil)
	b.guard("work")
	b.must(b.step())
	if known, over, _ := b.tasks.result(b.name); !known || over {
		t.Fatalf("known %t, over %t, want the drain under way", known, over)
	}
	n := b.node()
	delete(n.Annotations, api.UpdateDraining)
	b.must(b.Client.Update(t.Context(), n))
	b.must(b.step())
	if known, _, _ := b.tasks.result(b.name); known || !b.told(eventCancelled) || b.gone("work") {
		t.Errorf("still known %t, told %t, pod gone %t", known, b.told(eventCancelled), b.gone("work"))
	}
}

func TestStaleDrainOfAPersonIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, "stale", "")
	n := b.node()
	n.Annotations = map[string]string{api.UpdateDrained: api.DrainByUser}
	b.must(b.Client.Update(t.Context(), n))
	b.must(b.step())
	if len(b.node().Annotations) != 0 {
		t.Errorf("got %v, want none", b.node().Annotations)
	}
}

// A controller that starts finds the wish on the node and goes on.
func TestRestartResumesADrain(t *testing.T) {
	t.Parallel()
	b := newBench(t, "resumed", "")
	b.pod("work", nil)
	n := b.node()
	n.Spec.Unschedulable = true // the first controller came that far
	b.must(b.Client.Update(t.Context(), n))
	b.must(b.step())
	b.over()
	b.must(b.step())
	if !b.gone("work") || b.node().Annotations[api.UpdateDrained] == "" {
		t.Error("not drained")
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	ninety := int64(90)
	group := &v1.NodeGroup{}
	if got := Timeout(group); got != 10*time.Minute {
		t.Errorf("by default %s, want 10 minutes", got)
	}
	group.Spec.NodeDrainTimeoutSecond = &ninety
	if got := Timeout(group); got != 90*time.Second {
		t.Errorf("got %s, want 90 seconds", got)
	}
}
