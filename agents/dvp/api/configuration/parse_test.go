package configuration

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const minimal = `
apiVersion: deckhouse.io/v1
kind: DVPClusterConfiguration
layout: Standard
sshPublicKey: ssh-ed25519 AAAA
provider: {kubeconfigDataBase64: YQ==, namespace: project}
masterNodeGroup:
  replicas: 1
  instanceClass:
    virtualMachine: {cpu: {cores: 4}, memory: {size: 8Gi}, virtualMachineClassName: generic}
    rootDisk: {size: 50Gi, image: {kind: ClusterVirtualImage, name: debian-12}}
    etcdDisk: {size: 15Gi}
`

const full = `
apiVersion: deckhouse.io/v1
kind: DVPClusterConfiguration
layout: Standard
sshPublicKey: ssh-ed25519 AAAA
region: r1
zones: [a, b, c]
provider: {kubeconfigDataBase64: YQ==, namespace: project, networkPolicy: None, ingressPorts: [22, 6443], additionalVMLabels: {team: x}}
masterNodeGroup:
  replicas: 3
  zones: [a, b]
  instanceClass:
    virtualMachine:
      cpu: {cores: 4, coreFraction: 50%}
      memory: {size: 8Gi}
      virtualMachineClassName: generic
      bootloader: EFIWithSecureBoot
      runPolicy: AlwaysOn
      liveMigrationPolicy: PreferSafe
      ipAddresses: [10.1.2.3, Auto, 10.1.2.5]
      additionalLabels: {a: b}
      additionalAnnotations: {c: d}
      nodeSelector: {e: f}
      priorityClassName: high
      tolerations: [{key: dedicated, operator: Exists, effect: NoSchedule, tolerationSeconds: 3}]
    rootDisk: {size: 50Gi, storageClass: replicated, image: {kind: VirtualImage, name: debian-12}}
    etcdDisk: {size: 15Gi, storageClass: replicated}
    additionalDisks: [{size: 1Ti, storageClass: slow}]
    additionalLabels: {g: h}
nodeGroups:
- name: front
  replicas: 2
  zones: [c]
  nodeTemplate: {labels: {i: j}, annotations: {k: l}, taints: [{key: m, effect: NoExecute}]}
  instanceClass:
    virtualMachine: {cpu: {cores: 2}, memory: {size: 4Gi}, virtualMachineClassName: generic}
    rootDisk: {size: 20Gi, image: {kind: ClusterVirtualImage, name: debian-12}}
`

func TestClusterConfiguration(t *testing.T) {
	t.Parallel()
	c, err := Parse([]byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	vm := c.MasterNodeGroup.InstanceClass.VirtualMachine
	if vm.Bootloader != "EFI" || vm.RunPolicy != "AlwaysOnUnlessStoppedManually" || vm.LiveMigrationPolicy != "PreferForced" || vm.CPU.CoreFraction != "100%" ||
		c.Provider.NetworkPolicy != "Isolated" || len(c.Provider.IngressPorts) != 1 || c.Provider.IngressPorts[0] != 22 {
		t.Errorf("got %+v, want the defaults", c)
	}
	if c, err = Parse([]byte(full)); err != nil || len(c.NodeGroups) != 1 || c.NodeGroups[0].InstanceClass.VirtualMachine.Bootloader != "EFI" || c.MasterNodeGroup.InstanceClass.VirtualMachine.Bootloader != "EFIWithSecureBoot" {
		t.Errorf("got %+v, %v", c, err)
	}
	if _, err := Parse(nil); err == nil || err.Error() != "it is empty" {
		t.Errorf("got %v", err)
	}
	if _, err := Parse([]byte("a: [")); err == nil || !strings.Contains(err.Error(), "neither YAML nor JSON") {
		t.Errorf("got %v", err)
	}
}

// Each field that is needed is missed, by its name.
func TestMissingFields(t *testing.T) {
	t.Parallel()
	for _, field := range []string{
		"apiVersion", "kind", "layout", "sshPublicKey", "provider", "provider.kubeconfigDataBase64", "provider.namespace",
		"masterNodeGroup", "masterNodeGroup.replicas", "masterNodeGroup.instanceClass",
		"masterNodeGroup.instanceClass.virtualMachine", "masterNodeGroup.instanceClass.virtualMachine.cpu",
		"masterNodeGroup.instanceClass.virtualMachine.cpu.cores", "masterNodeGroup.instanceClass.virtualMachine.memory",
		"masterNodeGroup.instanceClass.virtualMachine.memory.size", "masterNodeGroup.instanceClass.virtualMachine.virtualMachineClassName",
		"masterNodeGroup.instanceClass.rootDisk", "masterNodeGroup.instanceClass.rootDisk.size", "masterNodeGroup.instanceClass.rootDisk.image",
		"masterNodeGroup.instanceClass.rootDisk.image.kind", "masterNodeGroup.instanceClass.rootDisk.image.name",
		"masterNodeGroup.instanceClass.etcdDisk", "masterNodeGroup.instanceClass.etcdDisk.size",
		"nodeGroups.0.name", "nodeGroups.0.replicas", "nodeGroups.0.instanceClass",
	} {
		_, err := Parse(changed(t, full, field, nil))
		var problems Problems
		if !errors.As(err, &problems) || len(problems) != 1 || problems[0].Field != shown(field) || problems[0].Text != "it is missing" {
			t.Errorf("without %s: got %v", field, err)
		}
	}
}

func shown(field string) string { return strings.ReplaceAll(field, "nodeGroups.0", "nodeGroups[0]") }

func TestWrongValues(t *testing.T) {
	t.Parallel()
	vm := "masterNodeGroup.instanceClass.virtualMachine."
	for _, c := range []struct {
		field string
		value any
		want  string
	}{
		{vm + "ipAddresses", []any{"10.1.2.3"}, vm + "ipAddresses: got 1 for 3 replicas; give one for each, Auto for any"},
		{vm + "ipAddresses", []any{"10.1.2.3", "fe80::1", "Auto"}, vm + `ipAddresses[1]: got "fe80::1", want an IPv4 address or Auto`},
		{vm + "ipAddresses", []any{"10.1.2.3", "10.1.2.300", "auto"}, `got "10.1.2.300", want an IPv4 address or Auto`},
		{vm + "ipAddresses", []any{"10.1.2.3", "10.1.2.3", "Auto"}, "10.1.2.3 is given twice"},
		{vm + "cpu.cores", 0, vm + "cpu.cores: got 0, which is too little"},
		{vm + "cpu.coreFraction", "101%", `got "101%", want a share from 1% to 100%`},
		{vm + "memory.size", "8 gigs", `got "8 gigs", want a size such as 8Gi`},
		{vm + "liveMigrationPolicy", "Never", "got Never, want AlwaysSafe or PreferSafe or AlwaysForced or PreferForced"},
		{vm + "bootLoader", "EFI", `"bootLoader" is not known here; is "bootloader" meant?`},
		{"masterNodeGroup.instanceClass.rootDisk.image.kind", "VirtualDisk", "got VirtualDisk, want ClusterVirtualImage or VirtualImage"},
		{"masterNodeGroup.instanceClass.additionalDisks", many(15), "a machine has at most 16 disks"},
		{"masterNodeGroup.replicas", 2, "etcd needs an odd number of masters"},
		{"masterNodeGroup.replicas", "three", "masterNodeGroup.replicas: it is of another type"},
		{"masterNodeGroup.zones", []any{"z"}, "none of [z] is among the provider's zones [a b c]"},
		{"zones", []any{"a", "a"}, "zones: something is listed twice"},
		{"provider.ingressPorts", []any{0}, "provider.ingressPorts[0]: got 0, which is too little"},
		{"provider.ingressPorts", []any{65536}, "provider.ingressPorts[0]: got 65536, which is too much"},
		{"provider.kubeconfigDataBase64", "???", "it is no Base64"},
		{"provider.namespace", "", "provider.namespace: it is empty"},
		{"layout", "Simple", "layout: got Simple, want Standard"},
		{"nodeGroups.0.name", "master", `nodeGroups[0].name: "master" is the name of another group`},
	} {
		if _, err := Parse(changed(t, full, c.field, c.value)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: got %v, want %s", c.field, c.value, err, c.want)
		}
	}
}

func many(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = map[string]any{"size": "1Gi"}
	}
	return all
}

// changed is a document with a field of another value, or without it.
func changed(t *testing.T, document, field string, value any) []byte {
	t.Helper()
	var all any
	if err := yaml.Unmarshal([]byte(document), &all); err != nil {
		t.Fatal(err)
	}
	at, names := all, strings.Split(field, ".")
	for _, name := range names[:len(names)-1] {
		switch here := at.(type) {
		case map[string]any:
			at = here[name]
		case []any:
			at = here[0]
		}
	}
	here, last := at.(map[string]any), names[len(names)-1]
	if value == nil {
		delete(here, last)
	} else {
		here[last] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
