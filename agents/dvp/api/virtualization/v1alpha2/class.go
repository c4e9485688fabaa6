package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// VirtualMachineClass is a kind of processor and the sizes in which it is given.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=virtualmachineclasses,singular=virtualmachineclass,scope=Cluster,shortName={vmc,vmclass},categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
type VirtualMachineClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClassSpec   `json:"spec"`
	Status            ClassStatus `json:"status,omitempty"`
}

// VirtualMachineClassList is several classes.
//
// +kubebuilder:object:root=true
type VirtualMachineClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachineClass `json:"items"`
}

// ClassSpec is what a class offers and where.
type ClassSpec struct {
	NodeSelector *ClassNodeSelector  `json:"nodeSelector,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
	CPU          ClassCPU            `json:"cpu"`
	// +kubebuilder:validation:MaxItems=16
	SizingPolicies []SizingPolicy `json:"sizingPolicies,omitempty"`
}

// ClassNodeSelector picks nodes of the parent cluster.
type ClassNodeSelector struct {
	MatchLabels      map[string]string                `json:"matchLabels,omitempty"`
	MatchExpressions []corev1.NodeSelectorRequirement `json:"matchExpressions,omitempty"`
}

// ClassCPU is the processor that the guest sees.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the processor of a class cannot be changed"
type ClassCPU struct {
	// +kubebuilder:validation:Enum=Host;HostPassthrough;Discovery;Model;Features
	Type     string   `json:"type"`
	Model    string   `json:"model,omitempty"`
	Features []string `json:"features,omitempty"`
}

// SizingPolicy is the sizes that machines with so many cores may have.
type SizingPolicy struct {
	Cores         SizingCores   `json:"cores"`
	Memory        *SizingMemory `json:"memory,omitempty"`
	CoreFractions []Percent     `json:"coreFractions,omitempty"`
	// DefaultCoreFraction is a number of percent or Auto.
	DefaultCoreFraction *intstr.IntOrString `json:"defaultCoreFraction,omitempty"`
	DedicatedCores      []bool              `json:"dedicatedCores,omitempty"`
}

// Percent of a core.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=100
type Percent int

// SizingCores is the range of cores to which a policy speaks; both ends belong to it.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",message="min must not be more than max"
type SizingCores struct {
	// +kubebuilder:validation:Minimum=1
	Min int `json:"min"`
	// +kubebuilder:validation:Minimum=1
	Max int `json:"max"`
	// Step is the grid from Min on.
	// +kubebuilder:validation:Minimum=1
	Step int `json:"step,omitempty"`
}

// SizingMemory is the memory of a machine, or of each of its cores.
type SizingMemory struct {
	Min     *resource.Quantity `json:"min,omitempty"`
	Max     *resource.Quantity `json:"max,omitempty"`
	Step    *resource.Quantity `json:"step,omitempty"`
	PerCore *SizingPerCore     `json:"perCore,omitempty"`
}

// SizingPerCore is the memory for each core.
type SizingPerCore struct {
	Min *resource.Quantity `json:"min,omitempty"`
	Max *resource.Quantity `json:"max,omitempty"`
}

// ClassStatus is where a class can be had.
type ClassStatus struct {
	// +kubebuilder:validation:Enum=Pending;Ready;Terminating
	Phase          string   `json:"phase,omitempty"`
	AvailableNodes []string `json:"availableNodes,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// The phases of a class.
const (
	ClassPhasePending     = "Pending"
	ClassPhaseReady       = "Ready"
	ClassPhaseTerminating = "Terminating"
)
