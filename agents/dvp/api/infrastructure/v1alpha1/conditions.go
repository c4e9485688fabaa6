package v1alpha1

// Conditions of a DeckhouseMachine.
const (
	// ConditionVM tells of the VirtualMachine.
	ConditionVM = "VirtualMachineReady"
	// ConditionReady is the same for Cluster API, which copies it to its Machine.
	ConditionReady = "Ready"
	// ConditionPaused is what Cluster API's contract asks for.
	ConditionPaused = "Paused"
)

// Reasons of ConditionVM.
const (
	VMNotReady                    = "VMNotReady"
	VMError                       = "VMError"
	VMInFailedState               = "VMInFailedState"
	VMInStoppedState              = "VMInStoppedState"
	WaitingForInfrastructure      = "WaitingForClusterInfrastructure"
	WaitingForBootstrapScript     = "WaitingForBootstrapScript"
	VMRunning                     = "VMRunning"
	BootDiskProvisioningFailed    = "BootDiskProvisioningFailed"
	MigratedFromBeta1             = "MigratedFromBeta1"
	ReasonPaused, ReasonNotPaused = "Paused", "NotPaused"
)

// Failure reasons, as older versions of Cluster API know them.
const (
	CreateMachineError = "CreateMachineError"
	UpdateMachineError = "UpdateMachineError"
)

// Annotations about what was left behind in DVP when its removal did not end.
const (
	NoteOrphanedVM     = "dvp.deckhouse.io/orphaned-vm"
	NoteOrphanedVMTime = "dvp.deckhouse.io/orphaned-vm-timestamp"
	NoteOrphanedDisk   = "dvp.deckhouse.io/orphaned-disk-" // and a hash of its name
)
