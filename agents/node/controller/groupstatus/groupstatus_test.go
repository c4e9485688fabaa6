package groupstatus

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// node is ready, an hour old and up to date; changes follow.
func node(changes ...func(*corev1.Node)) corev1.Node {
	n := corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)), Annotations: map[string]string{api.AnnotationChecksum: "sum"},
		},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	for _, change := range changes {
		change(&n)
	}
	return n
}

func notReady(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }
func young(n *corev1.Node)    { n.CreationTimestamp = metav1.NewTime(now.Add(-4 * time.Minute)) }
func cordoned(n *corev1.Node) { n.Spec.Unschedulable = true }
func with(key string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Annotations[key] = "" }
}

func TestConditions(t *testing.T) {
	t.Parallel()
	static := v1.NodeGroupSpec{NodeType: v1.Static}
	two := v1.NodeGroupSpec{NodeType: v1.Static, NodeGroupSettings: v1.NodeGroupSettings{StaticInstances: &v1.StaticInstances{Count: 2}}}
	permanent := v1.NodeGroupSpec{NodeType: v1.CloudPermanent}
	for _, test := range []struct {
		name  string
		spec  v1.NodeGroupSpec
		nodes []corev1.Node
		want  map[string]metav1.ConditionStatus
	}{
		{"all is well", static, []corev1.Node{node(), node()}, map[string]metav1.ConditionStatus{"Ready": "True", "Updating": "False", "WaitingForDisruptiveApproval": "False", "Error": "False"}},
		{"one is not ready", static, []corev1.Node{node(), node(notReady)}, map[string]metav1.ConditionStatus{"Ready": "False"}},
		{"one is not ready yet", static, []corev1.Node{node(), node(notReady, young)}, map[string]metav1.ConditionStatus{"Ready": "True"}},
		{"one is cordoned", static, []corev1.Node{node(), node(cordoned)}, map[string]metav1.ConditionStatus{"Ready": "False"}},
		{"fewer than asked for", two, []corev1.Node{node()}, map[string]metav1.ConditionStatus{"Ready": "False"}},
		{"permanent nodes have no least number", permanent, []corev1.Node{node(notReady)}, map[string]metav1.ConditionStatus{"Ready": "True"}},
		{"waits for approval", permanent, []corev1.Node{node(with(api.UpdateWaiting))}, map[string]metav1.ConditionStatus{"Updating": "True", "WaitingForDisruptiveApproval": "False"}},
		{"waits for disruption", permanent, []corev1.Node{node(with(api.UpdateDisruptionRequired))}, map[string]metav1.ConditionStatus{"Updating": "True", "WaitingForDisruptiveApproval": "True"}},
		{
			"disruption approved", permanent,
			[]corev1.Node{node(with(api.UpdateDisruptionRequired), with(api.UpdateDisruptionApproved))},
			map[string]metav1.ConditionStatus{"Updating": "True", "WaitingForDisruptiveApproval": "False"},
		},
	} {
		status, _ := Calculate(&v1.NodeGroup{Spec: test.spec}, test.nodes, "sum", now)
		got := map[string]metav1.ConditionStatus{}
		for _, c := range status.Conditions {
			got[c.Type] = c.Status
		}
		for kind, want := range test.want {
			if got[kind] != want {
				t.Errorf("%s: %s is %s, want %s", test.name, kind, got[kind], want)
			}
		}
		if _, scaling := got["Scaling"]; scaling {
			t.Errorf("%s: there is a condition Scaling", test.name)
		}
	}
}

func TestYoungNodeIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	if _, again := Calculate(&v1.NodeGroup{}, []corev1.Node{node(notReady, young)}, "", now); again != time.Minute {
		t.Errorf("again in %s, want a minute", again)
	}
}

func TestTransitionTime(t *testing.T) {
	t.Parallel()
	group := &v1.NodeGroup{Spec: v1.NodeGroupSpec{NodeType: v1.Static}}
	group.Status, _ = Calculate(group, []corev1.Node{node()}, "", now)
	later, _ := Calculate(group, []corev1.Node{node(notReady)}, "", now.Add(time.Hour))
	for _, c := range later.Conditions {
		if want := c.Type == v1.ConditionReady; c.LastTransitionTime.Time.Equal(now) == want {
			t.Errorf("%s changed at %s", c.Type, c.LastTransitionTime)
		}
	}
}

func TestStatusOfRealNodes(t *testing.T) {
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
		ObjectMeta: metav1.ObjectMeta{Name: api.ChecksumsSecret, Namespace: api.Namespace}, Data: map[string][]byte{"status": []byte("new")},
	}))
	must(c.Create(t.Context(), &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "status"}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}))
	for name, checksum := range map[string]string{"status-a": "new", "status-b": "old", "status-c": "new"} {
		n := node(func(n *corev1.Node) { n.CreationTimestamp = metav1.Time{} })
		n.Name, n.Labels = name, map[string]string{api.LabelGroup: "status"}
		n.Annotations[api.AnnotationChecksum] = checksum
		if name == "status-c" {
			n.Labels[api.LabelGroup] = "another"
		}
		if name == "status-b" {
			notReady(&n)
		}
		must(c.Create(t.Context(), &n))
	}
	r := &Reconciler{Client: c, Clock: clock.System{}}
	reconcile := func() *v1.NodeGroup {
		t.Helper()
		key := client.ObjectKey{Name: "status"}
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		group := new(v1.NodeGroup)
		must(c.Get(t.Context(), key, group))
		return group
	}
	first := reconcile()
	if s := first.Status; s.Nodes != 2 || s.Ready != 1 || s.UpToDate != 1 {
		t.Errorf("got %d nodes, %d ready, %d up to date, want 2, 1, 1", s.Nodes, s.Ready, s.UpToDate)
	}
	if second := reconcile(); second.ResourceVersion != first.ResourceVersion {
		t.Error("a status that did not change was written again")
	}
}
