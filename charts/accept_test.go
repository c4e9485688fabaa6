package charts

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/internal/kubetest"
)

// Every object is one that a real API server takes, down to the last field.
func TestAPIServerTakesAll(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	c, err := client.New(server.Config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{namespace, "d8-system"} {
		if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	strict := client.WithFieldValidation(c, metav1.FieldValidationStrict)
	for name, values := range map[string]map[string]any{
		"plain": nil, "two replicas": {"highAvailability": true, "pullSecrets": []any{"pull"}},
	} {
		objects, err := render(t, nodeManager, namespace, needed(values))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if err := strict.Create(t.Context(), o, client.DryRunAll); err != nil {
				t.Errorf("%s: %s: %v", name, nameOf(o), err)
			}
		}
	}
	// A field that is none would have been told.
	objects, err := render(t, nodeManager, namespace, needed(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if o.GetKind() == "DaemonSet" {
			o.Object["spec"].(map[string]any)["replicas"] = int64(1)
			if err := strict.Create(t.Context(), o, client.DryRunAll); err == nil {
				t.Errorf("%s is taken with a field that it does not have", nameOf(o))
			}
		}
	}
}
