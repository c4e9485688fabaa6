package bashiblelock

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/bashible/input"
)

// A rollout on a real API server; the test plays the controller of Deployments.
func TestLockedDuringARollout(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}})))
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: input.Secret}, Data: map[string][]byte{"kept": []byte("x")}}
	must(c.Create(t.Context(), secret))
	r := &Reconciler{Client: c, Locked: NewGauge()}
	expect := func(when string, want float64) {
		t.Helper()
		_, err := r.Reconcile(t.Context(), ctrl.Request{})
		must(err)
		must(c.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
		if got := secret.Annotations[input.AnnotationLocked] == "true"; got != (want == 1) {
			t.Errorf("%s: locked %t, want %v", when, got, want)
		}
		if got := testutil.ToFloat64(r.Locked); got != want {
			t.Errorf("%s: metric %v, want %v", when, got, want)
		}
		if string(secret.Data["kept"]) != "x" {
			t.Errorf("%s: the content is lost", when)
		}
	}
	expect("without a deployment", 0)
	replicas, labels := int32(2), map[string]string{"app": Deployment}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: api.Namespace, Name: Deployment},
		Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "old"}}},
		}},
	}
	status := func(replicas, updated int32) {
		t.Helper()
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: replicas, UpdatedReplicas: updated}
		must(c.Status().Update(t.Context(), d))
	}
	must(c.Create(t.Context(), d))
	expect("not looked at yet", 1)
	status(2, 2)
	expect("as wanted", 0)
	d.Spec.Template.Spec.Containers[0].Image = "new"
	must(c.Update(t.Context(), d))
	expect("changed", 1)
	status(3, 1)
	expect("one new pod beside two old", 1)
	status(3, 2)
	expect("an old pod is left", 1)
	status(2, 2)
	expect("rolled out", 0)
	must(c.Delete(t.Context(), d))
	expect("removed", 0)
}
