package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// VirtualImage is an image of a project.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=vi,categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
type VirtualImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              VirtualImageSpec `json:"spec"`
	Status            ImageStatus      `json:"status,omitempty"`
}

// VirtualImageList is several images of projects.
//
// +kubebuilder:object:root=true
type VirtualImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []VirtualImage `json:"items"`
}

// VirtualImageSpec is where an image comes from and is kept.
type VirtualImageSpec struct {
	// +kubebuilder:validation:Enum=ContainerRegistry;Kubernetes;PersistentVolumeClaim
	// +kubebuilder:default=ContainerRegistry
	Storage               string          `json:"storage,omitempty"`
	PersistentVolumeClaim *VolumeSpec     `json:"persistentVolumeClaim,omitempty"`
	DataSource            ImageDataSource `json:"dataSource"`
}

// ClusterVirtualImage is an image for all projects.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=cvi,categories=virtualization
// +kubebuilder:printcolumn:name=Phase,type=string,JSONPath=`.status.phase`
type ClusterVirtualImage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ClusterVirtualImageSpec `json:"spec"`
	Status            ImageStatus             `json:"status,omitempty"`
}

// ClusterVirtualImageList is several images for all projects.
//
// +kubebuilder:object:root=true
type ClusterVirtualImageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterVirtualImage `json:"items"`
}

// ClusterVirtualImageSpec is where an image comes from.
type ClusterVirtualImageSpec struct {
	DataSource ImageDataSource `json:"dataSource"`
}

// ImageDataSource is what an image is made from.
type ImageDataSource struct {
	// +kubebuilder:validation:Enum=HTTP;ContainerImage;ObjectRef;Upload
	Type           string                `json:"type"`
	HTTP           *HTTPSource           `json:"http,omitempty"`
	ContainerImage *ContainerImageSource `json:"containerImage,omitempty"`
	ObjectRef      *ImageObjectRef       `json:"objectRef,omitempty"`
}

// ImageObjectRef is another object of DVP; an image can also be made from a disk.
type ImageObjectRef struct {
	// +kubebuilder:validation:Enum=ClusterVirtualImage;VirtualImage;VirtualDisk;VirtualDiskSnapshot
	Kind string `json:"kind"`
	// +kubebuilder:validation:MinLength=1
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// ImageStatus is what an image is.
type ImageStatus struct {
	// +kubebuilder:validation:Enum=Pending;Provisioning;WaitForUserUpload;Ready;Failed;Terminating;ImageLost;PVCLost
	Phase    ImagePhase `json:"phase,omitempty"`
	Size     ImageSize  `json:"size,omitempty"`
	Format   string     `json:"format,omitempty"`
	CDROM    bool       `json:"cdrom,omitempty"`
	Progress string     `json:"progress,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
}

// ImagePhase sums an image up.
type ImagePhase string

// The phases of an image that we act on.
const (
	ImagePhasePending      ImagePhase = "Pending"
	ImagePhaseProvisioning ImagePhase = "Provisioning"
	ImagePhaseReady        ImagePhase = "Ready"
	ImagePhaseFailed       ImagePhase = "Failed"
	ImagePhaseTerminating  ImagePhase = "Terminating"
)

// ImageSize is how large an image is: as kept, and as a disk. The fields with bytes are decimal
// numbers, the others for people.
type ImageSize struct {
	Stored        string `json:"stored,omitempty"`
	StoredBytes   string `json:"storedBytes,omitempty"`
	Unpacked      string `json:"unpacked,omitempty"`
	UnpackedBytes string `json:"unpackedBytes,omitempty"`
}
