// Package apitest gives tests of controllers an API server that knows the kinds of nodes.
package apitest

import (
	"context"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api/crds"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/api/v1alpha2"
	"commander/internal/kubetest"
)

// bound is how long an awaited thing may take before the test gives up.
const bound = 30 * time.Second

// installing keeps tests that share a control plane from installing at once.
var installing sync.Mutex

// Scheme knows the built-in kinds and ours.
func Scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme, v1alpha2.AddToScheme,
	} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Start gives the test a control plane with our kinds installed and a client that asks it directly.
func Start(t testing.TB) (*rest.Config, client.Client) {
	t.Helper()
	server := kubetest.Start(t)
	c, err := client.New(server.Config, client.Options{Scheme: Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	all, err := crds.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	installing.Lock()
	defer installing.Unlock()
	for _, crd := range all {
		if err := c.Create(t.Context(), crd); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("install %s: %v", crd.Name, err)
		}
	}
	for _, crd := range all {
		Eventually(t, "definition "+crd.Name+" is served", func(ctx context.Context) bool {
			if err := c.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
				return false
			}
			for _, condition := range crd.Status.Conditions {
				if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
					return true
				}
			}
			return false
		})
	}
	return server.Config, c
}

// Eventually waits until a thing is so and ends the test if it never is.
func Eventually(t testing.TB, what string, so func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, bound, true,
		func(ctx context.Context) (bool, error) { return so(ctx), nil })
	if err != nil {
		t.Fatalf("never so: %s", what)
	}
}
