package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NodeGroupSettings is what all versions of a NodeGroup have in common. That they share one type
// keeps a change through an old version from losing what only newer ones speak of.
type NodeGroupSettings struct {
	// OSType Immutable means that the node is configured by nodelet and not by bashible.
	// +kubebuilder:validation:Enum=Mutable;Immutable
	OSType string `json:"osType,omitempty"`
	// NodeDrainTimeoutSecond bounds a drain, in seconds; absent means ten minutes.
	// +kubebuilder:validation:Minimum=0
	NodeDrainTimeoutSecond *int64           `json:"nodeDrainTimeoutSecond,omitempty"`
	CRI                    *CRI             `json:"cri,omitempty"`
	CloudInstances         *CloudInstances  `json:"cloudInstances,omitempty"`
	StaticInstances        *StaticInstances `json:"staticInstances,omitempty"`
	NodeTemplate           *NodeTemplate    `json:"nodeTemplate,omitempty"`
	Chaos                  *Chaos           `json:"chaos,omitempty"`
	OperatingSystem        *OperatingSystem `json:"operatingSystem,omitempty"`
	Disruptions            *Disruptions     `json:"disruptions,omitempty"`
	Kubelet                *Kubelet         `json:"kubelet,omitempty"`
	Update                 *Update          `json:"update,omitempty"`
	Fencing                *Fencing         `json:"fencing,omitempty"`
	GPU                    *GPU             `json:"gpu,omitempty"`
}

// NodeTemplate is merged into each node of the group.
type NodeTemplate struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Taints are told apart by key and effect.
	// +listType=map
	// +listMapKey=key
	// +listMapKey=effect
	// +kubebuilder:validation:MaxItems=64
	Taints []Taint `json:"taints,omitempty"`
}

// Taint keeps pods without a matching toleration away.
type Taint struct {
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	// +kubebuilder:validation:Enum=NoSchedule;PreferNoSchedule;NoExecute
	Effect corev1.TaintEffect `json:"effect"`
}

// StaticInstances takes prepared machines into the group.
type StaticInstances struct {
	LabelSelector *metav1.LabelSelector `json:"labelSelector,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:default=0
	Count int32 `json:"count,omitempty"`
}

// Chaos breaks nodes of the group on purpose.
type Chaos struct {
	// +kubebuilder:validation:Enum=Disabled;DrainAndDelete
	// +kubebuilder:default=Disabled
	Mode string `json:"mode,omitempty"`
	// +kubebuilder:validation:Pattern=`^([0-9]+h)?([0-9]+m)?$`
	// +kubebuilder:default="6h"
	Period string `json:"period,omitempty"`
}

// OperatingSystem has no effect any more.
type OperatingSystem struct {
	ManageKernel *bool `json:"manageKernel,omitempty"`
}

// Update bounds how many nodes change at once.
type Update struct {
	// MaxConcurrent is a number of nodes or a share of the group such as "25%", rounded down but
	// at least one; absent means one.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]*%?$`
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 1",message="maxConcurrent must be at least 1"
	MaxConcurrent *intstr.IntOrString `json:"maxConcurrent,omitempty"`
}
