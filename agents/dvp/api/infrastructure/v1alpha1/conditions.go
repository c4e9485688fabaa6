package v1alpha1

// Conditions of a DeckhouseMachine.
const (
	// ConditionVM tells of the VirtualMachine.
	ConditionVM = "VirtualMachineReady"
	// ConditionReady is the same for Cluster API, which copies it to its Machine.
	ConditionReady = "Ready"
	// ConditionMigration tells of disks that are moved to another storage class.
	ConditionMigration = "DiskStorageClassMigration"
	// ConditionInPlace tells of changes of the spec that are made to the machine in its place.
	ConditionInPlace = "InPlaceUpdate"
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

// Reasons of ConditionMigration.
const (
	DiskMigrationInProgress = "DiskMigrationInProgress"
	DiskMigrationFailed     = "DiskMigrationFailed"
	DiskMigrationCompleted  = "DiskMigrationCompleted"
)

// Reasons of ConditionInPlace.
const (
	UpToDate         = "UpToDate"
	Updating         = "Updating"
	UpdateRefused    = "UpdateRefused"
	NeedsReplacement = "NeedsReplacement"
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
	// NoteMigrationStarted and a disk's name say since when that disk is being moved.
	NoteMigrationStarted = "dvp.deckhouse.io/disk-migration-started-"
	NoteOrphanedDisk     = "dvp.deckhouse.io/orphaned-disk-" // and a hash of its name
)
