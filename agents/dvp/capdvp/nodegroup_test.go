package capdvp

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// A NodeGroup leads, by way of Cluster API's own controllers and ours, to machines that are Nodes;
// they are replaced when what they are made of changes or when they are ill, and go.
func TestRealClusterAPI(t *testing.T) {
	t.Parallel()
	program := capitest.Program(t)
	dvp, server := emulatortest.Start(t), kubetest.StartOwn(t)
	scheme := runtime.NewScheme()
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
	b := &bed{Client: c, t: t, dvp: dvp, namespace: nodegroups.Namespace}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: nodegroups.Namespace}}); err != nil {
		t.Fatal(err)
	}
	capitest.Install(t, c)
	kubeconfig := emulatortest.Kubeconfig(t, server.Config)
	capitest.Run(t, program, kubeconfig)
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
metadata: {name: manual-bootstrap-for-worker}
stringData: {bootstrap.sh: "echo a node"}
---
apiVersion: v1
kind: Secret
metadata: {name: d8-node-manager-cloud-provider, namespace: kube-system}
stringData: {capiClusterName: c, zones: '["default"]', sshPublicKey: ssh-ed25519 AAAA, dvp: '{"additionalVMLabels":{"team":"x"}}'}
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
apiVersion: deckhouse.io/v1alpha1
kind: DVPInstanceClass
metadata: {name: small}
spec:
  virtualMachine: {virtualMachineClassName: generic, cpu: {cores: 1}, memory: {size: 1Gi}}
  rootDisk: {size: 2Gi, storageClass: immediate, image: {kind: ClusterVirtualImage, name: debian}}
---
apiVersion: deckhouse.io/v1
kind: NodeGroup
metadata: {name: worker}
spec:
  nodeType: CloudEphemeral
  cloudInstances: {classReference: {kind: DVPInstanceClass, name: small}, minPerZone: 2, maxPerZone: 3}
`, kubeconfig))

	both := func(machines []unstructured.Unstructured) bool {
		return len(machines) == 2 && running(machines[0]) && running(machines[1])
	}
	first := b.awaitMachines("two machines that are Nodes", both)
	if t.Failed() {
		return
	}
	b.replaces(first, both)
	b.remediates(both)
	b.drains()
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

// replaces changes what machines are made of: each is replaced, one more at a time. A change of what
// is no part of that replaces none.
func (b *bed) replaces(before []unstructured.Unstructured, both func([]unstructured.Unstructured) bool) {
	b.t.Helper()
	class := &configurationv1alpha1.DVPInstanceClass{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
	b.patch(class, `{"spec":{"virtualMachine":{"runPolicy":"AlwaysOn"}}}`)
	b.dvp.Eventually("the template has the new policy", func(ctx context.Context) bool {
		var all v1alpha1.DeckhouseMachineTemplateList
		err := b.List(ctx, &all, client.InNamespace(b.namespace))
		return err == nil && len(all.Items) == 1 && all.Items[0].Spec.Template.Spec.RunPolicy == "AlwaysOn"
	})
	if now := b.machinesOf(); len(now) != 2 || now[0].GetName() != before[0].GetName() || now[1].GetName() != before[1].GetName() {
		b.t.Errorf("a change of the run policy replaced machines: got %d", len(now))
	}
	old := map[string]bool{before[0].GetName(): true, before[1].GetName(): true}
	b.patch(class, `{"spec":{"virtualMachine":{"cpu":{"cores":2}}}}`)
	most := 0
	now := b.awaitMachines("two machines with two cores", func(machines []unstructured.Unstructured) bool {
		most = max(most, len(machines))
		return both(machines) && !old[machines[0].GetName()] && !old[machines[1].GetName()]
	})
	if most > 3+1 { // one of the old ones may be on its way out while the next is made
		b.t.Errorf("there were %d machines at once, want one more than two", most)
	}
	for _, machine := range now {
		vm := b.vm(machine.GetName())
		b.there(vm)
		if vm.Spec.CPU.Cores != 2 || vm.Spec.RunPolicy != v1alpha2.AlwaysOn || vm.Labels["team"] != "x" {
			b.t.Errorf("got %+v with labels %v", vm.Spec, vm.Labels)
		}
	}
	b.dvp.Eventually("the class says who uses it", func(ctx context.Context) bool {
		err := b.Get(ctx, client.ObjectKeyFromObject(class), class)
		return err == nil && len(class.Status.NodeGroupConsumers) == 1 && class.Status.NodeGroupConsumers[0] == "worker"
	})
}

// remediates makes a Node ill: a MachineHealthCheck replaces its machine.
func (b *bed) remediates(both func([]unstructured.Unstructured) bool) {
	b.t.Helper()
	b.apply(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: {name: worker}
spec:
  clusterName: c
  selector: {matchLabels: {node-group: worker}}
  checks: {nodeStartupTimeoutSeconds: 0, unhealthyNodeConditions: [{type: Ready, status: "False", timeoutSeconds: 0}]}
`)
	ill := b.machinesOf()[0].GetName()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ill}}
	if err := b.Get(b.t.Context(), client.ObjectKeyFromObject(node), node); err != nil {
		b.t.Fatal(err)
	}
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.LastTransitionTime = corev1.ConditionFalse, metav1.Now()
		}
	}
	if err := b.Status().Update(b.t.Context(), node); err != nil {
		b.t.Fatal(err)
	}
	b.awaitMachines("another machine in place of the ill one", func(machines []unstructured.Unstructured) bool {
		return both(machines) && machines[0].GetName() != ill && machines[1].GetName() != ill
	})
}

// drains lets the group shrink to nothing: a machine goes when its pods have gone.
func (b *bed) drains() {
	b.t.Helper()
	machine := b.machinesOf()[0].GetName()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "work"},
		Spec:       corev1.PodSpec{NodeName: machine, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	b.dvp.Eventually("a pod on the machine", func(ctx context.Context) bool { return b.Create(ctx, pod.DeepCopy()) == nil })
	group := new(unstructured.Unstructured)
	group.SetAPIVersion("deckhouse.io/v1")
	group.SetKind("NodeGroup")
	group.SetName("worker")
	b.patch(group, `{"spec":{"cloudInstances":{"minPerZone":0,"maxPerZone":0}}}`)
	b.awaitMachines("the pod is asked to go", func(machines []unstructured.Unstructured) bool {
		err := b.Get(b.t.Context(), client.ObjectKeyFromObject(pod), pod)
		return err == nil && pod.DeletionTimestamp != nil && len(machines) == 1
	})
	if vm := b.vm(machine); b.dvp.Get(b.t.Context(), client.ObjectKeyFromObject(vm), vm) != nil || vm.DeletionTimestamp != nil {
		b.t.Error("the machine went before its pod had")
	}
	if err := b.Delete(b.t.Context(), pod, client.GracePeriodSeconds(0)); err != nil { // as kubelet does at last
		b.t.Fatal(err)
	}
	b.awaitMachines("no machines", func(machines []unstructured.Unstructured) bool { return len(machines) == 0 })
	var nodes corev1.NodeList
	if err := b.List(b.t.Context(), &nodes); err != nil || len(nodes.Items) != 0 {
		b.t.Errorf("got %d Nodes, %v, want none", len(nodes.Items), err)
	}
	b.delete(group)
	var templates v1alpha1.DeckhouseMachineTemplateList
	b.dvp.Eventually("nothing is left of the group", func(ctx context.Context) bool {
		err := b.List(ctx, &templates, client.InNamespace(b.namespace))
		return err == nil && len(templates.Items) == 0
	})
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
