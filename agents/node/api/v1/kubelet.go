package v1

// Kubelet is how kubelet runs on the nodes.
//
// +kubebuilder:validation:XValidation:rule="!has(self.topologyManager) || !has(self.topologyManager.policy) || (has(self.resourceReservation) && self.resourceReservation.mode != 'Off')",message="a topologyManager policy needs resourceReservation"
// +kubebuilder:validation:XValidation:rule="!has(self.topologyManager) || !has(self.topologyManager.policy) || !has(self.resourceReservation) || self.resourceReservation.mode != 'Static' || (has(self.resourceReservation.static) && has(self.resourceReservation.static.cpu))",message="a topologyManager policy with a static resourceReservation needs its cpu"
type Kubelet struct {
	// MaxPods unset means a number that fits the node's share of the pod network.
	// +kubebuilder:validation:Minimum=1
	MaxPods *int32 `json:"maxPods,omitempty"`
	// +kubebuilder:default="/var/lib/kubelet"
	// +kubebuilder:validation:Pattern=`^/`
	RootDir string `json:"rootDir,omitempty"`
	// +kubebuilder:default="50Mi"
	// +kubebuilder:validation:Pattern=`^[0-9]+([EPTGMK]i?|k)?$`
	ContainerLogMaxSize string `json:"containerLogMaxSize,omitempty"`
	// +kubebuilder:default=4
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	ContainerLogMaxFiles *int32               `json:"containerLogMaxFiles,omitempty"`
	SeccompDefault       *bool                `json:"seccompDefault,omitempty"`
	ResourceReservation  *ResourceReservation `json:"resourceReservation,omitempty"`
	TopologyManager      *TopologyManager     `json:"topologyManager,omitempty"`
	MemorySwap           *MemorySwap          `json:"memorySwap,omitempty"`
}

// ResourceReservation keeps room for what is not a pod.
//
// +kubebuilder:validation:XValidation:rule="self.mode != 'Static' || has(self.static)",message="mode Static needs static"
// +kubebuilder:validation:XValidation:rule="!has(self.static) || self.mode == 'Static'",message="static needs mode Static"
type ResourceReservation struct {
	// +kubebuilder:validation:Enum=Off;Auto;Static
	// +kubebuilder:default=Auto
	Mode   string           `json:"mode,omitempty"`
	Static *StaticResources `json:"static,omitempty"`
}

// StaticResources are quantities; at least one is given.
//
// +kubebuilder:validation:MinProperties=1
type StaticResources struct {
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?m?$`
	CPU string `json:"cpu,omitempty"`
	// +kubebuilder:validation:Pattern=`^[0-9]+([EPTGMK]i?|k)?$`
	Memory string `json:"memory,omitempty"`
	// +kubebuilder:validation:Pattern=`^[0-9]+([EPTGMK]i?|k)?$`
	EphemeralStorage string `json:"ephemeralStorage,omitempty"`
}

// TopologyManager keeps what a pod uses close together. Enabled, it also makes the managers of
// processors and memory static.
type TopologyManager struct {
	Enabled *bool `json:"enabled,omitempty"`
	// +kubebuilder:validation:Enum=Container;Pod
	Scope string `json:"scope,omitempty"`
	// +kubebuilder:validation:Enum=None;BestEffort;Restricted;SingleNumaNode
	Policy string `json:"policy,omitempty"`
}

// MemorySwap lets containers swap.
//
// +kubebuilder:validation:XValidation:rule="!has(self.swapBehavior) || self.swapBehavior != 'LimitedSwap' || has(self.limitedSwap)",message="LimitedSwap needs limitedSwap"
type MemorySwap struct {
	// +kubebuilder:validation:Enum=NoSwap;LimitedSwap
	SwapBehavior string `json:"swapBehavior,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=60
	Swappiness  *int32       `json:"swappiness,omitempty"`
	LimitedSwap *LimitedSwap `json:"limitedSwap,omitempty"`
}

// LimitedSwap is the size of the swap file.
type LimitedSwap struct {
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]*G$`
	Size string `json:"size"`
}
