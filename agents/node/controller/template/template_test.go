package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
)

func TestMergeTaints(t *testing.T) {
	t.Parallel()
	foreign := corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}
	ours := v1.Taint{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}
	live := corev1.Taint{Key: "dedicated", Value: "a", Effect: corev1.TaintEffectNoSchedule}
	changed := ours
	changed.Value = "b"
	for _, test := range []struct {
		name         string
		live         []corev1.Taint
		wanted, last []v1.Taint
		want         []corev1.Taint
	}{
		{"added", []corev1.Taint{foreign}, []v1.Taint{ours}, nil, []corev1.Taint{foreign, live}},
		{"there already", []corev1.Taint{live, foreign}, []v1.Taint{ours}, []v1.Taint{ours}, []corev1.Taint{live, foreign}},
		{"changed", []corev1.Taint{live}, []v1.Taint{changed}, []v1.Taint{ours}, []corev1.Taint{{Key: "dedicated", Value: "b", Effect: corev1.TaintEffectNoSchedule}}},
		{"removed", []corev1.Taint{live, foreign}, nil, []v1.Taint{ours}, []corev1.Taint{foreign}},
		{"set by somebody else", []corev1.Taint{live}, nil, nil, []corev1.Taint{live}},
	} {
		if diff := cmp.Diff(test.want, mergeTaints(test.live, test.wanted, test.last)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestMastersHaveTheirRoles(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: roleMaster, Effect: corev1.TaintEffectNoSchedule}}}}
	if err := Apply(node, &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "master"}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}); err != nil {
		t.Fatal(err)
	}
	_, role := node.Labels[roleControlPlane]
	if !role || len(node.Spec.Taints) != 0 {
		t.Errorf("role %t, taints %v, want the role and no old taint", role, node.Spec.Taints)
	}
	node.Annotations[api.AnnotationLastTemplate] = "{"
	if err := Apply(node, &v1.NodeGroup{}); err == nil {
		t.Error("an unreadable last template was overwritten")
	}
}

func TestTemplateOfRealNodes(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	group := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "tmpl"}, Spec: v1.NodeGroupSpec{
		NodeType: v1.CloudPermanent, NodeGroupSettings: v1.NodeGroupSettings{NodeTemplate: &v1.NodeTemplate{
			Labels: map[string]string{"zone": "a"}, Annotations: map[string]string{"note": "b"},
			Taints: []v1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}},
		}},
	}}
	must(c.Create(t.Context(), group))
	must(c.Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "tmpl-a", Labels: map[string]string{api.LabelGroup: "tmpl", "mine": "kept", api.LabelFirstRunFinished: "true"}},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: api.TaintUninitialized, Effect: corev1.TaintEffectNoSchedule}}},
	}))
	r := &Reconciler{c}
	step := func() *corev1.Node {
		t.Helper()
		key := client.ObjectKey{Name: "tmpl-a"}
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		must(err)
		node := new(corev1.Node)
		must(c.Get(t.Context(), key, node))
		return node
	}
	node := step()
	if node.Labels["zone"] != "a" || node.Annotations["note"] != "b" || node.Annotations[api.AnnotationScaleDownDisabled] != "true" {
		t.Errorf("labels %v, annotations %v, want those of the template", node.Labels, node.Annotations)
	}
	keys := map[string]bool{}
	for _, taint := range node.Spec.Taints {
		keys[taint.Key] = true
	}
	_, first := node.Labels[api.LabelFirstRunFinished]
	if !keys["dedicated"] || keys[api.TaintUninitialized] || first {
		t.Errorf("taints %v, label of the first run %t, want both of the first run gone", node.Spec.Taints, first)
	}
	if again := step(); again.ResourceVersion != node.ResourceVersion {
		t.Error("a node that did not change was written again")
	}
	group.Spec.NodeTemplate = nil
	must(c.Update(t.Context(), group))
	node = step()
	_, zone := node.Labels["zone"]
	_, note := node.Annotations["note"]
	if zone || note || node.Labels["mine"] != "kept" {
		t.Errorf("labels %v, annotations %v, want only the template's gone", node.Labels, node.Annotations)
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == "dedicated" {
			t.Error("the template's taint is still there")
		}
	}
}
