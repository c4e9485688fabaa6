package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha2"
)

// NodeGroup as it was first.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ng
type NodeGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NodeGroupSpec      `json:"spec"`
	Status            v1.NodeGroupStatus `json:"status,omitempty"`
}

// NodeGroupList is several groups.
//
// +kubebuilder:object:root=true
type NodeGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeGroup `json:"items"`
}

// NodeGroupSpec has settings that no later version knows.
type NodeGroupSpec struct {
	NodeType             v1alpha2.NodeType `json:"nodeType"`
	v1.NodeGroupSettings `json:",inline"`
	// KubernetesVersion is decided for the whole cluster now and has no effect.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Static is decided for the whole cluster now and has no effect.
	Static *Static `json:"static,omitempty"`
	// Docker moved into cri.
	Docker *v1.Docker `json:"docker,omitempty"`
}

// Static tells which networks are internal.
type Static struct {
	InternalNetworkCIDRs []string `json:"internalNetworkCIDRs,omitempty"`
}

// ToV1 fills a group of the stored version; permanent is as in v1alpha2.
func (g *NodeGroup) ToV1(to *v1.NodeGroup, permanent func(name string) bool) {
	to.ObjectMeta = *g.ObjectMeta.DeepCopy()
	to.Spec.NodeType = g.Spec.NodeType.ToV1(g.Name, permanent)
	to.Spec.NodeGroupSettings = *g.Spec.NodeGroupSettings.DeepCopy()
	if docker := g.Spec.Docker; docker != nil {
		if to.Spec.CRI == nil {
			to.Spec.CRI = &v1.CRI{Type: "Docker"}
		}
		if to.Spec.CRI.Docker == nil {
			to.Spec.CRI.Docker = docker.DeepCopy()
		}
	}
	to.Status = *g.Status.DeepCopy()
}

// FromV1 fills the group from the stored version. Docker stays in cri, where this version may
// have it too.
func (g *NodeGroup) FromV1(from *v1.NodeGroup) {
	g.ObjectMeta = *from.ObjectMeta.DeepCopy()
	g.Spec.NodeType = v1alpha2.NodeTypeOf(from.Spec.NodeType)
	g.Spec.NodeGroupSettings = *from.Spec.NodeGroupSettings.DeepCopy()
	g.Status = *from.Status.DeepCopy()
}
