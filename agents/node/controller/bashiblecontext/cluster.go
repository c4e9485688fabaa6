package bashiblecontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"commander/agents/node/api"
	"commander/agents/node/bashible/input"
)

// Where the parts of a cluster describe themselves.
const (
	systemNamespace  = "kube-system"
	clusterSecret    = "d8-cluster-configuration"
	clusterKey       = "cluster-configuration.yaml"
	authorityMap     = "kube-root-ca.crt"
	authorityKey     = "ca.crt"
	identityMap      = "d8-cluster-uuid"
	identityKey      = "cluster-uuid"
	packagesApp      = "registry-packages-proxy"
	packagesToken    = "registry-packages-proxy-token"
	packagesPort     = "4219"
	automaticVersion = "Automatic"
)

// configuration is the part of ClusterConfiguration that nodes depend on.
type configuration struct {
	Cloud struct {
		Provider string `json:"provider"`
	} `json:"cloud"`
	PodSubnetNodeCIDRPrefix string       `json:"podSubnetNodeCIDRPrefix"`
	ServiceSubnetCIDR       string       `json:"serviceSubnetCIDR"`
	KubernetesVersion       string       `json:"kubernetesVersion"`
	ClusterDomain           string       `json:"clusterDomain"`
	DefaultCRI              string       `json:"defaultCRI"`
	Proxy                   *input.Proxy `json:"proxy"`
}

// readCluster gathers all but the groups. It fails if what no node can do without is missing.
func (r *Reconciler) readCluster(ctx context.Context) (input.Cluster, configuration, error) {
	var c input.Cluster
	var config configuration
	secret := new(corev1.Secret)
	if err := r.Direct.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: clusterSecret}, secret); err != nil {
		return c, config, fmt.Errorf("get configuration of the cluster: %w", err)
	}
	if err := yaml.Unmarshal(secret.Data[clusterKey], &config); err != nil {
		return c, config, fmt.Errorf("read configuration of the cluster: %w", err)
	}
	c.Domain, c.PodSubnetNodeCIDRPrefix, c.Proxy = config.ClusterDomain, config.PodSubnetNodeCIDRPrefix, config.Proxy
	if config.Cloud.Provider != "" {
		c.CloudProvider = map[string]any{"type": strings.ToLower(config.Cloud.Provider)}
	}
	var err error
	if c.DNSAddress, err = dnsAddress(config.ServiceSubnetCIDR); err != nil {
		return c, config, err
	}
	if c.KubernetesVersion = config.KubernetesVersion; c.KubernetesVersion == "" || c.KubernetesVersion == automaticVersion {
		if c.KubernetesVersion, err = r.Version(); err != nil {
			return c, config, fmt.Errorf("ask version of API server: %w", err)
		}
	}
	if c.CA, err = r.fromMap(ctx, authorityMap, authorityKey); err != nil {
		return c, config, err
	}
	if c.CA == "" {
		return c, config, fmt.Errorf("config map %s/%s has no %s: a node could not trust the API server", systemNamespace, authorityMap, authorityKey)
	}
	if c.UUID, err = r.fromMap(ctx, identityMap, identityKey); err != nil {
		return c, config, err
	}
	if c.APIServerEndpoints, err = r.endpoints(ctx); err != nil {
		return c, config, err
	}
	if len(c.APIServerEndpoints) == 0 {
		return c, config, errors.New("the service default/kubernetes has no endpoints: a node could not find the API server")
	}
	c.PackagesProxy, err = r.packages(ctx)
	return c, config, err
}

// dnsAddress is the tenth address of the services' network: where a cluster's DNS is by convention.
func dnsAddress(cidr string) (string, error) {
	prefix, err := netip.ParsePrefix(cidr)
	if err != nil {
		return "", fmt.Errorf("read serviceSubnetCIDR: %w", err)
	}
	address := prefix.Masked().Addr()
	for range 10 {
		address = address.Next()
	}
	return address.String(), nil
}

// fromMap is empty if there is no such map.
func (r *Reconciler) fromMap(ctx context.Context, name, key string) (string, error) {
	found := new(corev1.ConfigMap)
	err := r.Direct.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: name}, found)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("get config map %s: %w", name, err)
	}
	return found.Data[key], nil
}

func (r *Reconciler) endpoints(ctx context.Context) ([]string, error) {
	slicesOf := new(discoveryv1.EndpointSliceList)
	if err := r.Direct.List(ctx, slicesOf, client.InNamespace("default"), client.MatchingLabels{discoveryv1.LabelServiceName: "kubernetes"}); err != nil {
		return nil, fmt.Errorf("list endpoints of the API server: %w", err)
	}
	var all []string
	for _, s := range slicesOf.Items {
		for _, port := range s.Ports {
			for _, endpoint := range s.Endpoints {
				for _, address := range endpoint.Addresses {
					if port.Port != nil {
						all = append(all, net.JoinHostPort(address, strconv.Itoa(int(*port.Port))))
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// packages are the addresses of the package servers that run, and the token that they ask for.
func (r *Reconciler) packages(ctx context.Context) (input.PackagesProxy, error) {
	var p input.PackagesProxy
	pods := new(corev1.PodList)
	if err := r.Direct.List(ctx, pods, client.InNamespace(api.Namespace), client.MatchingLabels{"app": packagesApp}); err != nil {
		return p, fmt.Errorf("list package servers: %w", err)
	}
	for _, pod := range pods.Items {
		if pod.Status.HostIP != "" && pod.DeletionTimestamp == nil {
			p.Addresses = append(p.Addresses, net.JoinHostPort(pod.Status.HostIP, packagesPort))
		}
	}
	slices.Sort(p.Addresses)
	p.Addresses = slices.Compact(p.Addresses)
	secret := new(corev1.Secret)
	err := r.Direct.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: packagesToken}, secret)
	if err != nil && !apierrors.IsNotFound(err) {
		return p, fmt.Errorf("get token of package servers: %w", err)
	}
	p.Token = string(secret.Data["token"])
	return p, nil
}

// plain is a value as JSON has it.
func plain(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	m := map[string]any{}
	return m, json.Unmarshal(raw, &m)
}
