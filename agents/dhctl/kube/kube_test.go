package kube

import (
	"errors"
	"io"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
)

func TestAdoptedClusterSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	c := &Cluster{typed: fake.NewClientset()}
	owner, err := c.Owner(t.Context())
	if err != nil || owner != "" {
		t.Errorf("owner of a fresh cluster: got %q, %v; want none", owner, err)
	}
	for range 2 { // again, as after an interruption
		if err := c.Adopt(t.Context(), "id", "cluster", "provider"); err != nil {
			t.Fatal(err)
		}
	}
	owner, err = c.Owner(t.Context())
	if err != nil || owner != "id" {
		t.Errorf("owner: got %q, %v; want id", owner, err)
	}
	cluster, provider, err := c.Configuration(t.Context())
	if err != nil || cluster != "cluster" || provider != "provider" {
		t.Errorf("documents: got %q and %q, %v; want cluster and provider", cluster, provider, err)
	}
}

func TestReleaseDeletesOnlyWhatHoldsSomethingOutside(t *testing.T) {
	t.Parallel()
	object := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "shop"} }
	c := &Cluster{typed: fake.NewClientset(
		&corev1.Service{ObjectMeta: object("outside"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}},
		&corev1.Service{ObjectMeta: object("inside"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP}},
		&corev1.PersistentVolumeClaim{ObjectMeta: object("data")},
	)}
	var said []string
	if err := c.Release(t.Context(), func(line string) { said = append(said, line) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"Deleted service shop/outside", "Deleted volume claim shop/data"}; !slices.Equal(said, want) {
		t.Errorf("said: got %v, want %v", said, want)
	}
	left, err := c.typed.CoreV1().Services("shop").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) != 1 || left.Items[0].Name != "inside" {
		t.Errorf("services left: got %v, %v; want inside", left, err)
	}
}

func TestMayPass(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "pods"}
	cases := []struct {
		name string
		err  error
		want bool
	}{
		{"kind not known yet", &meta.NoKindMatchError{}, true},
		{"namespace not there yet", apierrors.NewNotFound(resource, "x"), true},
		{"server away", io.ErrUnexpectedEOF, true},
		{"server starting", apierrors.NewServiceUnavailable("starting"), true},
		{"webhook away", apierrors.NewInternalError(errors.New("no endpoints")), true},
		{"object is wrong", apierrors.NewBadRequest("bad field"), false},
		{"object is not allowed", apierrors.NewForbidden(resource, "x", nil), false},
		{"object breaks a rule", apierrors.NewInvalid(schema.GroupKind{}, "x", nil), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := mayPass(c.err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
