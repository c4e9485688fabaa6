package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/api/crds"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha2"
)

const clusterConfiguration = `
clusterType: Cloud
cloud: {provider: Lab, prefix: demo}
podSubnetNodeCIDRPrefix: "24"
`

// heard collects the warnings that the API server sends along.
type heard struct {
	mu  sync.Mutex // protects all
	all []string
}

func (h *heard) HandleWarningHeader(_ int, _, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, text)
}

func (h *heard) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := strings.Join(h.all, "\n")
	h.all = nil
	return text
}

// serve runs the webhooks and makes the API server call them.
func serve(t *testing.T) (client.Client, *heard) {
	t.Helper()
	settings, c := apitest.Start(t)
	bundle, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(bundle, key)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
	}}})
	manager, err := ctrl.NewManager(settings, ctrl.Options{Scheme: apitest.Scheme(t), WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Setup(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	apitest.Eventually(t, "the webhooks serve", func(context.Context) bool { return server.StartedChecker()(nil) == nil })
	install(t, c, bundle, fmt.Sprintf("https://127.0.0.1:%d", port))
	h := new(heard)
	loud := rest.CopyConfig(settings)
	loud.WarningHandler = h
	told, err := client.New(loud, client.Options{Scheme: apitest.Scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return told, h
}

func install(t *testing.T, c client.Client, bundle []byte, url string) {
	t.Helper()
	judge, convert := url+"/validate-deckhouse-io-v1-nodegroup", url+"/convert"
	fail, none := admissionv1.Fail, admissionv1.SideEffectClassNone
	err := c.Create(t.Context(), &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "nodegroups"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "nodegroups.deckhouse.io", ClientConfig: admissionv1.WebhookClientConfig{URL: &judge, CABundle: bundle},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"deckhouse.io"}, APIVersions: []string{"v1"}, Resources: []string{"nodegroups"}},
			}},
			FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	crd := new(apiextensionsv1.CustomResourceDefinition)
	if err := c.Get(t.Context(), client.ObjectKey{Name: "nodegroups.deckhouse.io"}, crd); err != nil {
		t.Fatal(err)
	}
	crds.WithConversion(crd, apiextensionsv1.WebhookClientConfig{URL: &convert, CABundle: bundle})
	if err := c.Update(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
}

func group(name string, change func(*v1.NodeGroupSpec)) *v1.NodeGroup {
	g := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}
	if change != nil {
		change(&g.Spec)
	}
	return g
}

func tainted(key string) func(*v1.NodeGroupSpec) {
	return func(s *v1.NodeGroupSpec) {
		s.NodeTemplate = &v1.NodeTemplate{Taints: []v1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}}
	}
}

func denied(t *testing.T, err error, because string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), because) {
		t.Errorf("got %v, want it denied because of %q", err, because)
	}
}

// One story: the webhooks belong to the whole API server.
func TestWebhooksOfARealAPIServer(t *testing.T) {
	c, h := serve(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	apitest.Eventually(t, "the judge is asked", func(ctx context.Context) bool {
		err := c.Create(ctx, group("early", nil), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "configuration of the cluster")
	})
	must(c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: clusterSecret, Namespace: systemNamespace}, Data: map[string][]byte{clusterKey: []byte(clusterConfiguration)},
	}))
	must(c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: providerSecret, Namespace: systemNamespace},
		Data:       map[string][]byte{providerKey: []byte("nodeGroups: [{name: front}]"), providerZonesKey: []byte(`{"zones":["a","b"]}`)},
	}))

	// 63 - 4 for "demo" - 1 - 21 = 37
	must(c.Create(t.Context(), group(strings.Repeat("n", 37), nil)))
	denied(t, c.Create(t.Context(), group(strings.Repeat("n", 38), nil)), "may not be more than 37")

	must(c.Create(t.Context(), group("standard", tainted("dedicated"))))
	denied(t, c.Create(t.Context(), group("custom", tainted("example.org/gpu"))), "customTolerationKeys")
	allowTaint(t, c, "example.org/gpu")
	must(c.Create(t.Context(), group("custom", tainted("example.org/gpu"))))

	zoned := func(zone string) func(*v1.NodeGroupSpec) {
		return func(s *v1.NodeGroupSpec) {
			s.NodeType, s.CloudInstances = v1.CloudEphemeral, &v1.CloudInstances{Zones: []string{zone}}
		}
	}
	must(c.Create(t.Context(), group("zone-a", zoned("a"))))
	denied(t, c.Create(t.Context(), group("zone-x", zoned("x"))), "Unsupported value")

	must(c.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "old-kernel", Labels: map[string]string{api.LabelGroup: "modern", api.LabelContainerdV2No: ""},
	}}))
	second := func(s *v1.NodeGroupSpec) { s.CRI = &v1.CRI{Type: "ContainerdV2"} }
	denied(t, c.Create(t.Context(), group("modern", second)), "old-kernel does not support it")
	must(c.Create(t.Context(), group("modern-too", second)))

	h.take()
	many := int32(200)
	must(c.Create(t.Context(), group("crowded", func(s *v1.NodeGroupSpec) { s.Kubelet = &v1.Kubelet{MaxPods: &many} })))
	if got := h.take(); !strings.Contains(got, "maxPods 200") {
		t.Errorf("heard %q, want a warning about maxPods", got)
	}

	for name, want := range map[string]v1.NodeType{"front": v1.CloudPermanent, "back": v1.CloudStatic} {
		hybrid := &v1alpha2.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.NodeGroupSpec{NodeType: v1alpha2.Hybrid}}
		apitest.Eventually(t, name+" is converted", func(ctx context.Context) bool { return c.Create(ctx, hybrid) == nil })
		stored := new(v1.NodeGroup)
		must(c.Get(t.Context(), client.ObjectKey{Name: name}, stored))
		if stored.Spec.NodeType != want {
			t.Errorf("%s is stored as %s, want %s", name, stored.Spec.NodeType, want)
		}
		must(c.Get(t.Context(), client.ObjectKey{Name: name}, hybrid))
		if hybrid.Spec.NodeType != v1alpha2.Hybrid {
			t.Errorf("%s reads as %s, want Hybrid", name, hybrid.Spec.NodeType)
		}
	}
}

// allowTaint installs a kind ModuleConfig that takes anything, and the global settings.
func allowTaint(t *testing.T, c client.Client, key string) {
	t.Helper()
	yes := true
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "moduleconfigs.deckhouse.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "deckhouse.io", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "moduleconfigs", Singular: "moduleconfig", Kind: "ModuleConfig", ListKind: "ModuleConfigList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1alpha1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}},
			}},
		},
	}
	if err := c.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	settings := map[string]any{"modules": map[string]any{"placement": map[string]any{"customTolerationKeys": []any{key}}}}
	global := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "deckhouse.io/v1alpha1", "kind": "ModuleConfig", "metadata": map[string]any{"name": "global"},
		"spec": map[string]any{"settings": settings},
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	apitest.Eventually(t, "settings are kept", func(context.Context) bool { return c.Create(ctx, global.DeepCopy()) == nil })
}
