// Package lab describes lab clusters, clusters of one machine with real Kubernetes control planes
// and played nodes, and talks to the daemon that owns them.
package lab

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"commander/agents/lab/build"
)

// Configuration is the document LabClusterConfiguration: the machines of a cluster.
type Configuration struct {
	APIVersion      string      `json:"apiVersion"` // lab.commander.io/v1alpha1
	Kind            string      `json:"kind"`       // LabClusterConfiguration
	MasterNodeGroup MasterGroup `json:"masterNodeGroup"`
	NodeGroups      []NodeGroup `json:"nodeGroups,omitempty"`
}

// MasterGroup are the nodes of the control plane. Their number is a matter of looks: the control
// plane of a lab runs beside its nodes, once.
type MasterGroup struct {
	Replicas      int           `json:"replicas"` // 1, 3 or 5
	InstanceClass InstanceClass `json:"instanceClass"`
}

// NodeGroup are nodes that are alike.
type NodeGroup struct {
	Name          string            `json:"name"`
	Replicas      int               `json:"replicas"`
	InstanceClass InstanceClass     `json:"instanceClass"`
	Labels        map[string]string `json:"labels,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
}

// InstanceClass is the size of a machine.
type InstanceClass struct {
	CPU         int `json:"cpu"` // cores
	MemoryGiB   int `json:"memoryGiB"`
	RootDiskGiB int `json:"rootDiskGiB"`
}

// Taint keeps pods away from a node that do not tolerate it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"` // NoSchedule, PreferNoSchedule or NoExecute
}

// ClusterConfiguration is what a lab reads of the document of the same name.
type ClusterConfiguration struct {
	Prefix            string // begins the names of the nodes
	KubernetesVersion string // minor version, like 1.37
	PodSubnet         string // CIDR
	ServiceSubnet     string // CIDR
	Domain            string // of services, like cluster.local
}

// Subnets and domain of clusters that do not name them.
const (
	defaultPodSubnet     = "10.111.0.0/16"
	defaultServiceSubnet = "10.222.0.0/16"
	defaultDomain        = "cluster.local"
)

// ParseConfiguration reads and checks a LabClusterConfiguration. The error names everything that
// is wrong, in words for whoever wrote the document.
func ParseConfiguration(document string) (Configuration, error) {
	var c Configuration
	if err := yaml.UnmarshalStrict([]byte(document), &c); err != nil {
		return c, fmt.Errorf("read LabClusterConfiguration: %w", err)
	}
	if err := c.validate(); err != nil {
		return c, fmt.Errorf("LabClusterConfiguration: %w", err)
	}
	return c, nil
}

// ParseClusterConfiguration reads and checks what a lab needs of a ClusterConfiguration. Fields
// that it does not know are other providers' and are let through.
func ParseClusterConfiguration(document string) (ClusterConfiguration, error) {
	var read struct {
		Kind, ClusterType string
		Cloud             struct{ Provider, Prefix string }
		PodSubnetCIDR     string `json:"podSubnetCIDR"`
		ServiceSubnetCIDR string `json:"serviceSubnetCIDR"`
		KubernetesVersion string
		ClusterDomain     string
	}
	if err := yaml.Unmarshal([]byte(document), &read); err != nil {
		return ClusterConfiguration{}, fmt.Errorf("read ClusterConfiguration: %w", err)
	}
	version := read.KubernetesVersion
	if version == "Automatic" {
		version = ""
	}
	minor, err := build.Minor(version)
	c := ClusterConfiguration{
		Prefix: read.Cloud.Prefix, KubernetesVersion: minor,
		PodSubnet:     cmp.Or(read.PodSubnetCIDR, defaultPodSubnet),
		ServiceSubnet: cmp.Or(read.ServiceSubnetCIDR, defaultServiceSubnet),
		Domain:        cmp.Or(read.ClusterDomain, defaultDomain),
	}
	var wrong []error
	if err != nil {
		wrong = append(wrong, fmt.Errorf("kubernetesVersion: %w", err))
	}
	if read.Kind != "ClusterConfiguration" {
		wrong = append(wrong, fmt.Errorf("kind must be ClusterConfiguration, not %q", read.Kind))
	}
	if err := errors.Join(append(wrong, c.validate())...); err != nil {
		return c, fmt.Errorf("ClusterConfiguration: %w", err)
	}
	return c, nil
}

// WantedNodes lists the nodes that the documents ask for, by name: <prefix>-<group>-<number>.
func WantedNodes(cluster ClusterConfiguration, c Configuration) ([]Node, error) {
	groups := append([]NodeGroup{{
		Name: masterGroup, Replicas: c.MasterNodeGroup.Replicas, InstanceClass: c.MasterNodeGroup.InstanceClass,
		Taints: []Taint{{Key: controlPlaneLabel, Effect: "NoSchedule"}},
	}}, c.NodeGroups...)
	var nodes []Node
	for _, g := range groups {
		for n := range g.Replicas {
			nodes = append(nodes, Node{
				Name: fmt.Sprintf("%s-%s-%d", cluster.Prefix, g.Name, n), Group: g.Name,
				Class: g.InstanceClass, Labels: maps.Clone(g.Labels), Taints: slices.Clone(g.Taints),
				KubernetesVersion: cluster.KubernetesVersion,
			})
		}
	}
	subnet, err := netip.ParsePrefix(cluster.PodSubnet)
	if err != nil {
		return nil, fmt.Errorf("read pod subnet: %w", err)
	}
	if most := 1 << (nodeSubnetBits - subnet.Bits()); len(nodes) > most {
		return nil, fmt.Errorf("%d nodes do not fit into podSubnetCIDR %s: it has room for %d, each node takes a /%d of it",
			len(nodes), cluster.PodSubnet, most, nodeSubnetBits)
	}
	return nodes, nil
}

// masterGroup is the name of the group of the control plane's nodes.
const masterGroup = "master"

// controlPlaneLabel marks nodes of the control plane; their taint has the same key.
const controlPlaneLabel = "node-role.kubernetes.io/control-plane"

// nodeSubnetBits is the size of the part of the pod subnet that Kubernetes gives to each node.
const nodeSubnetBits = 24

func list(all []string) string { return strings.Join(all, ", ") }
