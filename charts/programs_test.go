package charts

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/api/v1alpha2"
	controllerfencing "commander/agents/node/controller/fencing"
	"commander/agents/node/earlyoom"
	"commander/agents/node/fencing"
	"commander/internal/clock"
	"commander/internal/guard"
)

func secret(namespace, name string, data map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
}

// describe makes what a cluster says about itself.
func (c *cluster) describe() {
	c.t.Helper()
	port := int32(6443)
	c.create(secret("kube-system", "d8-cluster-configuration", map[string]string{
		"cluster-configuration.yaml": "clusterType: Cloud\ncloud: {provider: DVP, prefix: x}\npodSubnetNodeCIDRPrefix: \"24\"\nserviceSubnetCIDR: 10.222.0.0/16\nkubernetesVersion: \"1.37\"\nclusterDomain: cluster.local\n",
	}))
	c.create(secret("kube-system", "d8-provider-cluster-configuration", map[string]string{"cloud-provider-cluster-configuration.yaml": "nodeGroups: []\n"}))
	c.create(secret("d8-system", "deckhouse-registry", map[string]string{"address": "registry.local", "path": "/p", "scheme": "https"}))
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-root-ca.crt"}, Data: map[string]string{"ca.crt": c.ca}})
	c.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "d8-cluster-uuid"}, Data: map[string]string{"cluster-uuid": "u"}})
	c.create(&discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Namespace: "default", Name: "kubernetes", Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Port: &port}}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
	})
	open := true
	c.create(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "moduleconfigs.deckhouse.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "deckhouse.io", Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "moduleconfigs", Singular: "moduleconfig", Kind: "ModuleConfig", ListKind: "ModuleConfigList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1alpha1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open},
			}}},
		},
	})
	global := &unstructured.Unstructured{}
	global.SetAPIVersion("deckhouse.io/v1alpha1")
	global.SetKind("ModuleConfig")
	global.SetName("global")
	c.create(global)
}

func node(name, group string, annotations map[string]string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelGroup: group}, Annotations: annotations}}
}

// ready makes a node ready, with an address.
func (c *cluster) ready(n *corev1.Node) {
	c.t.Helper()
	const status = `{"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"127.0.0.1"}]}}`
	if err := c.Status().Patch(c.t.Context(), n, client.RawPatch("application/merge-patch+json", []byte(status))); err != nil {
		c.t.Fatal(err)
	}
}

// node-controller does all that it does with the rights of its account, and bashible-api-server
// with those of its own; neither has one that it does not need.
func TestRightsOfControllerAndServer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.describe()
	certs := pair(t, c.cert, c.key)
	c.start("node-controller", "node-controller", "--disable-controllers=node-fencing", "--fencing-agent-image=registry.local/fencing-agent:1",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", fmt.Sprintf("--webhook-port=%d", c.webhooks), "--webhook-cert-dir="+certs)
	// The webhook judges the first and converts the second.
	group := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "worker"}, Spec: v1.NodeGroupSpec{
		NodeType: v1.CloudPermanent, NodeGroupSettings: v1.NodeGroupSettings{
			Fencing:      &v1.Fencing{Mode: v1.FencingWatchdog},
			NodeTemplate: &v1.NodeTemplate{Labels: map[string]string{"role": "worker"}, Taints: []v1.Taint{{Key: "dedicated", Value: "x", Effect: "NoSchedule"}}},
		},
	}}
	c.create(group)
	old := &v1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "old"}}
	old.Spec.NodeType = "Cloud"
	old.Spec.CloudInstances = &v1.CloudInstances{ClassReference: &v1.ClassReference{Kind: "DVPInstanceClass", Name: "c"}}
	c.create(old)

	c.startServer()
	checksums := new(corev1.Secret)
	c.eventually("the groups are rendered", func(ctx context.Context) bool {
		return c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: api.ChecksumsSecret}, checksums) == nil && len(checksums.Data["worker"]) > 0
	})

	// A node asks, is approved, is drained of its pod, is let, and ends.
	n := node("worker-0", "worker", map[string]string{api.UpdateWaiting: ""})
	c.create(n)
	c.ready(n)
	other := node("worker-1", "worker", nil)
	c.create(other)
	c.ready(other)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work"}, Spec: corev1.PodSpec{NodeName: n.Name, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	c.create(pod)
	has := func(key string) func(context.Context) bool {
		return func(ctx context.Context) bool {
			_, is := n.Annotations[key]
			return c.Get(ctx, client.ObjectKeyFromObject(n), n) == nil && is
		}
	}
	c.eventually("approved", has(api.UpdateApproved))
	c.change(n, `{"metadata":{"annotations":{"`+api.UpdateDisruptionRequired+`":""}}}`)
	c.eventually("let", func(ctx context.Context) bool {
		if c.Get(ctx, client.ObjectKeyFromObject(pod), pod) == nil && pod.DeletionTimestamp != nil {
			_ = c.Delete(ctx, pod, client.GracePeriodSeconds(0)) // as its kubelet would; it may be gone
		}
		return has(api.UpdateDisruptionApproved)(ctx)
	})
	// Fencing of the group changes and goes.
	c.change(group, `{"spec":{"fencing":{"mode":"Notify"}}}`)
	c.eventually("agents changed", func(context.Context) bool {
		return c.witness.used("node-controller", right{namespace, "apps", "daemonsets", "update", "fencing-agent-worker"})
	})
	c.change(group, `{"spec":{"fencing":null}}`)
	// A node is replaced to update it.
	rolling := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "rolling"}, Spec: v1.NodeGroupSpec{
		NodeType: v1.CloudEphemeral, NodeGroupSettings: v1.NodeGroupSettings{CloudInstances: &v1.CloudInstances{ClassReference: &v1.ClassReference{Kind: "DVPInstanceClass", Name: "c"}}, Disruptions: &v1.Disruptions{ApprovalMode: v1.ApproveRollingUpdate}},
	}}
	c.create(rolling)
	c.create(&v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: "rolling-0"}})
	replaced := node("rolling-0", "rolling", map[string]string{api.UpdateApproved: "", api.UpdateRolling: ""})
	c.create(replaced)
	c.ready(replaced)
	c.exercised("node-controller")

	c.askAsMachine(other.Name)
	c.exercised("bashible-apiserver")
}

// pair is a folder with a certificate and its key.
func pair(t *testing.T, cert, key string) string {
	t.Helper()
	dir := filepath.Dir(file(t, "tls.crt", cert))
	if err := os.WriteFile(filepath.Join(dir, "tls.key"), []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startServer runs bashible-api-server behind the API server.
func (c *cluster) startServer() *os.Process {
	c.t.Helper()
	port := free(c.t)
	cert, key, ca := c.server.Serving(c.t, "bashible-api."+namespace+".svc")
	certs := pair(c.t, string(cert), string(key))
	for _, o := range c.objects {
		if o.GetKind() == "APIService" {
			spec := o.Object["spec"].(map[string]any)
			spec["caBundle"] = base64.StdEncoding.EncodeToString(ca)
			spec["service"].(map[string]any)["port"] = int64(port)
			c.create(o)
		}
	}
	// A name in place of pods: the API server of the test cannot reach a network of pods.
	c.create(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bashible-api"},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	})
	const digests = `{"common":{"pause":"sha256:0"},"registrypackages":{"bashible":"sha256:0","kubelet137":"sha256:0","containerd":"sha256:0","runc":"sha256:0","kubernetesCni":"sha256:0"}}`
	return c.start("bashible-api-server", "bashible-apiserver", fmt.Sprintf("--listen=127.0.0.1:%d", port), "--tls-cert-file="+filepath.Join(certs, "tls.crt"),
		"--tls-private-key-file="+filepath.Join(certs, "tls.key"), "--version-map="+file(c.t, "versions", ""), "--images-digests="+file(c.t, "digests", digests))
}

// askAsMachine asks for a configuration as a node, as a machine with a token, and as a node that is
// in no group, which has to be asked for anew.
func (c *cluster) askAsMachine(name string) {
	c.t.Helper()
	c.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-abcdef", Labels: map[string]string{api.LabelTokenGroup: "worker"}},
		Type:       "bootstrap.kubernetes.io/token",
		StringData: map[string]string{
			"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", "auth-extra-groups": "system:bootstrappers:d8-node-manager",
		},
	})
	c.create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stray"}})
	for who, as := range map[string]*rest.Config{
		"node": c.server.As(c.t, "system:node:"+name, "system:nodes"), "token": c.server.WithToken("abcdef.0123456789abcdef"), "stray": c.server.As(c.t, "system:node:stray", "system:nodes"),
	} {
		kube, err := kubernetes.NewForConfig(as)
		if err != nil {
			c.t.Fatal(err)
		}
		var last error
		c.eventually(who+" is answered", func(ctx context.Context) bool {
			_, last = kube.RESTClient().Get().AbsPath("/apis/bashible.deckhouse.io/v1alpha1/bashibles/worker").DoRaw(ctx)
			return (last == nil) == (who != "stray") && (last == nil || apierrors.IsForbidden(last))
		}, &last)
	}
}

// told is how often a node was told of by a reason.
func (c *cluster) told(ctx context.Context, reason string) int {
	events := new(corev1.EventList)
	if err := c.List(ctx, events, client.InNamespace("default")); err != nil {
		return 0
	}
	count := 0
	for _, e := range events.Items {
		if e.Reason == reason {
			count++
		}
	}
	return count
}

// The fencing controller releases a lost node, pods and all, with the rights of its account.
func TestRightsOfFencing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start("fencing-controller", "fencing-controller", "--metrics-bind-address=0", "--health-probe-bind-address=0")
	// Nobody converts here: the group is one that is gone.
	names := []string{"f-0", "f-1", "f-2"}
	for _, name := range names {
		n := node(name, "gone", nil)
		n.Labels[api.LabelFencingEnabled] = ""
		n.Annotations = map[string]string{api.AnnotationFencingTimeout: "4s", api.AnnotationFencingTotal: "3"}
		c.create(n)
		c.ready(n)
		c.create(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}, Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: time.Now()}}})
	}
	c.create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "lost"}, Spec: corev1.PodSpec{NodeName: "f-0", Containers: []corev1.Container{{Name: "c", Image: "i"}}}})

	// The program looks in real time; the same code under a clock of the test need not wait.
	now := clock.At(time.Now())
	as, err := client.New(c.witness.as("fencing-controller", ""), client.Options{Scheme: c.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	r := &controllerfencing.Reconciler{Client: split{as, c}, Direct: as, Clock: now, Log: slog.New(slog.DiscardHandler)}
	for range 40 {
		for _, name := range names[1:] {
			at := metav1.NewMicroTime(now.Now())
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name}}
			before := client.MergeFrom(lease.DeepCopy())
			lease.Spec.RenewTime = &at
			if err := c.Patch(t.Context(), lease, before); err != nil {
				t.Fatal(err)
			}
		}
		if c.told(t.Context(), "NodeFenced") > 0 {
			break
		}
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "f-0"}}); err != nil {
			t.Fatal(err)
		}
		now.Advance(10 * time.Second)
	}
	if c.told(t.Context(), "NodeFenced") == 0 {
		t.Error("the node was never released")
	}
	c.exercised("fencing-controller")
}

// split writes as the account, and reads what the program has in its cache.
type split struct {
	client.Client
	cached client.Reader
}

func (s split) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	return s.cached.Get(ctx, key, o, options...)
}

func (s split) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return s.cached.List(ctx, list, options...)
}

// An agent says of its own node that it is armed, and of no other; nothing else of a node is its to change.
func TestRightsOfFencingAgent(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	own, foreign := node("own", "g", map[string]string{"mine": "1"}), node("foreign", "g", nil)
	c.create(own)
	c.create(foreign)
	c.ready(own)
	c.ready(foreign)
	c.create(&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: "own"}})
	kube, err := kubernetes.NewForConfig(c.witness.as("fencing-agent", "own"))
	if err != nil {
		t.Fatal(err)
	}
	agent := &fencing.Cluster{Client: kube, Node: "own", Group: "g"}
	go agent.Watch(t.Context()) //nolint:errcheck // it ends with the test
	if members, err := agent.Members(t.Context()); err != nil || len(members) != 2 {
		t.Fatalf("members: %v, %v", members, err)
	}
	if _, err := agent.Renewals(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.eventually("the agent sees its node", func(context.Context) bool { _, err := agent.InMaintenance(); return err == nil })
	// The policy takes effect a little after it was made.
	other := &fencing.Cluster{Client: kube, Node: "foreign", Group: "g"}
	c.eventually("an agent may not label another node", func(ctx context.Context) bool { return other.Label(ctx, v1.FencingWatchdog, time.Minute, 2) != nil })
	if err := agent.Label(t.Context(), v1.FencingWatchdog, time.Minute, 2); err != nil {
		t.Error(err)
	}
	c.eventually("an agent may not vouch for another node", func(ctx context.Context) bool { return other.Forswear(ctx, foreign.UID) != nil })
	if err := errors.Join(agent.Forswear(t.Context(), own.UID), agent.Vouch(t.Context())); err != nil {
		t.Error(err)
	}
	for what, patch := range map[string]string{
		"cordon": `{"spec":{"unschedulable":true}}`, "label": `{"metadata":{"labels":{"node-role.kubernetes.io/control-plane":""}}}`,
		"take an annotation": `{"metadata":{"annotations":{"mine":null}}}`, "change an annotation": `{"metadata":{"annotations":{"mine":"2"}}}`,
		"leave its group": `{"metadata":{"labels":{"` + api.LabelGroup + `":null}}}`,
	} {
		if _, err := kube.CoreV1().Nodes().Patch(t.Context(), "own", "application/merge-patch+json", []byte(patch), metav1.PatchOptions{}); err == nil {
			t.Errorf("an agent may %s", what)
		}
	}
	if err := agent.Unlabel(t.Context()); err != nil {
		t.Error(err)
	}
	c.exercised("fencing-agent")
}

// psi-monitor follows pods, tells of one that it ended, and guards its metrics.
func TestRightsOfEarlyOOM(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	kube, err := kubernetes.NewForConfig(c.witness.as("early-oom", "n"))
	if err != nil {
		t.Fatal(err)
	}
	pods, err := earlyoom.WatchPods(kube, "n")
	if err != nil {
		t.Fatal(err)
	}
	go pods.Run(t.Context()) //nolint:errcheck // it ends with the test
	c.eventually("pods are seen", func(context.Context) bool { return pods.Synced() })
	told := earlyoom.Events{Client: kube, Node: "n"}
	if err := told.Killed(t.Context(), earlyoom.Pod{Namespace: "default", Name: "p", UID: "u"}, earlyoom.Sample{}, time.Now()); err != nil {
		t.Error(err)
	}
	c.guarded("early-oom", kube)
	c.exercised("early-oom")
}

// registry-packages-proxy only asks who a caller is and what it may.
func TestRightsOfPackages(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	kube, err := kubernetes.NewForConfig(c.witness.as("registry-packages-proxy", ""))
	if err != nil {
		t.Fatal(err)
	}
	c.guarded("registry-packages-proxy", kube)
	c.exercised("registry-packages-proxy")
}

// guarded lets a guard with the rights of an account judge an administrator's token.
func (c *cluster) guarded(account string, kube kubernetes.Interface) {
	c.t.Helper()
	may := authorizationv1.ResourceAttributes{Group: "apps", Resource: "daemonsets", Verb: "get", Namespace: namespace}
	request := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, "/", nil)
	request.Header.Set("Authorization", "Bearer "+c.server.Config.BearerToken)
	answer := httptest.NewRecorder()
	guard.New(kube, may, clock.System{}).Handler(http.NotFoundHandler()).ServeHTTP(answer, request)
	if answer.Code != http.StatusNotFound {
		c.t.Errorf("%s cannot judge a caller: %d %s", account, answer.Code, answer.Body)
	}
}
