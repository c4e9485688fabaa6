package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FinalizerCluster keeps a DeckhouseCluster until nothing of the cluster is left in DVP.
const FinalizerCluster = "deckhousecluster.infrastructure.cluster.x-k8s.io"

// DeckhouseCluster is a cluster whose machines are in a project of DVP.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=deckhouseclusters,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="heritage=deckhouse"
// +kubebuilder:metadata:labels="module=cloud-provider-dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
type DeckhouseCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeckhouseClusterSpec   `json:"spec,omitempty"`
	Status            DeckhouseClusterStatus `json:"status,omitempty"`
}

// DeckhouseClusterList is a list of clusters.
//
// +kubebuilder:object:root=true
type DeckhouseClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DeckhouseCluster `json:"items"`
}

// DeckhouseClusterSpec is what is wanted of a cluster.
type DeckhouseClusterSpec struct {
	// ControlPlaneEndpoint is where the cluster's API server is. It is found if it is not given.
	ControlPlaneEndpoint *Endpoint `json:"controlPlaneEndpoint,omitempty"`
}

// Endpoint is an address of an API server.
type Endpoint struct {
	Host string `json:"host"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`
}

// DeckhouseClusterStatus is how a cluster is.
type DeckhouseClusterStatus struct {
	Ready          bool               `json:"ready,omitempty"`
	Initialization *Initialization    `json:"initialization,omitempty"`
	FailureReason  string             `json:"failureReason,omitempty"`
	FailureMessage string             `json:"failureMessage,omitempty"`
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
}

// Initialization tells Cluster API that it can go on.
type Initialization struct {
	Provisioned *bool `json:"provisioned,omitempty"`
}
