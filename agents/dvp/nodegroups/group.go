package nodegroups

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What other parts call their things.
const (
	Namespace    = "d8-cloud-instance-manager" // of all that is made here
	classKind    = "DVPInstanceClass"
	ephemeral    = "CloudEphemeral"
	labelGroup   = "node-group"
	labelCluster = "cluster.x-k8s.io/cluster-name"
	noZone       = "default" // stands for DVPs without zones
)

var (
	groupKind      = schema.GroupVersionKind{Group: "deckhouse.io", Version: "v1", Kind: "NodeGroup"}
	deploymentKind = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineDeployment"}
	setKind        = schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineSet"}
)

func objectOf(kind schema.GroupVersionKind) *unstructured.Unstructured {
	o := new(unstructured.Unstructured)
	o.SetGroupVersionKind(kind)
	return o
}

// group is what is read of a NodeGroup.
type group struct {
	name string
	fields
}

type fields struct {
	Spec struct {
		NodeType       string `json:"nodeType"`
		CloudInstances struct {
			ClassReference struct {
				Kind string `json:"kind"`
				Name string `json:"name"`
			} `json:"classReference"`
			MinPerZone            int64    `json:"minPerZone"`
			MaxPerZone            int64    `json:"maxPerZone"`
			Zones                 []string `json:"zones"`
			MaxUnavailablePerZone *int64   `json:"maxUnavailablePerZone"`
			MaxSurgePerZone       *int64   `json:"maxSurgePerZone"`
			QuickShutdown         bool     `json:"quickShutdown"`
		} `json:"cloudInstances"`
	} `json:"spec"`
}

func read(o *unstructured.Unstructured) (*group, error) {
	g := &group{name: o.GetName()}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &g.fields); err != nil {
		return nil, fmt.Errorf("read NodeGroup %s: %w", g.name, err)
	}
	return g, nil
}

// ordered says whether the group's machines are ordered here.
func (g *group) ordered() bool {
	return g.Spec.NodeType == ephemeral && g.Spec.CloudInstances.ClassReference.Kind == classKind
}

// zones are those of the group, or all that the provider has.
func (g *group) zones(all []string) []string {
	zones := g.Spec.CloudInstances.Zones
	if len(zones) == 0 {
		zones = all
	}
	if len(zones) == 0 {
		return []string{noZone}
	}
	zones = slices.Clone(zones)
	slices.Sort(zones)
	return slices.Compact(zones)
}

// deploymentName has a hash of the zone in it, and of the cluster, since several may share a
// namespace of Cluster API.
func deploymentName(prefix, group, clusterUUID, zone string) string {
	sum := sha256.Sum256([]byte(clusterUUID + zone))
	return strings.TrimPrefix(prefix+"-"+group+"-"+hex.EncodeToString(sum[:])[:8], "-")
}
