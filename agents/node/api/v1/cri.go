package v1

// CRI is the container runtime of the nodes; absent means the cluster's default.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'Docker'",message="Docker is no longer supported"
// +kubebuilder:validation:XValidation:rule="!has(self.containerd) || self.type == 'Containerd'",message="containerd needs type Containerd"
// +kubebuilder:validation:XValidation:rule="!has(self.containerdV2) || self.type == 'ContainerdV2'",message="containerdV2 needs type ContainerdV2"
// +kubebuilder:validation:XValidation:rule="!has(self.docker) || self.type == 'Docker'",message="docker needs type Docker"
// +kubebuilder:validation:XValidation:rule="!has(self.notManaged) || self.type == 'NotManaged'",message="notManaged needs type NotManaged"
type CRI struct {
	// +kubebuilder:validation:Enum=Docker;Containerd;ContainerdV2;NotManaged
	Type         string      `json:"type"`
	Containerd   *Containerd `json:"containerd,omitempty"`
	ContainerdV2 *Containerd `json:"containerdV2,omitempty"`
	Docker       *Docker     `json:"docker,omitempty"`
	NotManaged   *NotManaged `json:"notManaged,omitempty"`
}

// Containerd has the settings of both generations of containerd.
type Containerd struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=3
	MaxConcurrentDownloads *int32 `json:"maxConcurrentDownloads,omitempty"`
}

// Docker is kept so that old objects can be read.
type Docker struct {
	MaxConcurrentDownloads *int32 `json:"maxConcurrentDownloads,omitempty"`
	Manage                 *bool  `json:"manage,omitempty"`
}

// NotManaged is a runtime that somebody else keeps.
type NotManaged struct {
	CRISocketPath string `json:"criSocketPath,omitempty"`
}
