// Package dvp tests the whole way from a NodeGroup to a node on DVP: Cluster API, our provider, the
// emulator with guests, what makes nodes of machines, and the cloud controllers.
package dvp

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	cloudproviderapi "k8s.io/cloud-provider/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	configuration "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/capdvp"
	"commander/agents/dvp/capdvp/capitest"
	"commander/agents/dvp/ccm"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/containers"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/agents/dvp/nodegroups"
	"commander/agents/node/bashible/input"
	"commander/agents/node/bashible/machinetest"
	"commander/internal/clock"
	"commander/internal/run"
)

const uuid = "11111111-2222-3333-4444-555555555555"

// order is what a person gives the cluster for a group of one machine.
const order = `
apiVersion: v1
kind: Secret
metadata: {name: c-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c}}
type: cluster.x-k8s.io/secret
stringData: {value: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: d8-node-manager-cloud-provider, namespace: kube-system}
stringData: {capiClusterName: c, zones: '["default"]', sshPublicKey: ssh-ed25519 AAAA person}
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
  rootDisk: {size: 2Gi, storageClass: late, image: {kind: ClusterVirtualImage, name: debian}}
---
apiVersion: deckhouse.io/v1
kind: NodeGroup
metadata: {name: worker}
spec:
  nodeType: CloudEphemeral
  cloudInstances: {classReference: {kind: DVPInstanceClass, name: small}, minPerZone: 1, maxPerZone: 1}
`

// From a NodeGroup by way of MachineDeployment, MachineSet, Machine and DeckhouseMachine to a
// VirtualMachine, whose guest makes itself a node by the user data that it was given: its Node has
// the machine's id and addresses, is open and ready, and Cluster API counts it. Then all of it goes.
func TestNodeGroupBecomesANode(t *testing.T) {
	gateway, kubelet := machinetest.Needs(t, "-cloud")
	program := capitest.Program(t)
	machinetest.KeepKernelSettings(t)
	ctrl.SetLogger(logr.Discard()) // what the library says about itself is no part of a test
	d := startDVP(t)
	c := machinetest.NewCluster(t, gateway, kubelet, func(in *input.Cluster) {
		in.CloudProvider = map[string]any{"type": "dvp"}
		in.NodeGroups[0]["nodeType"] = "CloudEphemeral"
	})
	c.Script("network.sh", machinetest.Network)
	capitest.Install(t, c.Client)
	access := emulatortest.Kubeconfig(t, c.Server.Config)
	capitest.Run(t, program, access)
	runOurs(t, c, d)
	apply(t, c.Client, fmt.Sprintf(order, access))
	began := time.Now()

	machine := await(t, "the machine runs in DVP", func(ctx context.Context) *v1alpha2.VirtualMachine {
		var all v1alpha2.VirtualMachineList
		if d.List(ctx, &all, client.InNamespace(d.Namespace)) != nil || len(all.Items) != 1 || all.Items[0].Status.Phase != v1alpha2.MachineRunning {
			return nil
		}
		return &all.Items[0]
	})
	t.Logf("the machine runs after %s", time.Since(began).Round(100*time.Millisecond))
	t.Cleanup(func() { tellGuest(t, machine) })
	id := "dvp://" + machine.Name
	node := await(t, "its Node is ready and open", func(ctx context.Context) *corev1.Node {
		node := new(corev1.Node)
		if c.Client.Get(ctx, client.ObjectKey{Name: machine.Name}, node) != nil || !machinetest.Ready(node) || closed(node) || node.Spec.ProviderID == "" {
			return nil
		}
		return node
	})
	t.Logf("the Node is ready after %s", time.Since(began).Round(100*time.Millisecond))
	address := corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: machine.Status.IPAddress}
	if node.Spec.ProviderID != id || !slices.Contains(node.Status.Addresses, address) || node.Labels["node.deckhouse.io/group"] != machinetest.Group || node.Labels["node.deckhouse.io/type"] != "CloudEphemeral" {
		t.Errorf("got id %s, addresses %v, labels %v, want %s, %v", node.Spec.ProviderID, node.Status.Addresses, node.Labels, id, address)
	}
	await(t, "Cluster API has the Node", func(ctx context.Context) *unstructured.Unstructured {
		all := listOf("Machine")
		if c.Client.List(ctx, all, client.InNamespace(nodegroups.Namespace)) != nil || len(all.Items) != 1 {
			return nil
		}
		name, _, _ := unstructured.NestedString(all.Items[0].Object, "status", "nodeRef", "name")
		phase, _, _ := unstructured.NestedString(all.Items[0].Object, "status", "phase")
		got, _, _ := unstructured.NestedString(all.Items[0].Object, "spec", "providerID")
		if name != node.Name || phase != "Running" || got != id {
			return nil
		}
		return &all.Items[0]
	})

	group := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "deckhouse.io/v1", "kind": "NodeGroup", "metadata": map[string]any{"name": machinetest.Group}}}
	none := []byte(`{"spec":{"cloudInstances":{"minPerZone":0,"maxPerZone":0}}}`)
	if err := c.Client.Patch(t.Context(), group, client.RawPatch("application/merge-patch+json", none)); err != nil {
		t.Fatal(err)
	}
	machinetest.Eventually(t, "nothing is left of the machine", func(ctx context.Context) bool {
		var disks v1alpha2.VirtualDiskList
		return apierrors.IsNotFound(d.Get(ctx, client.ObjectKeyFromObject(machine), new(v1alpha2.VirtualMachine))) &&
			d.List(ctx, &disks, client.InNamespace(d.Namespace)) == nil && len(disks.Items) == 0 &&
			apierrors.IsNotFound(c.Client.Get(ctx, client.ObjectKeyFromObject(node), node))
	})
	if _, err := machinetest.Docker(t.Context(), "inspect", "dvp-"+string(machine.UID)); err == nil {
		t.Error("the guest of the machine is still there")
	}
}

// startDVP starts an emulator whose machines have guests in a network of their own.
func startDVP(t *testing.T) *emulatortest.DVP {
	t.Helper()
	network := netip.MustParsePrefix(fmt.Sprintf("10.%d.%d.0/24", 192+os.Getpid()%32, os.Getpid()/32%256))
	guests, err := containers.Open(t.Context(), machinetest.Image()+"-cloud", network)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // last of all, when the emulator has ended
		all, err := guests.All(context.Background())
		if err != nil {
			t.Error(err)
		}
		for machine := range all {
			out, err := machinetest.Docker(context.Background(), "ps", "--all", "--quiet", "--filter", "label=emulator.dvp/machine="+machine.String(), "--filter", "network=dvp-"+strings.ReplaceAll(network.String(), "/", "-"))
			if err == nil && out != "" {
				_, _ = machinetest.Docker(context.Background(), "rm", "--force", "--volumes", out)
			}
		}
		if err := guests.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return emulatortest.StartOwn(t, func(o *emulator.Options) { o.Guests, o.MachineRanges = guests, []netip.Prefix{network} })
}

// runOurs starts the provider of Cluster API, what orders machines for groups, and the cloud controllers.
func runOurs(t *testing.T, c *machinetest.Cluster, d *emulatortest.DVP) {
	t.Helper()
	dvp, err := cloud.New(d.Access, d.Namespace, uuid)
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, configuration.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	manager, err := ctrl.NewManager(c.Server.Config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	provider := &capdvp.Provider{
		Client: manager.GetClient(), Config: c.Server.Config, Cloud: dvp, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: 500 * time.Millisecond, Patience: time.Hour, Workers: 2,
	}
	groups := &nodegroups.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("nodegroups"), ClusterUUID: uuid, Prefix: "demo"}
	for _, setup := range []func(ctrl.Manager) error{provider.Setup, groups.Setup} {
		if err := setup(manager); err != nil {
			t.Fatal(err)
		}
	}
	access, err := kubernetes.NewForConfig(c.Server.Config)
	if err != nil {
		t.Fatal(err)
	}
	var all run.Group
	all.Add("provider", manager.Start)
	settings := ccm.Settings{Controllers: []string{ccm.CloudNode, ccm.CloudNodeLifecycle}, ClusterName: "c", NodeStatus: time.Second, NodeMonitor: time.Second, Workers: 1}
	if err := ccm.New(dvp).Join(&all, access, settings); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- all.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop controllers: %v", err)
		}
	})
}

// apply makes all objects of a manifest.
func apply(t *testing.T, c client.Client, manifest string) {
	t.Helper()
	for _, text := range bytes.Split([]byte(manifest), []byte("\n---\n")) {
		o := new(unstructured.Unstructured)
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			t.Fatal(err)
		}
		if o.GetNamespace() == "" && o.GroupVersionKind().Group != "deckhouse.io" { // whose kinds belong to the whole cluster
			o.SetNamespace(nodegroups.Namespace)
		}
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("make %s: %v", o.GetKind(), err)
		}
	}
}

func listOf(kind string) *unstructured.UnstructuredList {
	all := new(unstructured.UnstructuredList)
	all.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	all.SetKind(kind + "List")
	return all
}

// await waits until there is something.
func await[T any](t *testing.T, what string, find func(context.Context) *T) *T {
	t.Helper()
	var found *T
	machinetest.Eventually(t, what, func(ctx context.Context) bool {
		found = find(ctx)
		return found != nil
	})
	return found
}

func closed(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == cloudproviderapi.TaintExternalCloudProvider })
}

// tellGuest tells what happened in a machine, if the test failed.
func tellGuest(t *testing.T, vm *v1alpha2.VirtualMachine) {
	if !t.Failed() {
		return
	}
	said, _ := machinetest.Docker(context.Background(), "exec", "dvp-"+string(vm.UID), "bash", "-c",
		"tail -n 20 /var/log/cloud-init-output.log; journalctl --no-pager -n 40 -u kubelet -u containerd -u bashible; ip -brief address; date")
	t.Logf("the guest said:\n%s", said)
}
