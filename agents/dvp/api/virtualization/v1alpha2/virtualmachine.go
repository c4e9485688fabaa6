package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualMachine is a machine that DVP runs in a pod.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vm,categories=virtualization
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="the name of a VirtualMachine must not be longer than 63 characters"
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Node,type=string,JSONPath=`.status.nodeName`
// +kubebuilder:printcolumn:name=IPAddress,type=string,JSONPath=`.status.ipAddress`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VirtualMachineSpec   `json:"spec"`
	Status            VirtualMachineStatus `json:"status,omitempty"`
}

// VirtualMachineList is several machines.
//
// +kubebuilder:object:root=true
type VirtualMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualMachine `json:"items"`
}

// VirtualMachineSpec is what a machine shall be.
//
// +kubebuilder:validation:XValidation:rule="self.osType != 'Legacy' || self.bootloader == 'BIOS'",message="osType Legacy needs bootloader BIOS"
// +kubebuilder:validation:XValidation:rule="self.osType != 'Legacy' || !has(self.provisioning)",message="osType Legacy allows no provisioning"
// +kubebuilder:validation:XValidation:rule="self.osType != 'Legacy' || self.enableParavirtualization || self.blockDeviceRefs.size() <= 4",message="osType Legacy without paravirtualization allows at most 4 block devices"
type VirtualMachineSpec struct {
	// +kubebuilder:default=AlwaysOnUnlessStoppedManually
	RunPolicy RunPolicy `json:"runPolicy,omitempty"`
	// VirtualMachineIPAddressName names a VirtualMachineIPAddress; empty lets DVP make one.
	VirtualMachineIPAddressName string                            `json:"virtualMachineIPAddressName,omitempty"`
	NodeSelector                map[string]string                 `json:"nodeSelector,omitempty"`
	Affinity                    *VMAffinity                       `json:"affinity,omitempty"`
	Tolerations                 []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints   []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	PriorityClassName           string                            `json:"priorityClassName,omitempty"`
	// +kubebuilder:default={}
	Disruptions Disruptions `json:"disruptions,omitempty"`
	// TerminationGracePeriodSeconds is how long a machine may take to shut down.
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=0
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`
	// +kubebuilder:default=true
	EnableParavirtualization *bool `json:"enableParavirtualization,omitempty"`
	// +kubebuilder:default=Generic
	OSType OSType `json:"osType,omitempty"`
	// +kubebuilder:default=BIOS
	Bootloader Bootloader `json:"bootloader,omitempty"`
	// VirtualMachineClassName names the class; the default class fills it if there is one.
	// +kubebuilder:validation:MinLength=1
	VirtualMachineClassName string     `json:"virtualMachineClassName"`
	CPU                     CPUSpec    `json:"cpu"`
	Memory                  MemorySpec `json:"memory"`
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(a, self.exists_one(b, a.kind == b.kind && a.name == b.name))",message="a block device is listed twice"
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.bootOrder) || self.exists_one(b, has(b.bootOrder) && a.bootOrder == b.bootOrder))",message="a bootOrder is given twice"
	BlockDeviceRefs []BlockDeviceRef `json:"blockDeviceRefs"`
	Provisioning    *Provisioning    `json:"provisioning,omitempty"`
	// +kubebuilder:default=PreferSafe
	LiveMigrationPolicy LiveMigrationPolicy `json:"liveMigrationPolicy,omitempty"`
	// +kubebuilder:validation:MaxItems=16
	GPUs []GPU `json:"gpus,omitempty"`
}

// RunPolicy says when a machine runs.
//
// +kubebuilder:validation:Enum=AlwaysOn;AlwaysOff;Manual;AlwaysOnUnlessStoppedManually
type RunPolicy string

// The run policies.
const (
	AlwaysOn                      RunPolicy = "AlwaysOn"
	AlwaysOff                     RunPolicy = "AlwaysOff"
	Manual                        RunPolicy = "Manual"
	AlwaysOnUnlessStoppedManually RunPolicy = "AlwaysOnUnlessStoppedManually"
)

// LiveMigrationPolicy says whether a machine may be slowed down to be moved. DVP knows Manual and
// Never in its code, yet its schema refuses them.
//
// +kubebuilder:validation:Enum=AlwaysSafe;PreferSafe;AlwaysForced;PreferForced
type LiveMigrationPolicy string

// The live migration policies.
const (
	AlwaysSafe   LiveMigrationPolicy = "AlwaysSafe"
	PreferSafe   LiveMigrationPolicy = "PreferSafe"
	AlwaysForced LiveMigrationPolicy = "AlwaysForced"
	PreferForced LiveMigrationPolicy = "PreferForced"
)

// OSType is a family of guests.
//
// +kubebuilder:validation:Enum=Windows;Generic;Legacy
type OSType string

// The families of guests.
const (
	Windows OSType = "Windows"
	Generic OSType = "Generic"
	Legacy  OSType = "Legacy"
)

// Bootloader is the firmware of a machine.
//
// +kubebuilder:validation:Enum=BIOS;EFI;EFIWithSecureBoot
type Bootloader string

// The bootloaders.
const (
	BIOS              Bootloader = "BIOS"
	EFI               Bootloader = "EFI"
	EFIWithSecureBoot Bootloader = "EFIWithSecureBoot"
)

// VMAffinity ties a machine to nodes of the parent cluster. What it says about other machines we
// neither set nor read.
//
// +kubebuilder:pruning:PreserveUnknownFields
type VMAffinity struct {
	NodeAffinity *corev1.NodeAffinity `json:"nodeAffinity,omitempty"`
}

// Disruptions says who decides on restarts that a change needs.
type Disruptions struct {
	// +kubebuilder:validation:Enum=Manual;Automatic
	// +kubebuilder:default=Manual
	RestartApprovalMode string `json:"restartApprovalMode,omitempty"`
}

// RestartAutomatic lets DVP restart a machine by itself when a change needs it.
const RestartAutomatic = "Automatic"

// CPUSpec is how much of the processor a machine gets.
type CPUSpec struct {
	// +kubebuilder:validation:Minimum=1
	Cores int `json:"cores"`
	// CoreFraction is the guaranteed share of each core.
	// +kubebuilder:validation:Pattern=`^(100|[1-9][0-9]?)%$|^Auto$`
	CoreFraction string `json:"coreFraction,omitempty"`
}

// MemorySpec is how much memory a machine gets.
type MemorySpec struct {
	Size resource.Quantity `json:"size"`
}

// BlockDeviceRef names a device of a machine.
type BlockDeviceRef struct {
	// +kubebuilder:validation:Enum=VirtualDisk;VirtualImage;ClusterVirtualImage
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=1
	BootOrder *int `json:"bootOrder,omitempty"`
}

// Provisioning says where the guest takes its first configuration from.
//
// +kubebuilder:validation:XValidation:rule="has(self.userData) == (self.type == 'UserData')",message="userData goes with type UserData and no other"
// +kubebuilder:validation:XValidation:rule="has(self.userDataRef) == (self.type == 'UserDataRef')",message="userDataRef goes with type UserDataRef and no other"
// +kubebuilder:validation:XValidation:rule="has(self.sysprepRef) == (self.type == 'SysprepRef')",message="sysprepRef goes with type SysprepRef and no other"
type Provisioning struct {
	// +kubebuilder:validation:Enum=UserData;UserDataRef;SysprepRef
	Type string `json:"type"`
	// UserData is a cloud-init document of at most 2048 bytes.
	// +kubebuilder:validation:MaxLength=2048
	UserData    string           `json:"userData,omitempty"`
	UserDataRef *ProvisioningRef `json:"userDataRef,omitempty"`
	SysprepRef  *ProvisioningRef `json:"sysprepRef,omitempty"`
}

// The types of provisioning.
const (
	UserData    = "UserData"
	UserDataRef = "UserDataRef"
	SysprepRef  = "SysprepRef"
)

// ProvisioningRef names a Secret.
type ProvisioningRef struct {
	// +kubebuilder:validation:Enum=Secret
	// +kubebuilder:default=Secret
	Kind string `json:"kind,omitempty"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// GPU is a graphics device by its class.
type GPU struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	GPUClassName string `json:"gpuClassName"`
}
