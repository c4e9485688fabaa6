package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "commander/agents/node/api/v1"
)

// NodeType before permanent and static cloud nodes were told apart.
// +kubebuilder:validation:Enum=Cloud;Static;Hybrid
type NodeType string

// Types of nodes.
const (
	Cloud  NodeType = "Cloud"
	Static NodeType = "Static"
	Hybrid NodeType = "Hybrid"
)

// ToV1 is the stored type. Hybrid means either of two: permanent says whether dhctl makes the
// nodes of a group with that name.
func (t NodeType) ToV1(group string, permanent func(name string) bool) v1.NodeType {
	switch {
	case t == Cloud:
		return v1.CloudEphemeral
	case t == Static:
		return v1.Static
	case permanent(group):
		return v1.CloudPermanent
	default:
		return v1.CloudStatic
	}
}

// NodeTypeOf is the old name of a type.
func NodeTypeOf(t v1.NodeType) NodeType {
	switch t {
	case v1.CloudEphemeral:
		return Cloud
	case v1.Static:
		return Static
	default:
		return Hybrid
	}
}

// NodeGroup with the old types of nodes.
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

// NodeGroupSpec differs from the stored version in the types of nodes only.
type NodeGroupSpec struct {
	NodeType             NodeType `json:"nodeType"`
	v1.NodeGroupSettings `json:",inline"`
}

// ToV1 fills a group of the stored version.
func (g *NodeGroup) ToV1(to *v1.NodeGroup, permanent func(name string) bool) {
	to.ObjectMeta = *g.ObjectMeta.DeepCopy()
	to.Spec.NodeType = g.Spec.NodeType.ToV1(g.Name, permanent)
	to.Spec.NodeGroupSettings = *g.Spec.NodeGroupSettings.DeepCopy()
	to.Status = *g.Status.DeepCopy()
}

// FromV1 fills the group from the stored version.
func (g *NodeGroup) FromV1(from *v1.NodeGroup) {
	g.ObjectMeta = *from.ObjectMeta.DeepCopy()
	g.Spec.NodeType = NodeTypeOf(from.Spec.NodeType)
	g.Spec.NodeGroupSettings = *from.Spec.NodeGroupSettings.DeepCopy()
	g.Status = *from.Status.DeepCopy()
}
