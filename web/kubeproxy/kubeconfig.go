package kubeproxy

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"commander/fleet"
	"commander/views/paths"
)

// kubeconfig is the file that kubectl reads, with one cluster and one user.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	Clusters       []namedCluster `json:"clusters"`
	Users          []namedUser    `json:"users"`
	Contexts       []namedContext `json:"contexts"`
	CurrentContext string         `json:"current-context"`
}

type namedCluster struct {
	Name    string `json:"name"`
	Cluster struct {
		Server string `json:"server"`
		CA     []byte `json:"certificate-authority-data,omitempty"`
	} `json:"cluster"`
}

type namedUser struct {
	Name string `json:"name"`
	User struct {
		Token string `json:"token"`
	} `json:"user"`
}

type namedContext struct {
	Name    string `json:"name"`
	Context struct {
		Cluster string `json:"cluster"`
		User    string `json:"user"`
	} `json:"context"`
}

// Kubeconfig writes the file with which kubectl reaches a cluster through Commander at address.
// caBundle is the PEM of the authorities to trust, empty for those of the machine.
func Kubeconfig(address, caBundle string, token fleet.KubeToken) ([]byte, error) {
	cluster := namedCluster{Name: token.Cluster.Name}
	cluster.Cluster.Server = strings.TrimSuffix(address, "/") + paths.Kubernetes(token.Cluster.ID.String())
	if caBundle != "" {
		cluster.Cluster.CA = []byte(caBundle)
	}
	user := namedUser{Name: "commander"}
	user.User.Token = token.Secret
	here := namedContext{Name: token.Cluster.Name}
	here.Context.Cluster, here.Context.User = cluster.Name, user.Name
	body, err := yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: here.Name,
		Clusters: []namedCluster{cluster}, Users: []namedUser{user}, Contexts: []namedContext{here},
	})
	if err != nil {
		return nil, fmt.Errorf("write a kubeconfig for cluster %s: %w", token.Cluster.ID, err)
	}
	return body, nil
}
