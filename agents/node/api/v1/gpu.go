package v1

// GPU is how the graphics processors of the nodes are shared.
//
// +kubebuilder:validation:XValidation:rule="!has(self.mig) || self.sharing == 'MIG'",message="mig needs sharing MIG"
// +kubebuilder:validation:XValidation:rule="!has(self.timeSlicing) || self.sharing == 'TimeSlicing'",message="timeSlicing needs sharing TimeSlicing"
// +kubebuilder:validation:XValidation:rule="!has(self.exclusive) || self.sharing == 'Exclusive'",message="exclusive needs sharing Exclusive"
type GPU struct {
	// +kubebuilder:validation:Enum=TimeSlicing;MIG;Exclusive
	Sharing     string          `json:"sharing"`
	MIG         *MIG            `json:"mig,omitempty"`
	TimeSlicing *GPUTimeSlicing `json:"timeSlicing,omitempty"`
	Exclusive   *GPUExclusive   `json:"exclusive,omitempty"`
}

// MIG cuts a processor into parts.
type MIG struct {
	PartedConfig string `json:"partedConfig,omitempty"`
	// +kubebuilder:validation:MaxItems=16
	CustomConfigs []MIGConfig `json:"customConfigs,omitempty"`
}

// MIGConfig is how the processor at an index is cut.
type MIGConfig struct {
	// +kubebuilder:validation:Minimum=0
	Index int32 `json:"index"`
	// +kubebuilder:validation:MaxItems=16
	Slices []MIGSlice `json:"slices,omitempty"`
}

// MIGSlice is a number of equal parts.
type MIGSlice struct {
	Profile string `json:"profile"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=1
	Count *int32 `json:"count,omitempty"`
}

// GPUTimeSlicing shares a processor in turns.
type GPUTimeSlicing struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +kubebuilder:default=4
	PartitionCount *int32 `json:"partitionCount,omitempty"`
}

// GPUExclusive gives a processor to one pod.
type GPUExclusive struct{}
