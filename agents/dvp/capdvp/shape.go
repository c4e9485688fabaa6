package capdvp

import (
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

func secretName(dm *v1alpha1.DeckhouseMachine) string   { return "cloud-init-" + dm.Name }
func bootDiskName(dm *v1alpha1.DeckhouseMachine) string { return dm.Name + "-boot" }

func additionalDiskName(dm *v1alpha1.DeckhouseMachine, i int) string {
	return fmt.Sprintf("%s-additional-disk-%d", dm.Name, i)
}

// machineOf is the VirtualMachine of a machine. What DVP has other defaults for is always given.
func machineOf(dm *v1alpha1.DeckhouseMachine, owner capiMachine) *v1alpha2.VirtualMachine {
	labels := maps.Clone(dm.Spec.AdditionalVMLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[cloud.LabelHostname] = dm.Name
	policy := v1alpha2.LiveMigrationPolicy(dm.Spec.LiveMigrationPolicy)
	if policy == "" {
		if policy = v1alpha2.PreferSafe; owner.controlPlane {
			policy = v1alpha2.PreferForced
		}
	}
	vm := &v1alpha2.VirtualMachine{
		ObjectMeta: metav1.ObjectMeta{Name: dm.Name, Labels: labels, Annotations: maps.Clone(dm.Spec.AdditionalVMAnnotations)},
		Spec: v1alpha2.VirtualMachineSpec{
			VirtualMachineClassName: dm.Spec.VMClassName,
			CPU:                     v1alpha2.CPUSpec{Cores: dm.Spec.CPU.Cores, CoreFraction: dm.Spec.CPU.CPUFraction},
			Memory:                  v1alpha2.MemorySpec{Size: dm.Spec.Memory},
			OSType:                  v1alpha2.Generic, EnableParavirtualization: new(true),
			Bootloader:          v1alpha2.Bootloader(dm.Spec.Bootloader),
			RunPolicy:           v1alpha2.RunPolicy(dm.Spec.RunPolicy),
			LiveMigrationPolicy: policy,
			NodeSelector:        selectorOf(dm, owner.zone), PriorityClassName: dm.Spec.PriorityClassName, Tolerations: dm.Spec.Tolerations,
			BlockDeviceRefs: []v1alpha2.BlockDeviceRef{{Kind: v1alpha2.KindVirtualDisk, Name: bootDiskName(dm)}},
			// The script is more than fits into the machine itself.
			Provisioning: &v1alpha2.Provisioning{Type: v1alpha2.UserDataRef, UserDataRef: &v1alpha2.ProvisioningRef{Kind: v1alpha2.KindSecret, Name: secretName(dm)}},
		},
	}
	for i := range dm.Spec.AdditionalDisks {
		vm.Spec.BlockDeviceRefs = append(vm.Spec.BlockDeviceRefs, v1alpha2.BlockDeviceRef{Kind: v1alpha2.KindVirtualDisk, Name: additionalDiskName(dm, i)})
	}
	for _, gpu := range dm.Spec.GPUs {
		vm.Spec.GPUs = append(vm.Spec.GPUs, v1alpha2.GPU{GPUClassName: gpu.GPUClassName})
	}
	return vm
}

// labelZone is that of DVP's nodes.
const labelZone = "topology.kubernetes.io/zone"

// selectorOf says where the machine may run: in the zone that Cluster API chose for it, if any.
func selectorOf(dm *v1alpha1.DeckhouseMachine, zone string) map[string]string {
	selector := maps.Clone(dm.Spec.NodeSelector)
	if zone == "" {
		return selector
	}
	if selector == nil {
		selector = map[string]string{}
	}
	selector[labelZone] = zone
	return selector
}

// disksOf are the disks that belong to a machine and go with it.
func disksOf(dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine) []*v1alpha2.VirtualDisk {
	disk := func(name string, volume v1alpha2.VolumeSpec, source *v1alpha2.DataSource) *v1alpha2.VirtualDisk {
		return &v1alpha2.VirtualDisk{
			ObjectMeta: metav1.ObjectMeta{
				Name: name, OwnerReferences: cloud.OwnedBy(vm),
				Labels: map[string]string{cloud.LabelHostname: dm.Name, cloud.LabelDisk: name},
			},
			Spec: v1alpha2.VirtualDiskSpec{PersistentVolumeClaim: volume, DataSource: source},
		}
	}
	all := []*v1alpha2.VirtualDisk{disk(
		bootDiskName(dm), v1alpha2.VolumeSpec{StorageClassName: &dm.Spec.RootDiskStorageClass, Size: &dm.Spec.RootDiskSize},
		&v1alpha2.DataSource{Type: "ObjectRef", ObjectRef: &v1alpha2.ObjectRefSource{Kind: dm.Spec.BootDiskImageRef.Kind, Name: dm.Spec.BootDiskImageRef.Name}},
	)}
	for i := range dm.Spec.AdditionalDisks {
		d := &dm.Spec.AdditionalDisks[i]
		all = append(all, disk(additionalDiskName(dm, i), v1alpha2.VolumeSpec{StorageClassName: &d.StorageClass, Size: &d.Size}, nil))
	}
	return all
}
