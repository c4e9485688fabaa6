package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeGroupStatus is how the nodes of a group are.
type NodeGroupStatus struct {
	// +kubebuilder:validation:Enum=None;MCM;CAPI
	Engine string `json:"engine,omitempty"`
	// Nodes carry the group's label; Ready ones are ready; UpToDate ones have applied the group's
	// present configuration.
	Nodes    int32 `json:"nodes"`
	Ready    int32 `json:"ready"`
	UpToDate int32 `json:"upToDate"`
	// Instances, Desired, Min, Max and Standby count the machines of CloudEphemeral groups.
	Instances           int32                `json:"instances,omitempty"`
	Desired             int32                `json:"desired,omitempty"`
	Min                 int32                `json:"min,omitempty"`
	Max                 int32                `json:"max,omitempty"`
	Standby             int32                `json:"standby,omitempty"`
	Error               string               `json:"error,omitempty"`
	KubernetesVersion   string               `json:"kubernetesVersion,omitempty"`
	CloudProviderType   string               `json:"cloudProviderType,omitempty"`
	LastMachineFailures []MachineFailure     `json:"lastMachineFailures,omitempty"`
	ConditionSummary    *ConditionSummary    `json:"conditionSummary,omitempty"`
	Deckhouse           *DeckhouseProcessing `json:"deckhouse,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []NodeGroupCondition `json:"conditions,omitempty"`
}

// Types of conditions of a group.
const (
	ConditionReady             = "Ready"
	ConditionUpdating          = "Updating"
	ConditionWaitingDisruption = "WaitingForDisruptiveApproval"
	ConditionError             = "Error"
	ConditionScaling           = "Scaling" // only CloudEphemeral
)

// NodeGroupCondition is one fact about a group.
type NodeGroupCondition struct {
	Type string `json:"type"`
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status  metav1.ConditionStatus `json:"status"`
	Message string                 `json:"message,omitempty"`
	// LastTransitionTime is when status or message last changed.
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ConditionSummary is all conditions in one line.
type ConditionSummary struct {
	StatusMessage string `json:"statusMessage,omitempty"`
	// +kubebuilder:validation:Enum=True;False
	Ready string `json:"ready,omitempty"`
}

// MachineFailure is a machine that could not be made.
type MachineFailure struct {
	Name          string            `json:"name,omitempty"`
	ProviderID    string            `json:"providerID,omitempty"`
	OwnerRef      string            `json:"ownerRef,omitempty"`
	LastOperation *MachineOperation `json:"lastOperation,omitempty"`
}

// MachineOperation is what was last done to a machine.
type MachineOperation struct {
	Description    string `json:"description,omitempty"`
	LastUpdateTime string `json:"lastUpdateTime,omitempty"`
	State          string `json:"state,omitempty"`
	Type           string `json:"type,omitempty"`
}

// DeckhouseProcessing says how far the controllers have followed the object.
type DeckhouseProcessing struct {
	// +kubebuilder:validation:Enum=True;False
	Synced    string          `json:"synced,omitempty"`
	Observed  *ProcessingMark `json:"observed,omitempty"`
	Processed *ProcessingMark `json:"processed,omitempty"`
}

// ProcessingMark is a state of the object and when it was seen.
type ProcessingMark struct {
	LastTimestamp string `json:"lastTimestamp,omitempty"`
	CheckSum      string `json:"checkSum,omitempty"`
}
