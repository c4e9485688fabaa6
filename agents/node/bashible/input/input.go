// Package input is what node-controller tells bashible-api-server about the cluster: the content
// of one Secret.
package input

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Where the content is kept. The namespace is that of all that belongs to nodes.
const (
	Secret = "bashible-apiserver-context"
	Key    = "input.yaml"
	// App is the value of the label "app" of what belongs to bashible-api-server.
	App = "bashible-apiserver"
	// AnnotationLocked with the value "true" freezes what is served while a new version of
	// bashible-api-server rolls out: an old one must never render what was meant for the new.
	AnnotationLocked = "node.deckhouse.io/bashible-locked"
)

// Cluster is what the configuration of every node depends on.
type Cluster struct {
	UUID                      string            `json:"clusterUUID,omitempty"`
	Domain                    string            `json:"clusterDomain"`
	DNSAddress                string            `json:"clusterDNSAddress"`
	APIServerEndpoints        []string          `json:"apiserverEndpoints"` // host:port
	CA                        string            `json:"kubernetesCA"`       // PEM
	KubernetesVersion         string            `json:"kubernetesVersion"`  // "1.37"
	PodSubnetNodeCIDRPrefix   string            `json:"podSubnetNodeCIDRPrefix,omitempty"`
	NodeStatusUpdateFrequency string            `json:"nodeStatusUpdateFrequency,omitempty"` // seconds
	CloudProvider             map[string]any    `json:"cloudProvider,omitempty"`             // at least type
	Proxy                     *Proxy            `json:"proxy,omitempty"`
	PackagesProxy             PackagesProxy     `json:"packagesProxy"`
	BootstrapTokens           map[string]string `json:"bootstrapTokens,omitempty"` // by group
	NodeGroups                []Group           `json:"nodeGroups"`
}

// Proxy is how nodes reach what is outside.
type Proxy struct {
	HTTP  string   `json:"httpProxy,omitempty"`
	HTTPS string   `json:"httpsProxy,omitempty"`
	No    []string `json:"noProxy,omitempty"`
}

// PackagesProxy is where nodes get packages.
type PackagesProxy struct {
	Addresses []string `json:"addresses"` // host:port
	Token     string   `json:"token,omitempty"`
}

// Group is the spec of a NodeGroup with its name and what is decided for it: name, kubernetesVersion
// and cri.type are always there.
type Group map[string]any

// Name is that of the NodeGroup.
func (g Group) Name() string {
	name, _ := g["name"].(string)
	return name
}

// Parse reads the content of the Secret. It fails if it is unreadable or a group has no name.
func Parse(text []byte) (Cluster, error) {
	var c Cluster
	if err := yaml.Unmarshal(text, &c); err != nil {
		return Cluster{}, fmt.Errorf("read %s: %w", Key, err)
	}
	for i, g := range c.NodeGroups {
		if g.Name() == "" {
			return Cluster{}, fmt.Errorf("read %s: group %d has no name", Key, i)
		}
	}
	return c, nil
}

// Marshal writes the content of the Secret; equal clusters give equal text.
func (c Cluster) Marshal() ([]byte, error) {
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", Key, err)
	}
	return text, nil
}
