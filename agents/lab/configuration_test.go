package lab

import (
	"fmt"
	"strings"
	"testing"
)

const goodLab = `
apiVersion: lab.commander.io/v1alpha1
kind: LabClusterConfiguration
masterNodeGroup:
  replicas: 1
  instanceClass: {cpu: 2, memoryGiB: 4, rootDiskGiB: 20}
nodeGroups:
- name: worker
  replicas: 2
  instanceClass: {cpu: 4, memoryGiB: 8, rootDiskGiB: 50}
  labels: {tier: front}
  taints: [{key: dedicated, value: front, effect: NoExecute}]
`

func TestConfigurationSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"no workers", "replicas: 2", "replicas: 0", ""},
		{"two masters", "replicas: 1", "replicas: 2", "masterNodeGroup.replicas must be 1, 3 or 5, not 2"},
		{"other kind", "kind: Lab", "kind: My", `kind must be LabClusterConfiguration, not "MyClusterConfiguration"`},
		{"other version", "v1alpha1", "v2", "apiVersion must be lab.commander.io/v1alpha1"},
		{"misspelt field", "nodeGroups:", "nodegroup:", `unknown field "nodegroup"`},
		{"no size", "cpu: 2, ", "", "masterNodeGroup.instanceClass.cpu must be from 1 to 512, not 0"},
		{"too many", "replicas: 2", "replicas: 101", "nodeGroups.worker.replicas must be from 0 to 100, not 101"},
		{"small disk", "rootDiskGiB: 50", "rootDiskGiB: 1", "nodeGroups.worker.instanceClass.rootDiskGiB must be from 5"},
		{"name of the masters", "name: worker", "name: master", "nodeGroups.master.name is used twice"},
		{"bad name", "name: worker", "name: Worker_1", "must be at most 15 lower-case letters"},
		{"no name", "name: worker", `name: ""`, "nodeGroups[0].name must be"},
		{"bad label", "tier: front", "tier: 'a b'", "nodeGroups.worker.labels[tier] has a bad value"},
		{"bad taint", "effect: NoExecute", "effect: Never", "nodeGroups.worker.taints[0].effect must be one of NoSchedule, PreferNoSchedule, NoExecute"},
		{"text for a number", "replicas: 2", "replicas: two", "replicas"},
		{"no YAML", "nodeGroups:", "\t: [", "read LabClusterConfiguration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseConfiguration(strings.Replace(goodLab, c.old, c.new, 1))
			expect(t, err, c.want)
		})
	}
}

const goodCluster = `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: Lab, prefix: demo}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
clusterDomain: cluster.local
defaultCRI: Containerd
`

func TestClusterConfigurationSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"older version", `"1.37"`, `"1.36"`, ""},
		{"version without quotes", `"1.37"`, `1.37`, ""},
		{"unknown version", `"1.37"`, `"1.20"`, `kubernetesVersion: Kubernetes version "1.20" is not one of the lab's: 1.37, 1.36`},
		{"no prefix", "prefix: demo", "prefix: ''", "cloud.prefix must be"},
		{"prefix with capitals", "prefix: demo", "prefix: Demo", "cloud.prefix must be"},
		{"long prefix", "prefix: demo", "prefix: " + strings.Repeat("a", 41), "at most 40"},
		{"no subnet", "10.111.0.0/16", "many", `podSubnetCIDR must be an IPv4 subnet like 10.111.0.0/16, not "many"`},
		{"IPv6", "10.111.0.0/16", "fd00::/64", "podSubnetCIDR must be an IPv4 subnet"},
		{"host bits", "10.111.0.0/16", "10.111.0.1/16", "10.111.0.0/16 is meant"},
		{"small subnet", "10.111.0.0/16", "10.111.0.0/24", "must have a length from /8 to /22, not /24"},
		{"overlap", "10.222.0.0/16", "10.111.128.0/20", "serviceSubnetCIDR 10.111.128.0/20 overlaps podSubnetCIDR 10.111.0.0/16"},
		{"network of the nodes", "10.111.0.0/16", "198.18.0.0/16", "where the nodes of a lab are"},
		{"other kind", "kind: Cl", "kind: Lab", "kind must be ClusterConfiguration"},
		{"bad domain", "cluster.local", "a_b", "clusterDomain is no domain name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseClusterConfiguration(strings.Replace(goodCluster, c.old, c.new, 1))
			expect(t, err, c.want)
		})
	}
}

func TestDefaultsOfClusterConfiguration(t *testing.T) {
	t.Parallel()
	c, err := ParseClusterConfiguration("kind: ClusterConfiguration\ncloud: {prefix: a}\nkubernetesVersion: Automatic\n")
	want := ClusterConfiguration{"a", "1.37", "10.111.0.0/16", "10.222.0.0/16", "cluster.local"}
	if err != nil || c != want {
		t.Errorf("got %+v, %v, want %+v", c, err, want)
	}
}

func TestWantedNodes(t *testing.T) {
	t.Parallel()
	c, err := ParseConfiguration(goodLab)
	if err != nil {
		t.Fatal(err)
	}
	cluster := ClusterConfiguration{Prefix: "demo", KubernetesVersion: "1.36", PodSubnet: "10.111.0.0/16"}
	nodes, err := WantedNodes(cluster, c)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range nodes {
		got = append(got, fmt.Sprint(n.Name, n.Group, n.Master(), n.Class.CPU, n.Labels, n.Taints, n.KubernetesVersion))
	}
	want := []string{
		"demo-master-0" + "master" + fmt.Sprint(true, 2, map[string]string{}, []Taint{{controlPlaneLabel, "", "NoSchedule"}}, "1.36"),
		"demo-worker-0" + "worker" + fmt.Sprint(false, 4, map[string]string{"tier": "front"}, []Taint{{"dedicated", "front", "NoExecute"}}, "1.36"),
		"demo-worker-1" + "worker" + fmt.Sprint(false, 4, map[string]string{"tier": "front"}, []Taint{{"dedicated", "front", "NoExecute"}}, "1.36"),
	}
	for i := range want {
		if strings.ReplaceAll(got[i], " ", "") != strings.ReplaceAll(want[i], " ", "") {
			t.Errorf("node %d: got %s, want %s", i, got[i], want[i])
		}
	}
	c.NodeGroups[0].Replicas = 4
	cluster.PodSubnet = "10.111.0.0/22"
	_, err = WantedNodes(cluster, c)
	expect(t, err, "5 nodes do not fit into podSubnetCIDR 10.111.0.0/22: it has room for 4")
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got %v, want no error", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q in it", err, want)
	}
}
