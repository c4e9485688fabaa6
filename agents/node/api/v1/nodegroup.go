package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeType says who makes the nodes of a group and how long they live.
// +kubebuilder:validation:Enum=CloudEphemeral;CloudPermanent;CloudStatic;Static
type NodeType string

// Types of nodes.
const (
	CloudEphemeral NodeType = "CloudEphemeral" // made and removed by a controller in the cluster
	CloudPermanent NodeType = "CloudPermanent" // made and removed by dhctl
	CloudStatic    NodeType = "CloudStatic"    // made by hand in the cloud of the cluster
	Static         NodeType = "Static"         // made by hand elsewhere
)

// NodeGroup is a set of nodes that are configured alike.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=ng
// +kubebuilder:printcolumn:name=Type,type=string,JSONPath=`.spec.nodeType`
// +kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name=Nodes,type=integer,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name=UpToDate,type=integer,JSONPath=`.status.upToDate`
// +kubebuilder:printcolumn:name=Instances,type=integer,JSONPath=`.status.instances`
// +kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=`.status.desired`
// +kubebuilder:printcolumn:name=Min,type=integer,JSONPath=`.status.min`
// +kubebuilder:printcolumn:name=Max,type=integer,JSONPath=`.status.max`
// +kubebuilder:printcolumn:name=Standby,type=integer,JSONPath=`.status.standby`
// +kubebuilder:printcolumn:name=Status,type=string,JSONPath=`.status.conditionSummary.statusMessage`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$') && size(self.metadata.name) <= 42",message="the name must be at most 42 lower-case letters, digits and dashes, without dots"
type NodeGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NodeGroupSpec   `json:"spec"`
	Status            NodeGroupStatus `json:"status,omitempty"`
}

// NodeGroupList is several groups.
//
// +kubebuilder:object:root=true
type NodeGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeGroup `json:"items"`
}

// NodeGroupSpec is how the nodes of a group shall be.
//
// +kubebuilder:validation:XValidation:rule="self.nodeType == oldSelf.nodeType",message="nodeType cannot be changed"
// +kubebuilder:validation:XValidation:rule="self.nodeType != 'CloudEphemeral' || has(self.cloudInstances)",message="CloudEphemeral needs cloudInstances"
// +kubebuilder:validation:XValidation:rule="!has(self.cloudInstances) || self.nodeType in ['CloudEphemeral', 'CloudPermanent']",message="cloudInstances is not for CloudStatic and Static"
// +kubebuilder:validation:XValidation:rule="!has(self.staticInstances) || self.nodeType in ['CloudStatic', 'Static']",message="staticInstances is only for CloudStatic and Static"
// +kubebuilder:validation:XValidation:rule="!has(self.disruptions) || self.disruptions.approvalMode != 'RollingUpdate' || self.nodeType == 'CloudEphemeral'",message="RollingUpdate is only for CloudEphemeral"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.staticInstances) || !has(oldSelf.staticInstances.labelSelector) || (has(self.staticInstances) && has(self.staticInstances.labelSelector) && self.staticInstances.labelSelector == oldSelf.staticInstances.labelSelector)",message="labelSelector can be added but not changed"
// +kubebuilder:validation:XValidation:rule="(has(self.osType) ? self.osType : 'Mutable') == (has(oldSelf.osType) ? oldSelf.osType : 'Mutable')",message="osType cannot be changed"
type NodeGroupSpec struct {
	NodeType          NodeType `json:"nodeType"`
	NodeGroupSettings `json:",inline"`
}
