package lab

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Bounds of what a lab plays. They keep a slip of the finger from filling the machine.
const (
	maxReplicas = 100
	maxNodes    = 250
	maxCPU      = 512
	maxMemory   = 8192  // GiB
	maxDisk     = 65536 // GiB
	minDisk     = 5     // GiB
	maxPrefix   = 40    // bytes; leaves room for group and number in a node's name
	maxGroup    = 15    // bytes
)

var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// complaints collects what is wrong, each with the field that it is about.
type complaints []error

func (c *complaints) add(field, format string, args ...any) {
	*c = append(*c, fmt.Errorf("%s %s", field, fmt.Sprintf(format, args...)))
}

func (c *complaints) between(field string, value, low, high int) {
	if value < low || value > high {
		c.add(field, "must be from %d to %d, not %d", low, high, value)
	}
}

func (c Configuration) validate() error {
	var wrong complaints
	if c.APIVersion != "lab.commander.io/v1alpha1" {
		wrong.add("apiVersion", "must be lab.commander.io/v1alpha1, not %q", c.APIVersion)
	}
	if c.Kind != "LabClusterConfiguration" {
		wrong.add("kind", "must be LabClusterConfiguration, not %q", c.Kind)
	}
	if n := c.MasterNodeGroup.Replicas; n != 1 && n != 3 && n != 5 {
		wrong.add("masterNodeGroup.replicas", "must be 1, 3 or 5, not %d: other numbers do not make etcd safer", n)
	}
	c.MasterNodeGroup.InstanceClass.validate(&wrong, "masterNodeGroup.instanceClass")
	total := c.MasterNodeGroup.Replicas
	seen := map[string]bool{masterGroup: true}
	for i, g := range c.NodeGroups {
		field := fmt.Sprintf("nodeGroups[%d]", i)
		if g.Name != "" {
			field = "nodeGroups." + g.Name
		}
		if seen[g.Name] {
			wrong.add(field+".name", "is used twice (%s is the control plane's)", masterGroup)
		}
		seen[g.Name] = true
		g.validate(&wrong, field)
		total += g.Replicas
	}
	if total > maxNodes {
		wrong.add("nodeGroups", "ask for %d nodes with the masters, a lab plays at most %d", total, maxNodes)
	}
	return errors.Join(wrong...)
}

func (g NodeGroup) validate(wrong *complaints, field string) {
	if problems := validation.IsDNS1123Label(g.Name); len(problems) > 0 || len(g.Name) > maxGroup {
		wrong.add(field+".name", "must be at most %d lower-case letters, digits and dashes, beginning and ending with a letter or digit, not %q", maxGroup, g.Name)
	}
	wrong.between(field+".replicas", g.Replicas, 0, maxReplicas)
	g.InstanceClass.validate(wrong, field+".instanceClass")
	for _, key := range slices.Sorted(maps.Keys(g.Labels)) {
		for _, problem := range validation.IsQualifiedName(key) {
			wrong.add(fmt.Sprintf("%s.labels[%s]", field, key), "is no label name: %s", problem)
		}
		for _, problem := range validation.IsValidLabelValue(g.Labels[key]) {
			wrong.add(fmt.Sprintf("%s.labels[%s]", field, key), "has a bad value: %s", problem)
		}
	}
	for i, t := range g.Taints {
		name := fmt.Sprintf("%s.taints[%d]", field, i)
		for _, problem := range validation.IsQualifiedName(t.Key) {
			wrong.add(name+".key", "is no taint name: %s", problem)
		}
		for _, problem := range validation.IsValidLabelValue(t.Value) {
			wrong.add(name+".value", "is not allowed: %s", problem)
		}
		if !slices.Contains(effects, t.Effect) {
			wrong.add(name+".effect", "must be one of %s, not %q", list(effects), t.Effect)
		}
	}
}

func (c InstanceClass) validate(wrong *complaints, field string) {
	wrong.between(field+".cpu", c.CPU, 1, maxCPU)
	wrong.between(field+".memoryGiB", c.MemoryGiB, 1, maxMemory)
	wrong.between(field+".rootDiskGiB", c.RootDiskGiB, minDisk, maxDisk)
}

func (c ClusterConfiguration) validate() error {
	var wrong complaints
	if problems := validation.IsDNS1123Label(c.Prefix); len(problems) > 0 || len(c.Prefix) > maxPrefix {
		wrong.add("cloud.prefix", "must be at most %d lower-case letters, digits and dashes, beginning and ending with a letter or digit, not %q", maxPrefix, c.Prefix)
	}
	for _, problem := range validation.IsDNS1123Subdomain(c.Domain) {
		wrong.add("clusterDomain", "is no domain name: %s", problem)
	}
	pods := subnet(&wrong, "podSubnetCIDR", c.PodSubnet, 8, nodeSubnetBits-2)
	services := subnet(&wrong, "serviceSubnetCIDR", c.ServiceSubnet, 12, 28)
	if pods.IsValid() && services.IsValid() && pods.Overlaps(services) {
		wrong.add("serviceSubnetCIDR", "%s overlaps podSubnetCIDR %s", services, pods)
	}
	return errors.Join(wrong...)
}

// nodeNetwork is where the addresses of played nodes come from, see package kubelet.
var nodeNetwork = netip.MustParsePrefix("198.18.0.0/15")

func subnet(wrong *complaints, field, text string, fewest, most int) netip.Prefix {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !prefix.Addr().Is4():
		wrong.add(field, "must be an IPv4 subnet like %s, not %q", defaultPodSubnet, text)
		return netip.Prefix{}
	case prefix.Masked() != prefix:
		wrong.add(field, "%s has bits set behind its length; %s is meant, probably", prefix, prefix.Masked())
	case prefix.Bits() < fewest || prefix.Bits() > most:
		wrong.add(field, "must have a length from /%d to /%d, not /%d", fewest, most, prefix.Bits())
	case prefix.Overlaps(nodeNetwork):
		wrong.add(field, "%s overlaps %s, where the nodes of a lab are", prefix, nodeNetwork)
	}
	return prefix
}
