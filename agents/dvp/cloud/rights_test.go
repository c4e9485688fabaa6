package cloud

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// All tests of the provider use an account with the rights of docs/dvp.md. Here it is shown that it
// has no others.
func TestRightsEndAtTheProject(t *testing.T) {
	t.Parallel()
	d, c := project(t)
	if err := c.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(d.Access)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(d.Namespace).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("pods: got %v, want a refusal", err)
	}
	if _, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("nodes: got %v, want a refusal", err)
	}
	other := *c
	other.namespace = "default"
	if err := other.Ping(t.Context()); !Is(err, Forbidden) {
		t.Errorf("another project: got %v, want a refusal", err)
	}
}
