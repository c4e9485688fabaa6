// Package webhook judges changes of node groups that a schema cannot judge alone, and converts
// their old versions.
package webhook

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// cluster is the part of ClusterConfiguration that matters here.
type cluster struct {
	ClusterType string `json:"clusterType"`
	Cloud       struct {
		Prefix string `json:"prefix"`
	} `json:"cloud"`
	PodSubnetNodeCIDRPrefix json.Number `json:"podSubnetNodeCIDRPrefix"`
}

// provider is what is known of the cloud: the groups that dhctl makes, and the zones.
type provider struct {
	NodeGroups []struct {
		Name string `json:"name"`
	} `json:"nodeGroups"`
	Zones []string `json:"zones"`
}

// Where the installer keeps the configurations.
const (
	systemNamespace  = "kube-system"
	clusterSecret    = "d8-cluster-configuration"
	clusterKey       = "cluster-configuration.yaml"
	providerSecret   = "d8-provider-cluster-configuration"
	providerKey      = "cloud-provider-cluster-configuration.yaml"
	providerZonesKey = "cloud-provider-discovery-data.json"
)

// readCluster fails if the cluster's configuration is not there: without it nothing can be judged.
func readCluster(ctx context.Context, c client.Reader) (cluster, error) {
	secret := new(corev1.Secret)
	if err := c.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: clusterSecret}, secret); err != nil {
		return cluster{}, fmt.Errorf("get configuration of the cluster: %w", err)
	}
	var found cluster
	if err := yaml.Unmarshal(secret.Data[clusterKey], &found); err != nil {
		return cluster{}, fmt.Errorf("read configuration of the cluster: %w", err)
	}
	return found, nil
}

// readProvider is empty where there is no cloud.
func readProvider(ctx context.Context, c client.Reader) (provider, error) {
	secret := new(corev1.Secret)
	err := c.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: providerSecret}, secret)
	if apierrors.IsNotFound(err) {
		return provider{}, nil
	}
	if err != nil {
		return provider{}, fmt.Errorf("get configuration of the provider: %w", err)
	}
	var found, discovered provider
	if err := yaml.Unmarshal(secret.Data[providerKey], &found); err != nil {
		return provider{}, fmt.Errorf("read configuration of the provider: %w", err)
	}
	if err := yaml.Unmarshal(secret.Data[providerZonesKey], &discovered); err != nil {
		return provider{}, fmt.Errorf("read what is known of the provider: %w", err)
	}
	found.Zones = discovered.Zones
	return found, nil
}

// makes says whether dhctl makes the nodes of a group; those of the masters always.
func (p provider) makes(group string) bool {
	for _, g := range p.NodeGroups {
		if g.Name == group {
			return true
		}
	}
	return group == "master"
}

// customTolerations are the keys of taints that the cluster's own components tolerate besides the
// standard ones.
func customTolerations(ctx context.Context, c client.Reader) ([]string, error) {
	global := &unstructured.Unstructured{}
	global.SetAPIVersion("deckhouse.io/v1alpha1")
	global.SetKind("ModuleConfig")
	err := c.Get(ctx, client.ObjectKey{Name: "global"}, global)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get global settings: %w", err)
	}
	keys, _, err := unstructured.NestedStringSlice(global.Object, "spec", "settings", "modules", "placement", "customTolerationKeys")
	if err != nil {
		return nil, fmt.Errorf("read global settings: %w", err)
	}
	return keys, nil
}
