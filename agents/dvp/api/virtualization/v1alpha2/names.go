package v1alpha2

// Kinds, as references spell them.
const (
	KindVirtualMachine      = "VirtualMachine"
	KindVirtualDisk         = "VirtualDisk"
	KindVirtualImage        = "VirtualImage"
	KindClusterVirtualImage = "ClusterVirtualImage"
	KindVirtualDiskSnapshot = "VirtualDiskSnapshot"
	KindSecret              = "Secret"
)

// Finalizers by which DVP holds an object until its work is undone.
const (
	FinalizerVM             = "virtualization.deckhouse.io/vm-cleanup"
	FinalizerDisk           = "virtualization.deckhouse.io/vd-cleanup"
	FinalizerDiskProtection = "virtualization.deckhouse.io/vd-protection" // while it is mounted
	FinalizerAttachment     = "virtualization.deckhouse.io/vmbda-cleanup"
	FinalizerIPAddress      = "virtualization.deckhouse.io/vmip-cleanup"
	FinalizerLease          = "virtualization.deckhouse.io/vmipl-cleanup"
	FinalizerOperation      = "virtualization.deckhouse.io/vmop-cleanup"
	FinalizerEvacuation     = "virtualization.deckhouse.io/vmop-protection-by-evacuation-controller"
	FinalizerClass          = "virtualization.deckhouse.io/vmclass-cleanup"
	FinalizerImage          = "virtualization.deckhouse.io/vi-cleanup"
	FinalizerClusterImage   = "virtualization.deckhouse.io/cvi-cleanup"
)

// AnnotationDefaultClass marks the class of machines that name none; at most one has it.
const AnnotationDefaultClass = "virtualmachineclass.virtualization.deckhouse.io/is-default-class"

// LabelLauncher is on the pod in which a machine runs; its value is the machine's name.
const LabelLauncher = "vm.kubevirt.internal.virtualization.deckhouse.io/name"

// Secrets that a machine may take its first configuration from.
const (
	SecretTypeCloudInit = "provisioning.virtualization.deckhouse.io/cloud-init" // key userData
	SecretTypeSysprep   = "provisioning.virtualization.deckhouse.io/sysprep"
	SecretKeyUserData   = "userData"
)

// Limits of DVP.
const (
	// MaxBlockDevices is how many devices a machine can have: those of its spec and those attached
	// later together.
	MaxBlockDevices = 16
	// MaxInlineUserData is in bytes; what is longer must come from a Secret.
	MaxInlineUserData = 2048
)

// DeviceLinkPrefix begins the path of a disk inside the machine; the disk's serial follows.
const DeviceLinkPrefix = "/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_"
