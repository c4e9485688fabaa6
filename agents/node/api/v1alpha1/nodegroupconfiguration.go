package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeGroupConfiguration is a script of the user's own that bashible runs among its steps.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name=Weight,type=integer,JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name=NodeGroups,type=string,JSONPath=`.spec.nodeGroups`
// +kubebuilder:printcolumn:name=Bundles,type=string,JSONPath=`.spec.bundles`
type NodeGroupConfiguration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              NodeGroupConfigurationSpec `json:"spec"`
}

// NodeGroupConfigurationList is several scripts.
//
// +kubebuilder:object:root=true
type NodeGroupConfigurationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeGroupConfiguration `json:"items"`
}

// NodeGroupConfigurationSpec is the script and where it runs.
type NodeGroupConfigurationSpec struct {
	// Content is bash, rendered as a Go template.
	// +kubebuilder:validation:MinLength=1
	Content string `json:"content"`
	// Weight orders the scripts; small ones run first.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=999
	// +kubebuilder:default=100
	Weight int32 `json:"weight,omitempty"`
	// NodeGroups that run it; "*" means all.
	NodeGroups []string `json:"nodeGroups"`
	// Bundles are names of operating systems; "*" means all.
	Bundles []string `json:"bundles"`
}
