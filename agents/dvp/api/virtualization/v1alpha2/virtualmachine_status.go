package v1alpha2

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VirtualMachineStatus is what a machine is.
type VirtualMachineStatus struct {
	Phase                       MachinePhase `json:"phase,omitempty"`
	NodeName                    string       `json:"nodeName,omitempty"`
	VirtualMachineIPAddressName string       `json:"virtualMachineIPAddressName,omitempty"`
	// IPAddress may be known before the machine runs, and stays while it is stopped or moved.
	IPAddress       string                 `json:"ipAddress,omitempty"`
	BlockDeviceRefs []BlockDeviceStatusRef `json:"blockDeviceRefs,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions             []metav1.Condition `json:"conditions,omitempty"`
	Stats                  *MachineStats      `json:"stats,omitempty"`
	MigrationState         *MigrationState    `json:"migrationState,omitempty"`
	ObservedGeneration     int64              `json:"observedGeneration,omitempty"`
	RestartAwaitingChanges []RestartChange    `json:"restartAwaitingChanges,omitempty"`
	VirtualMachinePods     []MachinePod       `json:"virtualMachinePods,omitempty"`
	Resources              *MachineResources  `json:"resources,omitempty"`
}

// MachinePhase sums a machine up.
//
// +kubebuilder:validation:Enum=Pending;Running;Terminating;Stopped;Stopping;Starting;Migrating;Pause;Degraded
type MachinePhase string

// The phases of a machine. Today's DVP never says Degraded; older ones do.
const (
	MachinePending     MachinePhase = "Pending"
	MachineRunning     MachinePhase = "Running"
	MachineTerminating MachinePhase = "Terminating"
	MachineStopped     MachinePhase = "Stopped"
	MachineStopping    MachinePhase = "Stopping"
	MachineStarting    MachinePhase = "Starting"
	MachineMigrating   MachinePhase = "Migrating"
	MachinePause       MachinePhase = "Pause"
	MachineDegraded    MachinePhase = "Degraded"
)

// BlockDeviceStatusRef is a device that a machine has or waits for.
type BlockDeviceStatusRef struct {
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Size     string `json:"size,omitempty"`
	Attached bool   `json:"attached"`
	Target   string `json:"target,omitempty"` // the device's name in the guest, such as sda
	// Hotplugged says that it came by the attachment named here and not by the machine's spec.
	Hotplugged     bool   `json:"hotplugged,omitempty"`
	AttachmentName string `json:"virtualMachineBlockDeviceAttachmentName,omitempty"`
	BootOrder      *int   `json:"bootOrder,omitempty"`
}

// MachineStats is the history of a machine.
type MachineStats struct {
	PhasesTransitions []PhaseTransition `json:"phasesTransitions,omitempty"`
	LastStartTime     *metav1.Time      `json:"lastStartTime,omitempty"`
}

// PhaseTransition is when a machine came into a phase.
type PhaseTransition struct {
	Phase     MachinePhase `json:"phase,omitempty"`
	Timestamp metav1.Time  `json:"timestamp,omitempty"`
}

// MigrationState is the last move between nodes. An empty Result means that it goes on.
type MigrationState struct {
	StartTimestamp *metav1.Time     `json:"startTimestamp,omitempty"`
	EndTimestamp   *metav1.Time     `json:"endTimestamp,omitempty"`
	Source         MigrationPlace   `json:"source,omitempty"`
	Target         MigrationPlace   `json:"target,omitempty"`
	Result         MigrationOutcome `json:"result,omitempty"`
}

// MigrationPlace is one end of a move.
type MigrationPlace struct {
	Node string `json:"node,omitempty"`
	Pod  string `json:"pod,omitempty"`
}

// MigrationOutcome is how a move ended.
//
// +kubebuilder:validation:Enum=Succeeded;Failed;""
type MigrationOutcome string

// The outcomes of a move.
const (
	MigrationSucceeded MigrationOutcome = "Succeeded"
	MigrationFailed    MigrationOutcome = "Failed"
)

// RestartChange is a change of the spec that waits for a restart.
type RestartChange struct {
	// +kubebuilder:validation:Enum=add;remove;replace
	Operation    string                `json:"operation"`
	Path         string                `json:"path"`
	CurrentValue *apiextensionsv1.JSON `json:"currentValue,omitempty"`
	DesiredValue *apiextensionsv1.JSON `json:"desiredValue,omitempty"`
}

// MachinePod is a pod in which a machine runs, or runs next.
type MachinePod struct {
	Name   string `json:"name"`
	Active bool   `json:"active"`
}

// MachineResources is what a machine was given at its last start.
type MachineResources struct {
	CPU    ResourcesCPU    `json:"cpu"`
	Memory ResourcesMemory `json:"memory"`
}

// ResourcesCPU is the share of the processor.
type ResourcesCPU struct {
	Cores        int    `json:"cores"`
	CoreFraction string `json:"coreFraction,omitempty"`
}

// ResourcesMemory is the memory.
type ResourcesMemory struct {
	Size string `json:"size"`
}
