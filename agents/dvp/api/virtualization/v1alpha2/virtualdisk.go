package v1alpha2

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualDisk is a disk of a project, kept in a volume of the parent cluster.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vd,categories=virtualization
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="the name of a VirtualDisk must not contain a dot"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 128",message="the name of a VirtualDisk must not be longer than 128 characters"
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name=Capacity,type=string,JSONPath=`.status.capacity`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type VirtualDisk struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VirtualDiskSpec   `json:"spec"`
	Status            VirtualDiskStatus `json:"status,omitempty"`
}

// VirtualDiskList is several disks.
//
// +kubebuilder:object:root=true
type VirtualDiskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualDisk `json:"items"`
}

// VirtualDiskSpec is what a disk shall be. Without a source it is blank and needs a size.
type VirtualDiskSpec struct {
	DataSource            *DataSource `json:"dataSource,omitempty"`
	PersistentVolumeClaim VolumeSpec  `json:"persistentVolumeClaim,omitempty"`
}

// VolumeSpec is the volume under a disk.
type VolumeSpec struct {
	// StorageClassName is of the parent cluster; empty means its default.
	StorageClassName *string `json:"storageClassName,omitempty"`
	// Size may be left out if the source has one.
	Size *resource.Quantity `json:"size,omitempty"`
}

// DataSource is what a disk or an image begins as.
//
// +kubebuilder:validation:XValidation:rule="has(self.http) == (self.type == 'HTTP')",message="http goes with type HTTP and no other"
// +kubebuilder:validation:XValidation:rule="has(self.containerImage) == (self.type == 'ContainerImage')",message="containerImage goes with type ContainerImage and no other"
// +kubebuilder:validation:XValidation:rule="has(self.objectRef) == (self.type == 'ObjectRef')",message="objectRef goes with type ObjectRef and no other"
type DataSource struct {
	// +kubebuilder:validation:Enum=HTTP;ContainerImage;ObjectRef;Upload
	Type           string                `json:"type"`
	HTTP           *HTTPSource           `json:"http,omitempty"`
	ContainerImage *ContainerImageSource `json:"containerImage,omitempty"`
	ObjectRef      *ObjectRefSource      `json:"objectRef,omitempty"`
}

// The types of sources.
const (
	SourceHTTP           = "HTTP"
	SourceContainerImage = "ContainerImage"
	SourceObjectRef      = "ObjectRef"
	SourceUpload         = "Upload"
)

// HTTPSource is a file on a web server.
type HTTPSource struct {
	// +kubebuilder:validation:MinLength=1
	URL string `json:"url"`
}

// ContainerImageSource is a file in a container image.
type ContainerImageSource struct {
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
}

// ObjectRefSource is another object of DVP. A disk takes the two kinds of images and snapshots.
type ObjectRefSource struct {
	// +kubebuilder:validation:Enum=ClusterVirtualImage;VirtualImage;VirtualDiskSnapshot
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// VirtualDiskStatus is what a disk is.
type VirtualDiskStatus struct {
	Phase DiskPhase `json:"phase,omitempty"`
	// Capacity is empty until the volume is bound, and may be more than was asked for.
	Capacity                  string          `json:"capacity,omitempty"`
	Target                    DiskTarget      `json:"target,omitempty"`
	Progress                  string          `json:"progress,omitempty"` // such as 42%
	AttachedToVirtualMachines []AttachedTo    `json:"attachedToVirtualMachines,omitempty"`
	SourceUID                 string          `json:"sourceUID,omitempty"`
	StorageClassName          string          `json:"storageClassName,omitempty"`
	MigrationState            *DiskMigrations `json:"migrationState,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// DiskPhase sums a disk up.
//
// +kubebuilder:validation:Enum=Pending;Provisioning;WaitForUserUpload;WaitForFirstConsumer;Ready;Resizing;Failed;PVCLost;Exporting;Terminating;Migrating
type DiskPhase string

// The phases of a disk that we act on.
const (
	DiskPhasePending         DiskPhase = "Pending"
	DiskPhaseProvisioning    DiskPhase = "Provisioning"
	DiskPhaseWaitForUpload   DiskPhase = "WaitForUserUpload"
	DiskPhaseWaitForConsumer DiskPhase = "WaitForFirstConsumer"
	DiskPhaseReady           DiskPhase = "Ready"
	DiskPhaseResizing        DiskPhase = "Resizing"
	DiskPhaseFailed          DiskPhase = "Failed"
	DiskPhasePVCLost         DiskPhase = "PVCLost"
	DiskPhaseExporting       DiskPhase = "Exporting"
	DiskPhaseTerminating     DiskPhase = "Terminating"
	DiskPhaseMigrating       DiskPhase = "Migrating"
)

// DiskTarget is where a disk is kept.
type DiskTarget struct {
	PersistentVolumeClaimName string `json:"persistentVolumeClaimName,omitempty"`
}

// AttachedTo is a machine that has a disk. Mounted says that it runs.
type AttachedTo struct {
	Name    string `json:"name"`
	Mounted bool   `json:"mounted"`
}

// DiskMigrations is the last move of a disk between storage classes.
type DiskMigrations struct {
	SourcePVC      string           `json:"sourcePVC,omitempty"`
	TargetPVC      string           `json:"targetPVC,omitempty"`
	Result         MigrationOutcome `json:"result,omitempty"`
	Message        string           `json:"message,omitempty"`
	StartTimestamp *metav1.Time     `json:"startTimestamp,omitempty"`
	EndTimestamp   *metav1.Time     `json:"endTimestamp,omitempty"`
}
