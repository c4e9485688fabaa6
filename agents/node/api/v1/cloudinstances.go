package v1

import "k8s.io/apimachinery/pkg/util/intstr"

// CloudInstances says which machines a CloudEphemeral group orders.
//
// +kubebuilder:validation:XValidation:rule="!has(self.minPerZone) || !has(self.maxPerZone) || self.minPerZone <= self.maxPerZone",message="maxPerZone must not be less than minPerZone"
type CloudInstances struct {
	ClassReference *ClassReference `json:"classReference,omitempty"`
	// +kubebuilder:validation:Minimum=0
	MinPerZone *int32 `json:"minPerZone,omitempty"`
	// +kubebuilder:validation:Minimum=0
	MaxPerZone *int32 `json:"maxPerZone,omitempty"`
	// +kubebuilder:validation:MaxItems=32
	Zones    []string `json:"zones,omitempty"`
	Priority *int32   `json:"priority,omitempty"`
	// +kubebuilder:validation:Minimum=0
	MaxUnavailablePerZone *int32 `json:"maxUnavailablePerZone,omitempty"`
	// +kubebuilder:validation:Minimum=0
	MaxSurgePerZone *int32              `json:"maxSurgePerZone,omitempty"`
	Standby         *intstr.IntOrString `json:"standby,omitempty"`
	StandbyHolder   *StandbyHolder      `json:"standbyHolder,omitempty"`
	QuickShutdown   *bool               `json:"quickShutdown,omitempty"`
}

// ClassReference names the shape of a machine.
type ClassReference struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
}

// StandbyHolder keeps room on standby nodes.
type StandbyHolder struct {
	// OverprovisioningRate is the share of a node that is kept free, in percent.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=80
	OverprovisioningRate *int32 `json:"overprovisioningRate,omitempty"`
}
