package v1alpha2

// ReasonUnknown is the reason of a condition that was not judged yet.
const ReasonUnknown = "Unknown"

// Conditions of a VirtualMachine and their reasons. A condition whose reason for True is its own
// name has only the others listed.
const (
	VMIPAddressReady       = "VirtualMachineIPAddressReady"
	VMIPAddressNotReady    = "VirtualMachineIPAddressNotReady"
	VMIPAddressNotAssigned = "VirtualMachineIPAddressNotAssigned"

	VMClassReady    = "VirtualMachineClassReady"
	VMClassNotReady = "VirtualMachineClassNotReady"

	VMBlockDevicesReady        = "BlockDevicesReady"
	VMBlockDevicesNotReady     = "BlockDevicesNotReady"
	VMBlockDevicesWaitConsumer = "WaitingForWaitForFirstConsumerBlockDevicesToBeReady"
	VMBlockDevicesTooMany      = "BlockDeviceLimitExceeded"

	VMProvisioningReady    = "ProvisioningReady"
	VMProvisioningNotReady = "ProvisioningNotReady"

	VMRunning        = "Running"
	VMNotRunning     = "NotRunning"
	VMPodNotStarted  = "PodNotStarted"
	VMInternalError  = "InternalVirtualMachineError"
	VMPodTerminating = "PodTerminating"

	VMMigrating           = "Migrating"
	VMMigratingPending    = "Pending"
	VMMigratingInProgress = "InProgress"
	VMMigratable          = "Migratable"
	VMMigratableTrue      = "VirtualMachineMigratable"
	VMEvictionRequired    = "EvictionRequired"

	VMConfigurationApplied    = "ConfigurationApplied"
	VMConfigurationNotApplied = "ConfigurationNotApplied"
	VMAwaitingRestart         = "AwaitingRestartToApplyConfiguration"
	VMChangesPendingRestart   = "ChangesPendingRestart"
	VMNoRestartRequired       = "NoRestartRequired"

	VMSizingPolicyMatched    = "SizingPolicyMatched" // shown only while False
	VMSizingPolicyNotMatched = "SizingPolicyNotMatched"
	VMSizingClassNotFound    = "VirtualMachineClassNotFound"
	VMSizingClassTerminating = "VirtualMachineClassTerminating"
)

// Conditions of a VirtualDisk and their reasons.
const (
	DiskDatasourceReady       = "DatasourceReady"
	DiskImageNotReady         = "ImageNotReady"
	DiskClusterImageNotReady  = "ClusterImageNotReady"
	DiskImageNotFound         = "ImageNotFound"
	DiskClusterImageNotFound  = "ClusterImageNotFound"
	DiskReady                 = "Ready"
	DiskProvisioning          = "Provisioning"
	DiskProvisioningNotStart  = "ProvisioningNotStarted"
	DiskWaitingForConsumer    = "WaitingForFirstConsumer"
	DiskProvisioningFailed    = "ProvisioningFailed"
	DiskPVCLost               = "PVCLost"
	DiskQuotaExceeded         = "QuotaExceeded"
	DiskImagePullFailed       = "ImagePullFailed"
	DiskDatasourceNotReady    = "DatasourceIsNotReady"
	DiskDatasourceNotFound    = "DatasourceIsNotFound"
	DiskClassIsNotReady       = "StorageClassIsNotReady"
	DiskResizing              = "Resizing"
	DiskResizingInProgress    = "InProgress"
	DiskResizingNotAvailable  = "NotAvailable"
	DiskStorageClassReady     = "StorageClassReady"
	DiskStorageClassNotReady  = "StorageClassNotReady"
	DiskInUse                 = "InUse"
	DiskAttachedToVM          = "AttachedToVirtualMachine"
	DiskNotInUse              = "NotInUse"
	DiskMigrating             = "Migrating"
	DiskMigratingInProgress   = "InProgress"
	DiskMigratingClassMissing = "StorageClassNotFound"
	DiskTerminating           = "Terminating"
	DiskCleanupPending        = "CleanupPending"
)

// Conditions of a VirtualMachineBlockDeviceAttachment and their reasons.
const (
	AttachmentDeviceReady     = "BlockDeviceReady"
	AttachmentDeviceNotReady  = "BlockDeviceNotReady"
	AttachmentMachineReady    = "VirtualMachineReady"
	AttachmentMachineNotReady = "VirtualMachineNotReady"
	AttachmentAttached        = "Attached"
	AttachmentNotAttached     = "NotAttached"
	AttachmentRequestSent     = "AttachmentRequestSent"
	AttachmentConflict        = "Conflict"
	AttachmentNotOnNode       = "DeviceNotAvailableOnNode"
	AttachmentCapacity        = "DiskAttachmentCapacityAvailableType"
	AttachmentCapacityThere   = "CapacityAvailable"
	AttachmentCapacityReached = "CapacityReached"
	AttachmentTerminating     = "Terminating"
	AttachmentDetachPending   = "DetachPending"
)

// Conditions of VirtualMachineIPAddress, VirtualMachineIPAddressLease, VirtualMachineClass and
// images, and their reasons.
const (
	AddressBound        = "Bound"
	AddressOutOfRange   = "VirtualMachineIPAddressIsOutOfTheValidRange"
	AddressLeaseExists  = "VirtualMachineIPAddressLeaseAlreadyExists"
	AddressLeaseLost    = "VirtualMachineIPAddressLeaseLost"
	AddressAttached     = "Attached"
	AddressMachineGone  = "VirtualMachineNotFound"
	LeaseReleased       = "Released"
	ClassReady          = "Ready"
	ClassNodesFound     = "SuitableNodesFound"
	ClassNoNodes        = "NoSuitableNodesFound"
	ClassInUse          = "InUse"
	ImageReadyCondition = "Ready"
)

// OperationCompletedCondition is the condition of a VirtualMachineOperation that tells its end.
const OperationCompletedCondition = "Completed"

// Reasons for which a VirtualMachineOperation fails.
const (
	OperationMachineNotFound  = "VirtualMachineNotFound"
	OperationNotForPolicy     = "NotApplicableForVirtualMachineRunPolicy"
	OperationNotForPhase      = "NotApplicableForVirtualMachinePhase"
	OperationQuotaExceeded    = "QuotaExceeded"
	OperationUnschedulable    = "TargetUnschedulable"
	OperationAborted          = "Aborted"
	OperationFailedReason     = "OperationFailed"
	OperationCompletedReason  = "OperationCompleted"
	OperationInProgressReason = "OperationInProgress"
)
