package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeckhouseControlPlane says to Cluster API that the control plane is there, made by others: Cluster
// API counts no machine as available before it knows that.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=deckhousecontrolplanes,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="heritage=deckhouse"
// +kubebuilder:metadata:labels="module=cloud-provider-dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
type DeckhouseControlPlane struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeckhouseControlPlaneSpec   `json:"spec,omitempty"`
	Status            DeckhouseControlPlaneStatus `json:"status,omitempty"`
}

// DeckhouseControlPlaneList is a list of control planes.
//
// +kubebuilder:object:root=true
type DeckhouseControlPlaneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DeckhouseControlPlane `json:"items"`
}

// DeckhouseControlPlaneSpec is empty: nothing is wanted.
type DeckhouseControlPlaneSpec struct{}

// DeckhouseControlPlaneStatus says that it is there.
type DeckhouseControlPlaneStatus struct {
	Ready                       bool                        `json:"ready,omitempty"`
	Initialized                 bool                        `json:"initialized,omitempty"`
	ExternalManagedControlPlane bool                        `json:"externalManagedControlPlane,omitempty"`
	Initialization              *ControlPlaneInitialization `json:"initialization,omitempty"`
}

// ControlPlaneInitialization tells Cluster API that it can go on.
type ControlPlaneInitialization struct {
	ControlPlaneInitialized *bool `json:"controlPlaneInitialized,omitempty"`
}
