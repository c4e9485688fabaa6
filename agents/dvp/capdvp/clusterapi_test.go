package capdvp

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"commander/agents/dvp/api/infrastructure"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
	"commander/internal/guard"
	"commander/internal/kubetest"
)

// built is where make cluster-api puts Cluster API's own controllers and their kinds.
const built = "../../../.cache/cluster-api"

// Cluster API's own controllers make machines by way of ours, and take them away.
func TestRealClusterAPI(t *testing.T) {
	t.Parallel()
	program, err := filepath.Abs(filepath.Join(built, "core"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Skip("Cluster API's controllers are not there; make cluster-api builds them")
	}
	dvp, server := emulatortest.Start(t), kubetest.StartOwn(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{Client: c, t: t, dvp: dvp, namespace: server.Namespace(t)}
	b.installAll()
	kubeconfig := emulatortest.Kubeconfig(t, server.Config)
	b.runCore(program, kubeconfig)
	b.runOurs(server, scheme)
	b.apply(fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {name: c-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c}}
type: cluster.x-k8s.io/secret
stringData: {value: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: script}
stringData: {format: cloud-config, value: "#cloud-config"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseCluster
metadata: {name: c}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseCluster, name: c}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseMachineTemplate
metadata: {name: worker}
spec: {template: {spec: {vmClassName: generic, cpu: {cores: 1}, memory: 1Gi, rootDiskSize: 2Gi, rootDiskStorageClass: immediate, bootDiskImageRef: {kind: ClusterVirtualImage, name: debian}}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: worker, labels: {cluster.x-k8s.io/cluster-name: c}}
spec:
  clusterName: c
  replicas: 2
  selector: {matchLabels: {group: worker, cluster.x-k8s.io/cluster-name: c, cluster.x-k8s.io/deployment-name: worker}}
  rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}}
  template:
    metadata: {labels: {group: worker, cluster.x-k8s.io/cluster-name: c, cluster.x-k8s.io/deployment-name: worker}}
    spec:
      clusterName: c
      bootstrap: {dataSecretName: script}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseMachineTemplate, name: worker}
`, kubeconfig))

	b.awaitMachines("two machines that are Nodes", 2, 2)
	if t.Failed() {
		return
	}
	md := capiObject("MachineDeployment")
	md.SetNamespace(b.namespace)
	md.SetName("worker")
	b.patch(md, `{"spec":{"replicas":0}}`)
	b.awaitMachines("no machines", 0, 0)
	for _, list := range []client.ObjectList{&v1alpha2.VirtualMachineList{}, &v1alpha2.VirtualDiskList{}, &corev1.SecretList{}} {
		dvp.Eventually("nothing is left in DVP", func(ctx context.Context) bool {
			err := dvp.List(ctx, list, client.InNamespace(dvp.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: uuid})
			return err == nil && lengthOf(t, list) == 0
		})
	}
	cluster := capiObject("Cluster")
	cluster.SetNamespace(b.namespace)
	cluster.SetName("c")
	b.delete(cluster)
	b.awaitGone(cluster)
}

func lengthOf(t *testing.T, list client.ObjectList) int {
	t.Helper()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var items struct{ Items []any }
	if err := json.Unmarshal(text, &items); err != nil {
		t.Fatal(err)
	}
	return len(items.Items)
}

// awaitMachines waits for Machines of which so many have a Node. The guests, which the emulator has
// none of, are played here: a machine that runs registers its Node.
func (b *bed) awaitMachines(what string, want, nodes int) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 90*time.Second)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		machines := new(unstructured.UnstructuredList)
		machines.SetGroupVersionKind(capiKind("MachineList"))
		if err := b.List(ctx, machines, client.InNamespace(b.namespace)); err != nil {
			b.t.Fatal(err)
		}
		running := 0
		for i := range machines.Items {
			name, _, _ := unstructured.NestedString(machines.Items[i].Object, "status", "nodeRef", "name")
			if phase, _, _ := unstructured.NestedString(machines.Items[i].Object, "status", "phase"); phase == "Running" && name != "" {
				running++
			}
		}
		if len(machines.Items) == want && running == nodes {
			return
		}
		b.guests(ctx)
		select {
		case <-ctx.Done():
			text, err := json.MarshalIndent(machines.Items, "", " ")
			b.t.Fatalf("waited in vain for %s: got %d, %d of them run; %v %s", what, len(machines.Items), running, err, text)
		case <-tick.C:
		}
	}
}

func (b *bed) guests(ctx context.Context) {
	b.t.Helper()
	var all v1alpha2.VirtualMachineList
	if err := b.dvp.List(ctx, &all, client.InNamespace(b.dvp.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	for i := range all.Items {
		vm := &all.Items[i]
		if vm.Status.Phase != v1alpha2.MachineRunning || !vm.DeletionTimestamp.IsZero() {
			continue
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: vm.Name}, Spec: corev1.NodeSpec{ProviderID: "dvp://" + vm.Name}}
		if err := b.Create(ctx, node); apierrors.IsAlreadyExists(err) {
			continue
		} else if err != nil {
			b.t.Fatal(err)
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(), LastHeartbeatTime: metav1.Now()}}
		if err := b.Status().Update(ctx, node); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bed) installAll() {
	b.t.Helper()
	all, err := infrastructure.Definitions()
	if err != nil {
		b.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(built, "crds", "*.yaml"))
	if err != nil || len(files) == 0 {
		b.t.Fatalf("got kinds %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.t.Fatal(err)
		}
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.Unmarshal(text, crd); err != nil {
			b.t.Fatal(err)
		}
		all = append(all, crd)
	}
	for _, crd := range all {
		if err := b.Create(b.t.Context(), crd); err != nil {
			b.t.Fatal(err)
		}
	}
	for _, crd := range all {
		b.established(crd)
	}
}

// runCore starts Cluster API's controllers as a process of the test.
func (b *bed) runCore(program, kubeconfig string) {
	b.t.Helper()
	dir, output := b.t.TempDir(), new(bytes.Buffer)
	if err := os.WriteFile(filepath.Join(dir, "kubeconfig"), []byte(kubeconfig), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := writeCertificate(dir); err != nil {
		b.t.Fatal(err)
	}
	_, webhook, err := net.SplitHostPort(free(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.CommandContext(b.t.Context(), program, "--kubeconfig", filepath.Join(dir, "kubeconfig"),
		"--webhook-cert-dir", dir, "--webhook-port", webhook, "--health-addr", free(b.t), "--diagnostics-address", free(b.t), "--insecure-diagnostics")
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if b.t.Failed() {
			text := output.String()
			b.t.Log(text[max(0, len(text)-6000):])
		}
	})
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was only asked for its address
	return l.Addr().String()
}

// runOurs starts our controllers.
func (b *bed) runOurs(server *kubetest.Server, scheme *runtime.Scheme) {
	b.t.Helper()
	access, err := cloud.New(b.dvp.Access, b.dvp.Namespace, uuid)
	if err != nil {
		b.t.Fatal(err)
	}
	manager, err := ctrl.NewManager(server.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	p := &Provider{
		Client: manager.GetClient(), Config: server.Config, Cloud: access, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: 200 * time.Millisecond, Patience: time.Hour, Workers: 4,
	}
	if err := p.Setup(manager); err != nil {
		b.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	b.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.t.Errorf("stop controllers: %v", err)
		}
	})
}

// apply makes all objects of a manifest.
func (b *bed) apply(manifest string) {
	b.t.Helper()
	for _, text := range bytes.Split([]byte(manifest), []byte("\n---\n")) {
		o := new(unstructured.Unstructured)
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			b.t.Fatal(err)
		}
		o.SetNamespace(b.namespace)
		b.dvp.Eventually("the cluster accepts "+o.GetKind(), func(ctx context.Context) bool {
			err := b.Create(ctx, o)
			if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
				b.t.Fatalf("make %s: %v", o.GetKind(), err)
			}
			return err == nil
		})
	}
}

// writeCertificate makes what the program serves its webhooks with, which nobody calls here: all
// that they would fill in is given.
func writeCertificate(dir string) error {
	config, err := guard.TLS("", "", "webhook", clock.System{})
	if err != nil {
		return err
	}
	key, err := x509.MarshalPKCS8PrivateKey(config.Certificates[0].PrivateKey)
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]}), 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600),
	)
}
