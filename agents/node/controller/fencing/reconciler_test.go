package fencing

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	agent "commander/agents/node/fencing"
	"commander/internal/clock"
)

// bench is a group of three real Node objects with Leases, and a controller whose clock the test
// owns. The first node carries a pod.
type bench struct {
	client.Client
	*Reconciler
	clock  *clock.Fake
	prefix string
	pod    *corev1.Pod
}

func newBench(t *testing.T, prefix string, kind v1.NodeType, mode v1.FencingMode) *bench {
	t.Helper()
	_, c := apitest.Start(t)
	now := clock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	b := &bench{Client: c, clock: now, prefix: prefix, Reconciler: &Reconciler{Client: c, Direct: c, Clock: now, Log: slog.New(slog.DiscardHandler)}}
	group := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: prefix}, Spec: v1.NodeGroupSpec{
		NodeType: kind, NodeGroupSettings: v1.NodeGroupSettings{Fencing: &v1.Fencing{Mode: mode}},
	}}
	if kind == v1.CloudEphemeral {
		group.Spec.CloudInstances = &v1.CloudInstances{}
	}
	b.create(t, group)
	for _, name := range []string{"a", "b", "c"} {
		b.create(t, fenced(prefix+name, map[string]string{
			api.LabelGroup: prefix, api.LabelType: string(kind), api.LabelFencingMode: string(mode),
		}))
		at := metav1.NewMicroTime(now.Now())
		b.create(t, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: prefix + name, Namespace: corev1.NamespaceNodeLease},
			Spec:       coordinationv1.LeaseSpec{RenewTime: &at},
		})
	}
	b.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: prefix + "work", Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: prefix + "a", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	b.create(t, b.pod)
	return b
}

func (b *bench) create(t *testing.T, object client.Object) {
	t.Helper()
	err := b.Client.Create(t.Context(), object)
	if apierrors.IsNotFound(err) { // the namespace of Leases is made by the API server, in its own time
		apitest.Eventually(t, "namespace "+object.GetNamespace()+" is there", func(ctx context.Context) bool {
			return b.Client.Create(ctx, object) == nil
		})
		return
	}
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets time go by while the kubelets of some nodes renew, and reconciles the first node.
func (b *bench) pass(t *testing.T, by time.Duration, renewing ...string) {
	t.Helper()
	for range by / step {
		for _, name := range renewing {
			at := metav1.NewMicroTime(b.clock.Now())
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: b.prefix + name, Namespace: corev1.NamespaceNodeLease}}
			old := client.MergeFrom(lease.DeepCopy())
			lease.Spec.RenewTime = &at
			if err := b.Client.Patch(t.Context(), lease, old); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.Advance(step)
	}
}

func (b *bench) reconcile(ctx context.Context) (ctrl.Result, error) {
	return b.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Name: b.prefix + "a"}})
}

func (b *bench) there(t *testing.T) (pod, node bool) {
	t.Helper()
	found := func(object client.Object, key client.ObjectKey) bool {
		err := b.Client.Get(t.Context(), key, object)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return err == nil
	}
	return found(new(corev1.Pod), client.ObjectKeyFromObject(b.pod)), found(new(corev1.Node), client.ObjectKey{Name: b.prefix + "a"})
}

// step is the pause between two looks in these tests: still no gap, and half the work.
const step = 2 * lookEvery

// lost is longer than any node of these tests may be silent, with the looks around it.
const lost = 200 * time.Second

func TestLostNodesAreReleased(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix string
		kind   v1.NodeType
		mode   v1.FencingMode
		keeps  bool
	}{
		{"perm-", v1.CloudPermanent, v1.FencingWatchdog, false},
		{"ephe-", v1.CloudEphemeral, v1.FencingWatchdog, false},
		{"stat-", v1.Static, v1.FencingWatchdog, true},
		{"clst-", v1.CloudStatic, v1.FencingWatchdog, true},
		{"noti-", v1.CloudPermanent, v1.FencingNotify, true},
	} {
		t.Run(test.prefix, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, test.prefix+"x", test.kind, test.mode)
			b.pass(t, time.Minute, "a", "b", "c")
			b.pass(t, agent.ReleaseAfter(time.Minute)-lookEvery, "b", "c")
			if pod, node := b.there(t); !pod || !node {
				t.Fatalf("pod there %t, node there %t before the watchdog had its time", pod, node)
			}
			b.pass(t, time.Minute, "b", "c")
			if pod, node := b.there(t); pod || node != test.keeps {
				t.Errorf("pod there %t, node there %t, want no pod and node %t", pod, node, test.keeps)
			}
		})
	}
}

func TestNodesThatAreHeld(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix   string
		renewing []string
		prepare  func(*testing.T, *bench)
	}{
		{"alive", []string{"a", "b", "c"}, nil},
		{"nobody", nil, nil},
		{"most", []string{"c"}, nil},
		{"maint", []string{"b", "c"}, func(t *testing.T, b *bench) {
			node := fenced(b.prefix+"a", nil)
			old := client.MergeFrom(node.DeepCopy())
			node.Annotations = map[string]string{api.AnnotationFencingDisable: ""}
			if err := b.Client.Patch(t.Context(), node, old); err != nil {
				t.Fatal(err)
			}
		}},
		{"nolabel", []string{"b", "c"}, func(t *testing.T, b *bench) {
			node := fenced(b.prefix+"a", nil)
			old := client.MergeFrom(node.DeepCopy())
			delete(node.Labels, api.LabelFencingEnabled)
			if err := b.Client.Patch(t.Context(), node, old); err != nil {
				t.Fatal(err)
			}
		}},
		{"nolease", []string{"b", "c"}, func(t *testing.T, b *bench) {
			if err := b.Client.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: b.prefix + "a", Namespace: corev1.NamespaceNodeLease}}); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.prefix, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "held-"+test.prefix, v1.CloudPermanent, v1.FencingWatchdog)
			b.only(b.prefix)
			b.pass(t, time.Minute, "a", "b", "c")
			if test.prepare != nil {
				test.prepare(t, b)
			}
			b.pass(t, lost, test.renewing...)
			if pod, node := b.there(t); !pod || !node {
				t.Errorf("pod there %t, node there %t, want both", pod, node)
			}
		})
	}
}

// only hides the Leases of the tests that run beside this one, which renew at will.
func (b *bench) only(prefix string) { b.Direct = filtered{b.Client, prefix, nil} }

// filtered is the API server without what others do, and with an outage when the test wants it.
type filtered struct {
	client.Reader
	prefix string
	away   func(client.ObjectList) error
}

func (f filtered) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if f.away != nil {
		if err := f.away(list); err != nil {
			return err
		}
	}
	if err := f.Reader.List(ctx, list, options...); err != nil {
		return err
	}
	if leases, is := list.(*coordinationv1.LeaseList); is {
		var own []coordinationv1.Lease
		for _, lease := range leases.Items {
			if len(lease.Name) > len(f.prefix) && lease.Name[:len(f.prefix)] == f.prefix {
				own = append(own, lease)
			}
		}
		leases.Items = own
	}
	return nil
}

// After an outage of the API server all Leases are old, and nobody is to be fenced for that.
func TestOutageFencesNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t, "outage", v1.CloudPermanent, v1.FencingWatchdog)
	b.pass(t, time.Minute, "a", "b", "c")
	b.Direct = filtered{b.Client, b.prefix, func(client.ObjectList) error { return errors.New("connection refused") }}
	for range 60 {
		b.clock.Advance(lookEvery)
		if _, err := b.reconcile(t.Context()); err == nil {
			t.Fatal("got no error while the API server is away")
		}
	}
	b.only(b.prefix)
	b.pass(t, 20*time.Second, "b", "c") // the others are quicker to renew
	b.pass(t, time.Minute, "a", "b", "c")
	if pod, node := b.there(t); !pod || !node {
		t.Errorf("pod there %t, node there %t, want both", pod, node)
	}
}

func TestNodeStaysWhileItsPodsCannotBeListed(t *testing.T) {
	t.Parallel()
	b := newBench(t, "nolist", v1.CloudPermanent, v1.FencingWatchdog)
	b.pass(t, time.Minute, "a", "b", "c")
	b.Direct = filtered{b.Client, b.prefix, func(list client.ObjectList) error {
		if _, pods := list.(*corev1.PodList); pods {
			return errors.New("no pods today")
		}
		return nil
	}}
	failed := false
	for range lost / step {
		if _, err := b.reconcile(t.Context()); err != nil {
			failed = true
			break
		}
		for _, name := range []string{"b", "c"} {
			at := metav1.NewMicroTime(b.clock.Now())
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: b.prefix + name, Namespace: corev1.NamespaceNodeLease}}
			old := client.MergeFrom(lease.DeepCopy())
			lease.Spec.RenewTime = &at
			if err := b.Client.Patch(t.Context(), lease, old); err != nil {
				t.Fatal(err)
			}
		}
		b.clock.Advance(step)
	}
	if _, node := b.there(t); !failed || !node {
		t.Fatalf("failed %t, node there %t, want a failure and the node", failed, node)
	}
	b.only(b.prefix)
	if _, err := b.reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pod, node := b.there(t); pod || node {
		t.Errorf("pod there %t, node there %t, want both gone by the next try", pod, node)
	}
}
