package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VirtualMachineOperation does one thing to a machine, once.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vmop,categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Type,type=string,JSONPath=`.spec.type`
// +kubebuilder:printcolumn:name=VirtualMachine,type=string,JSONPath=`.spec.virtualMachineName`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualMachineOperation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              OperationSpec   `json:"spec"`
	Status            OperationStatus `json:"status,omitempty"`
}

// VirtualMachineOperationList is several operations.
//
// +kubebuilder:object:root=true
type VirtualMachineOperationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineOperation `json:"items"`
}

// OperationSpec says what to do to which machine.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of an operation cannot be changed"
// +kubebuilder:validation:XValidation:rule="self.type != 'Start' || !has(self.force) || !self.force",message="force is not for Start"
type OperationSpec struct {
	// +kubebuilder:validation:Enum=Start;Stop;Restart;Migrate;Evict
	Type OperationType `json:"type"`
	// +kubebuilder:validation:MinLength=1
	VirtualMachineName string         `json:"virtualMachineName"`
	Force              *bool          `json:"force,omitempty"`
	Migrate            *MigrateTarget `json:"migrate,omitempty"`
}

// OperationType is what to do. DVP also knows Restore and Clone.
type OperationType string

// The types of operations.
const (
	OperationStart   OperationType = "Start"
	OperationStop    OperationType = "Stop"
	OperationRestart OperationType = "Restart"
	OperationMigrate OperationType = "Migrate"
	OperationEvict   OperationType = "Evict"
)

// MigrateTarget says where to.
type MigrateTarget struct {
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
}

// OperationStatus is how far it has come.
type OperationStatus struct {
	Phase OperationPhase `json:"phase,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// OperationPhase sums an operation up.
//
// +kubebuilder:validation:Enum=Pending;InProgress;Completed;Failed;Terminating;Superseded
type OperationPhase string

// The phases of an operation.
const (
	OperationPhasePending     OperationPhase = "Pending"
	OperationPhaseInProgress  OperationPhase = "InProgress"
	OperationPhaseCompleted   OperationPhase = "Completed"
	OperationPhaseFailed      OperationPhase = "Failed"
	OperationPhaseTerminating OperationPhase = "Terminating"
	OperationPhaseSuperseded  OperationPhase = "Superseded"
)

// Finished says that nothing more will happen.
func (p OperationPhase) Finished() bool {
	return p == OperationPhaseCompleted || p == OperationPhaseFailed || p == OperationPhaseSuperseded
}
