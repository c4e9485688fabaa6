package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/dvp/api/configuration/v1alpha1"
)

// DVPClusterConfiguration says how a cluster is laid out in DVP.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=dvpclusterconfigurations,scope=Cluster
type DVPClusterConfiguration struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	// +kubebuilder:validation:Enum=Standard
	Layout string `json:"layout"`
	// SSHPublicKey lets its owner in on the nodes.
	// +kubebuilder:validation:MinLength=1
	SSHPublicKey string `json:"sshPublicKey"`
	// Region and Zones are values of topology.kubernetes.io/region and …/zone on DVP's nodes.
	Region string `json:"region,omitempty"`
	// +listType=set
	Zones           []string        `json:"zones,omitempty"`
	Provider        Provider        `json:"provider"`
	MasterNodeGroup MasterNodeGroup `json:"masterNodeGroup"`
	NodeGroups      []NodeGroup     `json:"nodeGroups,omitempty"`
}

// Provider is how DVP is reached, and what is the same for all nodes.
type Provider struct {
	// +kubebuilder:validation:MinLength=1
	KubeconfigDataBase64 string `json:"kubeconfigDataBase64"`
	// +kubebuilder:validation:MinLength=1
	Namespace string `json:"namespace"`
	// +kubebuilder:validation:Enum=Isolated;None
	// +kubebuilder:default=Isolated
	NetworkPolicy string `json:"networkPolicy,omitempty"`
	// +kubebuilder:default={22}
	IngressPorts       []Port            `json:"ingressPorts,omitempty"`
	AdditionalVMLabels map[string]string `json:"additionalVMLabels,omitempty"`
}

// Port of TCP.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=65535
type Port int32

// MasterNodeGroup is the group of masters.
type MasterNodeGroup struct {
	// +kubebuilder:validation:Minimum=1
	Replicas int `json:"replicas"`
	// +listType=set
	Zones         []string    `json:"zones,omitempty"`
	InstanceClass MasterClass `json:"instanceClass"`
}

// MasterClass is what masters are made of.
type MasterClass struct {
	VirtualMachine  NodeMachine       `json:"virtualMachine"`
	RootDisk        v1alpha1.RootDisk `json:"rootDisk"`
	EtcdDisk        v1alpha1.Disk     `json:"etcdDisk"`
	AdditionalDisks []v1alpha1.Disk   `json:"additionalDisks,omitempty"`
	// AdditionalLabels are put on the machines.
	AdditionalLabels map[string]string `json:"additionalLabels,omitempty"`
}

// NodeMachine is a machine that is known by its number in its group.
type NodeMachine struct {
	v1alpha1.VirtualMachine `json:",inline"`
	// IPAddresses are those of the group's nodes, in turn.
	IPAddresses []Address `json:"ipAddresses,omitempty"`
}

// Address is one of IPv4, or Auto for any.
//
// +kubebuilder:validation:Pattern=`^(Auto|((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]))$`
type Address string

// NodeGroup is a group of nodes that are there from the installation on.
type NodeGroup struct {
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=0
	Replicas int `json:"replicas"`
	// +listType=set
	Zones         []string      `json:"zones,omitempty"`
	NodeTemplate  *NodeTemplate `json:"nodeTemplate,omitempty"`
	InstanceClass NodeClass     `json:"instanceClass"`
}

// NodeTemplate is put on the Nodes of a group.
type NodeTemplate struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Taints      []corev1.Taint    `json:"taints,omitempty"`
}

// NodeClass is what nodes are made of.
type NodeClass struct {
	VirtualMachine  NodeMachine       `json:"virtualMachine"`
	RootDisk        v1alpha1.RootDisk `json:"rootDisk"`
	AdditionalDisks []v1alpha1.Disk   `json:"additionalDisks,omitempty"`
	// AdditionalLabels are put on the machines.
	AdditionalLabels map[string]string `json:"additionalLabels,omitempty"`
}
