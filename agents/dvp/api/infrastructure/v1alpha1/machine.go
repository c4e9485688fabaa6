package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FinalizerMachine keeps a DeckhouseMachine until its VirtualMachine is gone.
const FinalizerMachine = "deckhousemachine.infrastructure.cluster.x-k8s.io"

// DeckhouseMachine is a machine of a cluster: a VirtualMachine of the same name in DVP.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=deckhousemachines,scope=Namespaced,categories=cluster-api
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="heritage=deckhouse"
// +kubebuilder:metadata:labels="module=cloud-provider-dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
// +kubebuilder:printcolumn:name="ProviderID",type="string",JSONPath=".spec.providerID"
// +kubebuilder:printcolumn:name="Ready",type="boolean",JSONPath=".status.ready"
// +kubebuilder:printcolumn:name="Why",type="string",JSONPath=".status.conditions[?(@.type=='VirtualMachineReady')].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type DeckhouseMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeckhouseMachineSpec   `json:"spec"`
	Status            DeckhouseMachineStatus `json:"status,omitempty"`
}

// DeckhouseMachineList is a list of machines.
//
// +kubebuilder:object:root=true
type DeckhouseMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DeckhouseMachine `json:"items"`
}

// DeckhouseMachineSpec is what is wanted of a machine.
type DeckhouseMachineSpec struct {
	// ProviderID is dvp:// and the name of the VirtualMachine. It is set once, when that runs.
	// +kubebuilder:validation:MaxLength=512
	ProviderID       string `json:"providerID,omitempty"`
	MachineResources `json:",inline"`
}

// MachineResources is what machines are made of.
type MachineResources struct {
	// VMClassName names a VirtualMachineClass of DVP.
	// +kubebuilder:validation:MinLength=1
	VMClassName string `json:"vmClassName"`
	// +kubebuilder:default={}
	CPU CPU `json:"cpu,omitempty"`
	// +kubebuilder:default="8Gi"
	Memory resource.Quantity `json:"memory,omitempty"`
	// RootDiskSize is that of the disk that the machine boots from, made of the image.
	RootDiskSize resource.Quantity `json:"rootDiskSize"`
	// +kubebuilder:validation:MinLength=1
	RootDiskStorageClass string `json:"rootDiskStorageClass"`
	// +kubebuilder:validation:MaxItems=15
	AdditionalDisks  []AdditionalDisk `json:"additionalDisks,omitempty"`
	BootDiskImageRef ImageRef         `json:"bootDiskImageRef"`
	// +kubebuilder:validation:Enum=BIOS;EFI;EFIWithSecureBoot
	// +kubebuilder:default=EFI
	Bootloader string `json:"bootloader,omitempty"`
	// +kubebuilder:validation:Enum=AlwaysOn;AlwaysOff;Manual;AlwaysOnUnlessStoppedManually
	// +kubebuilder:default=AlwaysOnUnlessStoppedManually
	RunPolicy string `json:"runPolicy,omitempty"`
	// LiveMigrationPolicy is PreferForced for machines of the control plane and PreferSafe for
	// others if it is not given. Manual and Never, which DVP refuses, are refused here.
	// +kubebuilder:validation:Enum=AlwaysSafe;PreferSafe;AlwaysForced;PreferForced
	LiveMigrationPolicy string `json:"liveMigrationPolicy,omitempty"`
	// +kubebuilder:validation:MaxItems=16
	GPUs []GPU `json:"gpus,omitempty"`
	// AdditionalVMLabels are put on the VirtualMachine besides those by which it is known.
	AdditionalVMLabels      map[string]string `json:"additionalVMLabels,omitempty"`
	AdditionalVMAnnotations map[string]string `json:"additionalVMAnnotations,omitempty"`
	// NodeSelector, PriorityClassName and Tolerations say where in DVP the machine may run.
	NodeSelector      map[string]string   `json:"nodeSelector,omitempty"`
	PriorityClassName string              `json:"priorityClassName,omitempty"`
	Tolerations       []corev1.Toleration `json:"tolerations,omitempty"`
}

// CPU is the processors of a machine.
type CPU struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=4
	Cores int `json:"cores,omitempty"`
	// CPUFraction is the guaranteed share of each core.
	// +kubebuilder:validation:Pattern=`^100%$|^[1-9][0-9]?%$`
	// +kubebuilder:default="100%"
	CPUFraction string `json:"cpuFraction,omitempty"`
}

// AdditionalDisk is a blank disk that belongs to a machine.
type AdditionalDisk struct {
	Size resource.Quantity `json:"size"`
	// +kubebuilder:validation:MinLength=1
	StorageClass string `json:"storageClass"`
}

// ImageRef names an image of DVP.
type ImageRef struct {
	// +kubebuilder:validation:Enum=ClusterVirtualImage;VirtualImage
	// +kubebuilder:default=VirtualImage
	Kind string `json:"kind,omitempty"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// GPU is a device of a class of DVP.
type GPU struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	GPUClassName string `json:"gpuClassName"`
}

// DeckhouseMachineStatus is how a machine is.
type DeckhouseMachineStatus struct {
	Ready          bool               `json:"ready,omitempty"`
	Addresses      []Address          `json:"addresses,omitempty"`
	Initialization *Initialization    `json:"initialization,omitempty"`
	FailureReason  string             `json:"failureReason,omitempty"`
	FailureMessage string             `json:"failureMessage,omitempty"`
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
}

// Address is one of a machine.
type Address struct {
	Type    string `json:"type"` // Hostname, InternalDNS, InternalIP or ExternalIP
	Address string `json:"address"`
}

// DeckhouseMachineTemplate is what Cluster API makes machines of.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=deckhousemachinetemplates,scope=Namespaced,categories=cluster-api
// +kubebuilder:metadata:labels="heritage=deckhouse"
// +kubebuilder:metadata:labels="module=cloud-provider-dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/provider=dvp"
// +kubebuilder:metadata:labels="cluster.x-k8s.io/v1beta2=v1alpha1"
type DeckhouseMachineTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DeckhouseMachineTemplateSpec `json:"spec"`
}

// DeckhouseMachineTemplateList is a list of templates.
//
// +kubebuilder:object:root=true
type DeckhouseMachineTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DeckhouseMachineTemplate `json:"items"`
}

// DeckhouseMachineTemplateSpec holds the template.
type DeckhouseMachineTemplateSpec struct {
	Template MachineTemplate `json:"template"`
}

// MachineTemplate is a machine without the id that each has of its own.
type MachineTemplate struct {
	Metadata TemplateMetadata `json:"metadata,omitempty"`
	Spec     MachineResources `json:"spec"`
}

// TemplateMetadata is put on each machine.
type TemplateMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}
