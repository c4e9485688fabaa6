package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Size is an amount of memory or of space on a disk.
//
// +kubebuilder:validation:Pattern=`^[1-9][0-9]*(\.[0-9]+)?([EPTGMk]|[EPTGMK]i)?$`
type Size string

// VirtualMachine is what DVP gives a node.
type VirtualMachine struct {
	CPU    CPU    `json:"cpu"`
	Memory Memory `json:"memory"`
	// +kubebuilder:validation:MinLength=1
	VirtualMachineClassName string `json:"virtualMachineClassName"`
	// +kubebuilder:validation:Enum=BIOS;EFI;EFIWithSecureBoot
	// +kubebuilder:default=EFI
	Bootloader string `json:"bootloader,omitempty"`
	// +kubebuilder:validation:Enum=AlwaysOn;AlwaysOff;Manual;AlwaysOnUnlessStoppedManually
	// +kubebuilder:default=AlwaysOnUnlessStoppedManually
	RunPolicy string `json:"runPolicy,omitempty"`
	// LiveMigrationPolicy says whether a machine may be slowed down to be moved. Manual and Never,
	// which DVP refuses, are refused here.
	// +kubebuilder:validation:Enum=AlwaysSafe;PreferSafe;AlwaysForced;PreferForced
	// +kubebuilder:default=PreferForced
	LiveMigrationPolicy   string              `json:"liveMigrationPolicy,omitempty"`
	AdditionalLabels      map[string]string   `json:"additionalLabels,omitempty"`
	AdditionalAnnotations map[string]string   `json:"additionalAnnotations,omitempty"`
	NodeSelector          map[string]string   `json:"nodeSelector,omitempty"`
	PriorityClassName     string              `json:"priorityClassName,omitempty"`
	Tolerations           []corev1.Toleration `json:"tolerations,omitempty"`
}

// CPU is the processors of a machine.
type CPU struct {
	// +kubebuilder:validation:Minimum=1
	Cores int `json:"cores"`
	// CoreFraction is the guaranteed share of each core.
	// +kubebuilder:validation:Pattern=`^(100|[1-9][0-9]?)%$`
	// +kubebuilder:default="100%"
	CoreFraction string `json:"coreFraction,omitempty"`
}

// Memory of a machine.
type Memory struct {
	Size Size `json:"size"`
}

// RootDisk is what a machine boots from.
type RootDisk struct {
	Size         Size   `json:"size"`
	StorageClass string `json:"storageClass,omitempty"`
	Image        Image  `json:"image"`
}

// Image that a disk is a copy of. Only images can be booted from.
type Image struct {
	// +kubebuilder:validation:Enum=ClusterVirtualImage;VirtualImage
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// Disk is a blank one.
type Disk struct {
	Size         Size   `json:"size"`
	StorageClass string `json:"storageClass,omitempty"`
}
