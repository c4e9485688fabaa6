package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VirtualMachineBlockDeviceAttachment plugs a device into a machine while the object exists.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vmbda,categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=VirtualMachine,type=string,JSONPath=`.spec.virtualMachineName`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualMachineBlockDeviceAttachment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              AttachmentSpec   `json:"spec"`
	Status            AttachmentStatus `json:"status,omitempty"`
}

// VirtualMachineBlockDeviceAttachmentList is several attachments.
//
// +kubebuilder:object:root=true
type VirtualMachineBlockDeviceAttachmentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineBlockDeviceAttachment `json:"items"`
}

// AttachmentSpec says what is plugged into which machine.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of an attachment cannot be changed"
type AttachmentSpec struct {
	// +kubebuilder:validation:MinLength=1
	VirtualMachineName string              `json:"virtualMachineName"`
	BlockDeviceRef     AttachmentDeviceRef `json:"blockDeviceRef"`
}

// AttachmentDeviceRef names the device.
type AttachmentDeviceRef struct {
	// +kubebuilder:validation:Enum=VirtualDisk;VirtualImage;ClusterVirtualImage
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// AttachmentStatus is how far the plugging has come.
type AttachmentStatus struct {
	Phase              AttachmentPhase `json:"phase,omitempty"`
	VirtualMachineName string          `json:"virtualMachineName,omitempty"` // once it is attached
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// AttachmentPhase sums an attachment up.
//
// +kubebuilder:validation:Enum=Pending;InProgress;Attached;Failed;Terminating
type AttachmentPhase string

// The phases of an attachment.
const (
	AttachmentPhasePending     AttachmentPhase = "Pending"
	AttachmentPhaseInProgress  AttachmentPhase = "InProgress"
	AttachmentPhaseAttached    AttachmentPhase = "Attached"
	AttachmentPhaseFailed      AttachmentPhase = "Failed"
	AttachmentPhaseTerminating AttachmentPhase = "Terminating"
)
