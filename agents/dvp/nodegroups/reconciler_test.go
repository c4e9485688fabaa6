package nodegroups

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"commander/agents/dvp/api/configuration"
	configurationv1alpha1 "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/internal/kubetest"
)

const uuid = "11111111-2222-3333-4444-555555555555"

// bed is a cluster with our controller, and none of Cluster API's.
type bed struct {
	client.Client
	t *testing.T
}

func newBed(t *testing.T) *bed {
	t.Helper()
	server := kubetest.StartOwn(t)
	ctrl.SetLogger(logr.Discard())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme, configurationv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{c, t}
	b.install()
	b.make(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}})
	manager, err := ctrl.NewManager(server.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("nodegroups"), ClusterUUID: uuid, Prefix: "demo"}
	if err := r.Setup(manager); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop controller: %v", err)
		}
	})
	return b
}

func (b *bed) install() {
	b.t.Helper()
	all, err := infrastructure.Definitions()
	if err != nil {
		b.t.Fatal(err)
	}
	texts := [][]byte{configuration.InstanceClass}
	for _, file := range []string{
		"../../node/api/crds/deckhouse.io_nodegroups.yaml",
		"../../../.cache/cluster-api/crds/cluster.x-k8s.io_machinedeployments.yaml", "../../../.cache/cluster-api/crds/cluster.x-k8s.io_machinesets.yaml",
	} {
		text, err := os.ReadFile(filepath.Clean(file))
		if err != nil {
			b.t.Fatalf("make cluster-api brings the kinds of Cluster API: %v", err)
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.Unmarshal(text, crd); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, crd)
	}
	for _, crd := range all {
		b.make(crd)
	}
	for _, crd := range all {
		b.eventually("kind "+crd.Name, func(ctx context.Context) bool {
			return b.Get(ctx, client.ObjectKeyFromObject(crd), crd) == nil && slices.ContainsFunc(crd.Status.Conditions, func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
			})
		})
	}
}

func (b *bed) make(o client.Object) {
	b.t.Helper()
	if err := b.Create(b.t.Context(), o); err != nil {
		b.t.Fatalf("make %s: %v", o.GetName(), err)
	}
}

func (b *bed) patch(o client.Object, patch string) {
	b.t.Helper()
	if err := b.Patch(b.t.Context(), o, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bed) eventually(what string, so func(context.Context) bool) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			var events corev1.EventList
			_ = b.List(b.t.Context(), &events) // what it says may tell why
			for _, e := range events.Items {
				b.t.Log(e.Reason, e.Message)
			}
			b.t.Fatalf("waited in vain for: %s", what)
		case <-tick.C:
		}
	}
}

func (b *bed) secret(namespace, name string, data map[string]string) *corev1.Secret {
	b.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: data}
	b.make(s)
	return s
}

// deployments are the MachineDeployments by name.
func (b *bed) deployments(ctx context.Context) map[string]unstructured.Unstructured {
	b.t.Helper()
	list := new(unstructured.UnstructuredList)
	list.SetGroupVersionKind(deploymentKind)
	if err := b.List(ctx, list, client.InNamespace(Namespace)); err != nil && ctx.Err() == nil {
		b.t.Fatal(err)
	}
	all := map[string]unstructured.Unstructured{}
	for _, o := range list.Items {
		all[o.GetName()] = o
	}
	return all
}

func (b *bed) templates(ctx context.Context) []v1alpha1.DeckhouseMachineTemplate {
	var list v1alpha1.DeckhouseMachineTemplateList
	if err := b.List(ctx, &list, client.InNamespace(Namespace)); err != nil {
		return nil
	}
	return list.Items
}

func class() *configurationv1alpha1.DVPInstanceClass {
	return &configurationv1alpha1.DVPInstanceClass{
		ObjectMeta: metav1.ObjectMeta{Name: "small"},
		Spec: configurationv1alpha1.DVPInstanceClassSpec{
			VirtualMachine: configurationv1alpha1.ClassMachine{VirtualMachine: configurationv1alpha1.VirtualMachine{
				CPU: configurationv1alpha1.CPU{Cores: 2}, Memory: configurationv1alpha1.Memory{Size: "4Gi"}, VirtualMachineClassName: "generic",
				NodeSelector: map[string]string{"disk": "fast"},
			}},
			RootDisk: configurationv1alpha1.RootDisk{Size: "20Gi", Image: configurationv1alpha1.Image{Kind: "ClusterVirtualImage", Name: "debian"}},
		},
	}
}

func nodeGroup(name string) *unstructured.Unstructured {
	o := objectOf(groupKind)
	o.SetName(name)
	o.Object["spec"] = map[string]any{"nodeType": "CloudEphemeral", "cloudInstances": map[string]any{
		"classReference": map[string]any{"kind": "DVPInstanceClass", "name": "small"}, "minPerZone": int64(1), "maxPerZone": int64(3),
	}}
	return o
}

// Each zone of a group has a MachineDeployment, whose template changes its name with what machines are made of.
func TestOrders(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.secret("kube-system", settingsName, map[string]string{"capiClusterName": "dvp", "zones": `["a","b"]`, "sshPublicKey": "ssh-ed25519 AAAA"})
	b.make(nodeGroup("worker"))
	b.eventually("an event about the missing class", func(ctx context.Context) bool {
		var events corev1.EventList
		return b.List(ctx, &events) == nil && slices.ContainsFunc(events.Items, func(e corev1.Event) bool { return e.Reason == "NoClass" })
	})
	b.make(class())
	b.secret(Namespace, scriptPrefix+"worker", map[string]string{scriptKey: "echo a node"})
	b.secret("kube-system", "d8-cloud-provider-discovery-data", map[string]string{"discovery-data.json": `{"storageClasses":[{"name":"x"},{"name":"replicated","isDefault":true}]}`})
	b.patch(class(), `{"metadata":{"labels":{"looked":"again"}}}`)
	names := []string{deploymentName("demo", "worker", uuid, "a"), deploymentName("demo", "worker", uuid, "b")}
	b.eventually("two MachineDeployments", func(ctx context.Context) bool { return len(b.deployments(ctx)) == 2 })
	first := b.templates(t.Context())
	if len(first) != 1 || first[0].Spec.Template.Spec.RootDiskStorageClass != "replicated" || first[0].Spec.Template.Spec.NodeSelector["disk"] != "fast" || !strings.HasPrefix(first[0].Name, "worker-") {
		t.Fatalf("got templates %+v", first)
	}
	for i, zone := range []string{"a", "b"} {
		d, ok := b.deployments(t.Context())[names[i]]
		if !ok || names[0] == names[1] {
			t.Fatalf("no MachineDeployment %s", names[i])
		}
		spec := d.Object["spec"].(map[string]any)
		machine := spec["template"].(map[string]any)["spec"].(map[string]any)
		if spec["replicas"] != int64(1) || machine["failureDomain"] != zone || machine["infrastructureRef"].(map[string]any)["name"] != first[0].Name ||
			machine["bootstrap"].(map[string]any)["dataSecretName"] != "capi-bootstrap-worker" || d.GetAnnotations()[noteMax] != "3" {
			t.Errorf("got %v", d.Object)
		}
	}
	script := new(corev1.Secret)
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: Namespace, Name: bootstrapName("worker")}, script); err != nil ||
		string(script.Data["format"]) != "cloud-config" || !strings.HasPrefix(string(script.Data["value"]), "#cloud-config\n{") || !strings.Contains(string(script.Data["value"]), "ssh-ed25519 AAAA") {
		t.Errorf("got %s, %v", script.Data, err)
	}

	// The autoscaler's number stays, between the bounds.
	d := b.deployments(t.Context())[names[0]]
	b.patch(&d, `{"spec":{"replicas":3}}`)
	b.patch(class(), `{"spec":{"virtualMachine":{"runPolicy":"AlwaysOn"}}}`)
	b.eventually("the template has what is no reason to replace machines", func(ctx context.Context) bool {
		now := b.templates(ctx)
		return len(now) == 1 && now[0].Name == first[0].Name && now[0].Spec.Template.Spec.RunPolicy == "AlwaysOn"
	})
	if d := b.deployments(t.Context())[names[0]]; d.Object["spec"].(map[string]any)["replicas"] != int64(3) {
		t.Errorf("got %v machines, want those of the autoscaler", d.Object["spec"].(map[string]any)["replicas"])
	}
	group := nodeGroup("worker")
	b.patch(group, `{"spec":{"cloudInstances":{"maxPerZone":2,"zones":["a"]}}}`)
	b.eventually("one zone with two machines", func(ctx context.Context) bool {
		now := b.deployments(ctx)
		d, ok := now[names[0]]
		return len(now) == 1 && ok && d.Object["spec"].(map[string]any)["replicas"] == int64(2)
	})

	// What machines are made of: another template; the old one goes when nobody uses it.
	set := objectOf(setKind)
	set.SetNamespace(Namespace)
	set.SetName("old")
	set.SetLabels(map[string]string{labelGroup: "worker"})
	machine := b.deployments(t.Context())[names[0]].Object["spec"].(map[string]any)["template"]
	set.Object["spec"] = map[string]any{"clusterName": "dvp", "selector": map[string]any{"matchLabels": map[string]any{"a": "b"}}, "template": machine}
	b.make(set)
	b.patch(class(), `{"spec":{"virtualMachine":{"cpu":{"cores":4}}}}`)
	b.eventually("two templates while an old MachineSet is there", func(ctx context.Context) bool { return len(b.templates(ctx)) == 2 })
	if err := b.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	b.eventually("the new template alone", func(ctx context.Context) bool {
		now := b.templates(ctx)
		return len(now) == 1 && now[0].Name != first[0].Name && now[0].Spec.Template.Spec.CPU.Cores == 4
	})
	used := class()
	b.eventually("the class says who uses it", func(ctx context.Context) bool {
		return b.Get(ctx, client.ObjectKeyFromObject(used), used) == nil && slices.Equal(used.Status.NodeGroupConsumers, []string{"worker"})
	})

	if err := b.Delete(t.Context(), group); err != nil {
		t.Fatal(err)
	}
	b.eventually("nothing is left of the group", func(ctx context.Context) bool {
		return len(b.deployments(ctx)) == 0 && len(b.templates(ctx)) == 0 && apierrors.IsNotFound(b.Get(ctx, client.ObjectKeyFromObject(script), script)) &&
			b.Get(ctx, client.ObjectKeyFromObject(used), used) == nil && len(used.Status.NodeGroupConsumers) == 0
	})
}
