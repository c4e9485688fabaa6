package v1alpha2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Instance is a machine, whoever made it.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name=Status,type=string,JSONPath=`.status.currentStatus.phase`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type Instance struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            InstanceStatus `json:"status,omitempty"`
}

// InstanceList is several machines.
//
// +kubebuilder:object:root=true
type InstanceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Instance `json:"items"`
}

// InstanceStatus is written by several: each owns its part.
type InstanceStatus struct {
	NodeRef         *NodeRef         `json:"nodeRef,omitempty"`
	ClassReference  *ClassReference  `json:"classReference,omitempty"`
	MachineRef      *MachineRef      `json:"machineRef,omitempty"`
	CurrentStatus   *CurrentStatus   `json:"currentStatus,omitempty"`
	LastOperation   *LastOperation   `json:"lastOperation,omitempty"`
	BootstrapStatus *BootstrapStatus `json:"bootstrapStatus,omitempty"`
	// Conditions BashibleReady, WaitingApproval and WaitingDisruptionApproval are applied by the
	// node as field manager bashible.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeRef names the machine's Node.
type NodeRef struct {
	Name string `json:"name,omitempty"`
}

// ClassReference names the shape of the machine.
type ClassReference struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
}

// MachineRef names the object of the engine that made the machine.
type MachineRef struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Name       string `json:"name,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
}

// CurrentStatus is where the machine is in its life.
type CurrentStatus struct {
	Phase          string       `json:"phase,omitempty"`
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
}

// LastOperation is what was last done to the machine.
type LastOperation struct {
	Description    string       `json:"description,omitempty"`
	LastUpdateTime *metav1.Time `json:"lastUpdateTime,omitempty"`
	State          string       `json:"state,omitempty"`
	Type           string       `json:"type,omitempty"`
}

// BootstrapStatus says where to read the log of the first run.
type BootstrapStatus struct {
	LogsEndpoint string `json:"logsEndpoint,omitempty"`
	Description  string `json:"description,omitempty"`
}
