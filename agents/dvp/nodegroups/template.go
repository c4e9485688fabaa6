package nodegroups

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	configuration "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
)

// checksumNote says of what the machines of a MachineDeployment are made.
const checksumNote = "checksum/instance-class"

// checksum changes with what a machine cannot get without being made anew. The rest of a class is for
// machines to come.
func checksum(spec *configuration.DVPInstanceClassSpec) (string, error) {
	vm := spec.VirtualMachine
	text, err := json.Marshal([]any{
		vm.VirtualMachineClassName, vm.Bootloader, vm.CPU.Cores, vm.CPU.CoreFraction, vm.Memory.Size,
		spec.RootDisk.Size, spec.RootDisk.StorageClass, spec.RootDisk.Image.Kind, spec.RootDisk.Image.Name, spec.AdditionalDisks,
	})
	if err != nil {
		return "", fmt.Errorf("sum up class: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// templateName has a part of the checksum in it: Cluster API rolls out a template of another name.
func templateName(group, checksum string) string { return group + "-" + checksum[:8] }

// templateOf is the template of a group's machines.
func templateOf(group string, spec *configuration.DVPInstanceClassSpec, s *settings) (*v1alpha1.DeckhouseMachineTemplate, string, error) {
	sum, err := checksum(spec)
	if err != nil {
		return nil, "", err
	}
	vm := spec.VirtualMachine
	labels := maps.Clone(s.vmLabels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, vm.AdditionalLabels)
	sizes := map[configuration.Size]resource.Quantity{}
	for _, size := range append([]configuration.Size{vm.Memory.Size, spec.RootDisk.Size}, sizesOf(spec.AdditionalDisks)...) {
		if sizes[size], err = resource.ParseQuantity(string(size)); err != nil {
			return nil, "", fmt.Errorf("read size %q: %w", size, err)
		}
	}
	machine := v1alpha1.MachineResources{
		VMClassName: vm.VirtualMachineClassName,
		CPU:         v1alpha1.CPU{Cores: vm.CPU.Cores, CPUFraction: vm.CPU.CoreFraction},
		Memory:      sizes[vm.Memory.Size], RootDiskSize: sizes[spec.RootDisk.Size], RootDiskStorageClass: cmp.Or(spec.RootDisk.StorageClass, s.class),
		BootDiskImageRef: v1alpha1.ImageRef{Kind: spec.RootDisk.Image.Kind, Name: spec.RootDisk.Image.Name},
		Bootloader:       vm.Bootloader, RunPolicy: vm.RunPolicy, LiveMigrationPolicy: vm.LiveMigrationPolicy,
		AdditionalVMLabels: labels, AdditionalVMAnnotations: vm.AdditionalAnnotations,
		NodeSelector: vm.NodeSelector, PriorityClassName: vm.PriorityClassName, Tolerations: vm.Tolerations,
	}
	for _, disk := range spec.AdditionalDisks {
		machine.AdditionalDisks = append(machine.AdditionalDisks, v1alpha1.AdditionalDisk{Size: sizes[disk.Size], StorageClass: cmp.Or(disk.StorageClass, s.class)})
	}
	for _, gpu := range vm.GPUs {
		machine.GPUs = append(machine.GPUs, v1alpha1.GPU{GPUClassName: gpu.GPUClassName})
	}
	return &v1alpha1.DeckhouseMachineTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: templateName(group, sum), Labels: map[string]string{labelGroup: group}},
		Spec:       v1alpha1.DeckhouseMachineTemplateSpec{Template: v1alpha1.MachineTemplate{Spec: machine}},
	}, sum, nil
}

func sizesOf(disks []configuration.Disk) (sizes []configuration.Size) {
	for _, disk := range disks {
		sizes = append(sizes, disk.Size)
	}
	return sizes
}
