package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DVPInstanceClass is what the machines of node groups that name it are made of.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=dvpinstanceclasses,scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="heritage=deckhouse"
// +kubebuilder:metadata:labels="module=cloud-provider-dvp"
// +kubebuilder:printcolumn:name="Cores",type="integer",JSONPath=".spec.virtualMachine.cpu.cores"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".spec.virtualMachine.memory.size"
// +kubebuilder:printcolumn:name="Image",type="string",JSONPath=".spec.rootDisk.image.name"
// +kubebuilder:printcolumn:name="Used by",type="string",JSONPath=".status.nodeGroupConsumers"
type DVPInstanceClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              DVPInstanceClassSpec   `json:"spec"`
	Status            DVPInstanceClassStatus `json:"status,omitempty"`
}

// DVPInstanceClassList is several classes.
//
// +kubebuilder:object:root=true
type DVPInstanceClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DVPInstanceClass `json:"items"`
}

// DVPInstanceClassSpec is a machine and its disks.
//
// +kubebuilder:validation:XValidation:rule="!has(self.additionalDisks) || !has(self.etcdDisk) || size(self.additionalDisks) <= 14",message="a machine has at most 16 disks"
type DVPInstanceClassSpec struct {
	VirtualMachine ClassMachine `json:"virtualMachine"`
	RootDisk       RootDisk     `json:"rootDisk"`
	// +kubebuilder:validation:MaxItems=15
	AdditionalDisks []Disk `json:"additionalDisks,omitempty"`
	// EtcdDisk is for machines that are masters.
	EtcdDisk *Disk `json:"etcdDisk,omitempty"`
}

// ClassMachine is a machine of which there may be any number.
type ClassMachine struct {
	VirtualMachine `json:",inline"`
	// +kubebuilder:validation:MaxItems=16
	GPUs []GPU `json:"gpus,omitempty"`
}

// GPU is a device of a class of DVP.
type GPU struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	GPUClassName string `json:"gpuClassName"`
}

// DVPInstanceClassStatus says who uses a class.
type DVPInstanceClassStatus struct {
	NodeGroupConsumers []string `json:"nodeGroupConsumers,omitempty"`
}
