package config

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// clusterAPIVersion is the version of ClusterConfiguration and InitConfiguration.
const clusterAPIVersion = "deckhouse.io/v1"

// Cluster is a ClusterConfiguration with its defaults filled in.
type Cluster struct {
	APIVersion              string `json:"apiVersion"`
	Kind                    string `json:"kind"`
	ClusterType             string `json:"clusterType"`
	Cloud                   *Cloud `json:"cloud,omitempty"`
	PodSubnetCIDR           string `json:"podSubnetCIDR"`
	PodSubnetNodeCIDRPrefix string `json:"podSubnetNodeCIDRPrefix"`
	ServiceSubnetCIDR       string `json:"serviceSubnetCIDR"`
	KubernetesVersion       string `json:"kubernetesVersion"`
	ClusterDomain           string `json:"clusterDomain"`
	DefaultCRI              string `json:"defaultCRI,omitempty"`
	EncryptionAlgorithm     string `json:"encryptionAlgorithm,omitempty"`
	Proxy                   *Proxy `json:"proxy,omitempty"`

	// Document is the ClusterConfiguration alone, as it was written.
	Document string `json:"-"`
}

// Cloud names the provider and begins the names of what is made there.
type Cloud struct {
	Provider string `json:"provider"`
	Prefix   string `json:"prefix"`
}

// Proxy is how nodes reach the outside.
type Proxy struct {
	HTTPProxy  string   `json:"httpProxy,omitempty"`
	HTTPSProxy string   `json:"httpsProxy,omitempty"`
	NoProxy    []string `json:"noProxy,omitempty"`
}

var (
	prefixForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,29}[a-z0-9])?$`)
	domainForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)
	versionForm = regexp.MustCompile(`^1\.\d{1,3}$`)
)

// ParseCluster finds the ClusterConfiguration among the documents, fills in defaults and checks
// it. The error names every field that is wrong.
func ParseCluster(text string, strict bool) (Cluster, error) {
	doc, err := only(text, "ClusterConfiguration")
	if err != nil {
		return Cluster{}, err
	}
	var c Cluster
	if err := decode(doc.Raw, strict, &c); err != nil {
		return Cluster{}, fmt.Errorf("ClusterConfiguration: %w", err)
	}
	c.Document = string(doc.Raw)
	if c.ClusterDomain == "" {
		c.ClusterDomain = "cluster.local"
	}
	if c.PodSubnetNodeCIDRPrefix == "" {
		c.PodSubnetNodeCIDRPrefix = "24"
	}
	if err := c.check(); err != nil {
		return Cluster{}, fmt.Errorf("ClusterConfiguration: %w", err)
	}
	return c, nil
}

// Provider is the kind of cluster: the cloud's provider, or Static.
func (c Cluster) Provider() string {
	if c.Cloud == nil {
		return c.ClusterType
	}
	return c.Cloud.Provider
}

func (c Cluster) check() error {
	var all []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	need(c.APIVersion == clusterAPIVersion, "apiVersion: %q is not %s", c.APIVersion, clusterAPIVersion)
	switch c.ClusterType {
	case "Cloud":
		if need(c.Cloud != nil, "cloud: required when clusterType is Cloud"); c.Cloud != nil {
			need(c.Cloud.Provider != "", "cloud.provider: required")
			need(prefixForm.MatchString(c.Cloud.Prefix), "cloud.prefix: %q must be up to 31 small letters, digits and hyphens", c.Cloud.Prefix)
		}
	case "Static":
		need(c.Cloud == nil, "cloud: not allowed when clusterType is Static")
	default:
		need(false, "clusterType: %q is neither Cloud nor Static", c.ClusterType)
	}
	need(versionForm.MatchString(c.KubernetesVersion), "kubernetesVersion: %q is not a version like 1.37", c.KubernetesVersion)
	need(domainForm.MatchString(c.ClusterDomain), "clusterDomain: %q is not a domain", c.ClusterDomain)
	all = append(all, c.checkSubnets())
	return errors.Join(all...)
}

func (c Cluster) checkSubnets() error {
	pods, err := subnet("podSubnetCIDR", c.PodSubnetCIDR)
	if err != nil {
		return err
	}
	services, err := subnet("serviceSubnetCIDR", c.ServiceSubnetCIDR)
	if err != nil {
		return err
	}
	if pods.Overlaps(services) {
		return fmt.Errorf("serviceSubnetCIDR: %s overlaps podSubnetCIDR %s", services, pods)
	}
	bits, err := strconv.Atoi(c.PodSubnetNodeCIDRPrefix)
	if err != nil || bits < pods.Bits() || bits > pods.Addr().BitLen() {
		return fmt.Errorf("podSubnetNodeCIDRPrefix: %q does not fit podSubnetCIDR %s", c.PodSubnetNodeCIDRPrefix, pods)
	}
	return nil
}

func subnet(field, text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%s: %q is not a subnet like 10.111.0.0/16", field, text)
	}
	if p != p.Masked() {
		return netip.Prefix{}, fmt.Errorf("%s: %s has bits after its prefix; did you mean %s?", field, p, p.Masked())
	}
	return p, nil
}

// Minor is the second number of the Kubernetes version.
func (c Cluster) Minor() int {
	_, minor, _ := strings.Cut(c.KubernetesVersion, ".")
	n, _ := strconv.Atoi(minor) // the form was checked
	return n
}
