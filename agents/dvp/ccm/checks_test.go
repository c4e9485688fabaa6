package ccm

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cloudprovider "k8s.io/cloud-provider"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// checksKind is the definition of load balancers with checks, of which a DVP may or may not have one.
func checksKind() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "servicewithhealthchecks.network.deckhouse.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "network.deckhouse.io", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "servicewithhealthchecks", Kind: "ServiceWithHealthchecks", ListKind: "ServiceWithHealthchecksList", Singular: "servicewithhealthcheck"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", XPreserveUnknownFields: new(true)}},
				}},
			}},
		},
	}
}

func testChecks(t *testing.T, c *cluster) {
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kinds, err := client.New(c.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	definition := checksKind()
	if err := kinds.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	served := func(want bool) {
		t.Helper()
		c.Eventually("the kind is served or not", func(ctx context.Context) bool {
			got, err := c.provider.Cloud.ServesHealthchecks(ctx)
			return err == nil && got == want
		})
	}
	served(true)
	c.clock.Advance(checksBound) // until which the answer of before holds

	s := c.service("checked", func(s *corev1.Service) {
		s.Annotations = map[string]string{"a": "b"}
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "udp", Protocol: corev1.ProtocolUDP, Port: 80})
	})
	object := new(unstructured.Unstructured)
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "network.deckhouse.io", Version: "v1alpha1", Kind: "ServiceWithHealthchecks"})
	name := client.ObjectKey{Namespace: c.Namespace, Name: cloudprovider.DefaultLoadBalancerName(s)}
	c.Eventually("a load balancer with checks", func(ctx context.Context) bool { return c.Get(ctx, name, object) == nil })
	s = c.awaitService("checked", "node ports", func(s *corev1.Service) bool { return s.Spec.Ports[0].NodePort != 0 })
	probes, _, err := unstructured.NestedSlice(object.Object, "spec", "healthcheck", "probes")
	port := int64(s.Spec.Ports[0].NodePort)
	if err != nil || len(probes) != 1 || probes[0].(map[string]any)["tcp"].(map[string]any)["targetPort"] != port || object.GetAnnotations()["a"] != "b" {
		t.Errorf("got probes %v, %v, annotations %v, want one of port %d", probes, err, object.GetAnnotations(), port)
	}
	if selector, _, err := unstructured.NestedStringMap(object.Object, "spec", "selector"); err != nil || selector["dvp.deckhouse.io/"+name.Name] != "loadbalancer" {
		t.Errorf("got selector %v, %v", selector, err)
	}
	// DVP makes the Service of it, as its controller of that kind does.
	child := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name.Name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "network.deckhouse.io/v1alpha1", Kind: "ServiceWithHealthchecks", Name: name.Name, UID: object.GetUID()}}},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	c.Make(child)
	c.awaitService("checked", "an address", addressed)

	generation := object.GetGeneration()
	c.patch("checked", `{"spec":{"ports":[{"name":"other","protocol":"TCP","port":8080}]}}`)
	c.Eventually("the change in DVP", func(ctx context.Context) bool {
		return c.Get(ctx, name, object) == nil && object.GetGeneration() > generation
	})
	if err := c.client.CoreV1().Services("default").Delete(t.Context(), "checked", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the load balancer is gone", func(ctx context.Context) bool { return apierrors.IsNotFound(c.Get(ctx, name, object)) })
	c.awaitSelected("dvp.deckhouse.io/" + name.Name)
	if err := client.IgnoreNotFound(c.Delete(t.Context(), child)); err != nil { // which goes with its owner
		t.Fatal(err)
	}

	if err := kinds.Delete(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	served(false)
	// The provider believes in the kind for minutes, and finds that it is gone.
	if known, err := c.provider.servesChecks(t.Context(), false); err != nil || !known {
		t.Fatalf("got %v, %v, want what was known", known, err)
	}
	plain := c.service("plain", nil)
	c.awaitService("plain", "an address", addressed)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(c.parent(plain)), c.parent(plain)); err != nil {
		t.Errorf("got %v, want a Service", err)
	}
	if err := c.client.CoreV1().Services("default").Delete(t.Context(), "plain", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.AwaitGone(c.parent(plain))
}

// A ConfigMap gives the load balancers to somebody else.
func TestLoadBalancersAreDisabled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got, err := Enabled(ctx, c.client, Controllers); err != nil || len(got) != 3 {
		t.Fatalf("got %v, %v, want all", got, err)
	}
	if _, err := c.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "d8-cloud-provider-dvp"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.client.CoreV1().ConfigMaps("d8-cloud-provider-dvp").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "dvp-cloud-controller-manager-disable-lb"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, err := Enabled(ctx, c.client, Controllers); err != nil || len(got) != 2 || got[0] != CloudNode || got[1] != CloudNodeLifecycle {
		t.Errorf("got %v, %v, want all but load balancers", got, err)
	}
}
