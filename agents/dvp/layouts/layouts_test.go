package layouts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

// mocked is a test of OpenTofu's own kind: a plan with a provider that is not there.
const mocked = `
mock_provider "dvp" {}

run "plan" {
  command = plan
}
`

func TestLayoutsAreValid(t *testing.T) {
	t.Parallel()
	tr := newTree(t)
	if text, code := (&root{tr, tr.folder}).run("fmt", "-check", "-recursive", "-diff"); code != 0 {
		t.Errorf("the layouts are not formatted:\n%s", text)
	}
	all := configurationBy("no kubeconfig is needed for a plan with a mock", "project")
	for name, values := range map[string]object{
		"base-infrastructure": inputs(all, nil), "master-node": ofNode(all, 0), "static-node": with(ofNode(all, 0), "nodeGroupName", "front"),
	} {
		r := tr.root(name)
		r.must("validate")
		r.inputs(values)
		if err := os.WriteFile(filepath.Join(r.folder, "plan.tftest.hcl"), []byte(mocked), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := r.must("test"); !strings.Contains(text, "1 passed") {
			t.Errorf("%s: got %s", name, text)
		}
	}
}

func with(all object, key string, value any) object {
	all[key] = value
	return all
}

func TestBaseInfrastructure(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	r := newTree(t).root("base-infrastructure")
	policies := func() []networkingv1.NetworkPolicy {
		t.Helper()
		var all networkingv1.NetworkPolicyList
		if err := dvp.List(t.Context(), &all, client.InNamespace(dvp.Namespace)); err != nil {
			t.Fatal(err)
		}
		return all.Items
	}
	c := configuration(t, dvp.Access, dvp.Namespace)
	provider := c["provider"].(object)
	provider["networkPolicy"] = "None"
	r.inputs(inputs(c, nil))
	r.apply()
	r.settled()
	if got := policies(); len(got) != 0 {
		t.Errorf("without isolation got %v, want nothing", got)
	}
	if zones := r.outputs()["cloud_discovery_data"].(object)["zones"].([]any); len(zones) != 1 || zones[0] != "default" {
		t.Errorf("got zones %v, want the default", zones)
	}

	provider["networkPolicy"], provider["ingressPorts"] = "Isolated", []int{22, 443}
	r.inputs(inputs(c, nil))
	r.apply()
	r.settled()
	got := policies()
	if len(got) != 1 || got[0].Name != "isolated-demo" || got[0].Spec.PodSelector.MatchLabels[cloud.LabelClusterUUID] != uuid {
		t.Fatalf("got %v, want one policy for the cluster's machines", got)
	}
	if in := got[0].Spec.Ingress; len(in) != 2 || len(in[0].From) != 1 || len(in[1].Ports) != 2 || in[1].Ports[1].Port.IntValue() != 443 {
		t.Errorf("got %+v, want all from the cluster's machines, and 22 and 443 from all", in)
	}

	class := c["masterNodeGroup"].(object)["instanceClass"].(object)
	class["virtualMachine"].(object)["virtualMachineClassName"] = "nowhere"
	class["rootDisk"].(object)["image"].(object)["name"] = "nothing"
	r.inputs(inputs(c, nil))
	text, code := r.run("plan")
	if code != 1 || !strings.Contains(text, `DVP has no VirtualMachineClass "nowhere"`) || !strings.Contains(text, `DVP has no ClusterVirtualImage "nothing"`) {
		t.Errorf("a plan with a missing class and a missing image ended with %d:\n%s", code, text)
	}

	class["virtualMachine"].(object)["cpu"].(object)["cores"] = 0
	r.inputs(inputs(c, nil))
	if text, code := r.run("plan"); code != 1 || !says(text, "DVPClusterConfiguration is wrong: masterNodeGroup.instanceClass.virtualMachine.cpu.cores") || !says(text, "got 0, which is too little") {
		t.Errorf("a plan with a wrong configuration ended with %d:\n%s", code, text)
	}
	class["virtualMachine"].(object)["cpu"].(object)["cores"] = 1
	r.inputs(inputs(c, nil))

	r.must("destroy", "-auto-approve", "-refresh=false", "-target=dvp_network_policy.isolated")
	if got := policies(); len(got) != 0 {
		t.Errorf("got %v after the end, want nothing", got)
	}
}

func TestZonesOfNodes(t *testing.T) {
	t.Parallel()
	dvp := emulatortest.Start(t)
	for node, zone := range map[string]string{"dvp-node-1": "a", "dvp-node-2": "b"} {
		dvp.Change(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}, func(o client.Object) {
			labels := o.GetLabels()
			if labels == nil {
				labels = map[string]string{}
			}
			labels["topology.kubernetes.io/zone"] = zone
			o.SetLabels(labels)
		})
	}
	c := configuration(t, dvp.Access, dvp.Namespace)
	c["zones"] = []string{"a", "b", "c"}
	c["nodeGroups"].([]any)[0].(object)["zones"] = []string{"b", "d", "a"}
	tr := newTree(t)
	r := tr.root("static-node")
	for index, zone := range []string{"a", "b", "a"} { // the provider's order, in turn
		if err := os.RemoveAll(filepath.Join(r.folder, "terraform.tfstate")); err != nil { // a node has a state of its own
			t.Fatal(err)
		}
		r.inputs(with(ofNode(c, index), "nodeGroupName", "front"))
		r.apply()
		vm := only(dvp, index)
		if vm.Spec.NodeSelector["topology.kubernetes.io/zone"] != zone {
			t.Errorf("node %d: got selector %v, want zone %s", index, vm.Spec.NodeSelector, zone)
		}
		if out := r.outputs(); len(out) != 2 || out["node_internal_ip_address"] != vm.Status.IPAddress || vm.Status.IPAddress == "" {
			t.Errorf("node %d: got outputs %v, want its address %q twice", index, out, vm.Status.IPAddress)
		}
	}
	text, code := func() (string, int) {
		r.inputs(with(ofNode(c, 0), "nodeGroupName", "back"))
		return r.run("plan")
	}()
	if code != 1 || !strings.Contains(text, "DVPClusterConfiguration has no such node group") {
		t.Errorf("a plan for an unknown group ended with %d:\n%s", code, text)
	}
}

// only is the machine of a node of the group front.
func only(dvp *emulatortest.DVP, index int) v1alpha2.VirtualMachine {
	return machineOf(dvp, "demo-front-"+string(rune('0'+index)))
}
