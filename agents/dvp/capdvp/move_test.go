package capdvp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configurationv1alpha1 "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/capdvp/capitest"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/agents/dvp/nodegroups"
	"commander/internal/kubetest"
)

// What Cluster API is asked for, without groups of nodes.
const ordered = `
apiVersion: v1
kind: Secret
metadata: {name: c-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c}}
type: cluster.x-k8s.io/secret
stringData: {value: %q}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseCluster
metadata: {name: c}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1alpha1
kind: DeckhouseControlPlane
metadata: {name: c}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  controlPlaneRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DeckhouseControlPlane, name: c}
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
`

// newManaged is a cluster of its own with Cluster API's controllers and ours, as clusterctl prepares
// one: it finds kinds by their label.
func newManaged(t *testing.T, dvp *emulatortest.DVP) (b *bed, kubeconfig string) {
	t.Helper()
	server, scheme := kubetest.StartOwn(t), runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, apiextensionsv1.AddToScheme, configurationv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(server.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	b = &bed{Client: c, t: t, dvp: dvp, namespace: nodegroups.Namespace}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}); err != nil {
		t.Fatal(err)
	}
	capitest.Install(t, c)
	var kinds apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(t.Context(), &kinds); err != nil {
		t.Fatal(err)
	}
	for i := range kinds.Items {
		b.patch(&kinds.Items[i], `{"metadata":{"labels":{"clusterctl.cluster.x-k8s.io":""}}}`)
	}
	b.script("script", "value")
	kubeconfig = emulatortest.Kubeconfig(t, server.Config)
	capitest.Run(t, capitest.Program(t), kubeconfig)
	b.runOurs(server, scheme)
	return b, kubeconfig
}

// uids are those of the machines in DVP.
func (b *bed) uids() map[string]types.UID {
	b.t.Helper()
	var all v1alpha2.VirtualMachineList
	if err := b.dvp.List(b.t.Context(), &all, client.InNamespace(b.dvp.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	found := map[string]types.UID{}
	for i := range all.Items {
		found[all.Items[i].Name] = all.Items[i].UID
	}
	return found
}

// clusterctl moves a cluster from one place of Cluster API to another: its machines do not notice, are
// kept at the new place, and go from there. Nothing is left at the old one.
func TestMove(t *testing.T) {
	t.Parallel()
	capitest.Program(t)
	program, err := filepath.Abs("../../../.cache/cluster-api/clusterctl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("clusterctl is not there; make cluster-api builds it")
	}
	dvp := emulatortest.Start(t)
	from, old := newManaged(t, dvp)
	from.apply(fmt.Sprintf(ordered, old)) // where its Nodes stay
	both := func(machines []unstructured.Unstructured) bool {
		return len(machines) == 2 && running(machines[0]) && running(machines[1])
	}
	from.awaitMachines("two machines that are Nodes", both)
	before := from.uids()
	to, place := newManaged(t, dvp)

	dir := t.TempDir()
	for name, text := range map[string]string{"from": old, "to": place, "config.yaml": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), program, "move", "--config", filepath.Join(dir, "config.yaml"), "--namespace", from.namespace,
		"--kubeconfig", filepath.Join(dir, "from"), "--to-kubeconfig", filepath.Join(dir, "to"))
	command.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "CLUSTERCTL_DISABLE_VERSIONCHECK=true")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("move: %v\n%s", err, out)
	}
	to.awaitMachines("the machines at the new place", both)
	if after := to.uids(); len(before) != 2 || fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("got machines %v in DVP after the move, want the same %v", after, before)
	}
	var all v1alpha1.DeckhouseMachineList
	if err := from.List(t.Context(), &all); err != nil || len(all.Items) != 0 || len(from.machinesOf()) != 0 {
		t.Errorf("got %d machines of ours and %d of Cluster API at the old place, %v, want none", len(all.Items), len(from.machinesOf()), err)
	}
	for _, machine := range to.machinesOf() {
		dm := &v1alpha1.DeckhouseMachine{ObjectMeta: metav1.ObjectMeta{Namespace: to.namespace, Name: machine.GetName()}}
		to.await(dm, "is told to run, and of its owner", func(dm *v1alpha1.DeckhouseMachine) bool {
			return because(dm, v1alpha1.VMRunning, "") && dm.Status.Ready && len(dm.OwnerReferences) == 1 && dm.OwnerReferences[0].UID == machine.GetUID()
		})
	}

	deployment := capiObject("MachineDeployment")
	deployment.SetNamespace(to.namespace)
	deployment.SetName("worker")
	to.patch(deployment, `{"spec":{"replicas":1}}`)
	to.awaitMachines("one machine", func(machines []unstructured.Unstructured) bool {
		return len(machines) == 1 && running(machines[0]) && len(to.uids()) == 1
	})
	cluster := capiObject("Cluster")
	cluster.SetNamespace(to.namespace)
	cluster.SetName("c")
	to.delete(cluster)
	to.awaitMachines("no machines", func(machines []unstructured.Unstructured) bool { return len(machines) == 0 })
	to.awaitGone(cluster)
	for _, list := range []client.ObjectList{&v1alpha2.VirtualMachineList{}, &v1alpha2.VirtualDiskList{}, &corev1.SecretList{}} {
		dvp.Eventually("nothing is left in DVP", func(ctx context.Context) bool {
			err := dvp.List(ctx, list, client.InNamespace(dvp.Namespace), client.MatchingLabels{cloud.LabelClusterUUID: uuid})
			return err == nil && lengthOf(t, list) == 0
		})
	}
}
