package emulator

import (
	"context"
	"fmt"
	"reflect"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

func (j judge) machine(ctx context.Context, vm, before *v1alpha2.VirtualMachine) (verdict, error) {
	was := new(v1alpha2.VirtualMachine)
	if before != nil {
		was = before
	}
	for _, key := range []string{foreign(vm.Labels, was.Labels), foreign(vm.Annotations, was.Annotations)} {
		if key != "" {
			return deny("labels and annotations of the group %s are DVP's own: %s", v1alpha2.GroupVersion.Group, key), nil
		}
	}
	if before != nil && (reflect.DeepEqual(vm.Spec, before.Spec) || !vm.DeletionTimestamp.IsZero()) {
		return verdict{}, nil
	}
	if !coresFit(vm.Spec.CPU.Cores) {
		return deny("%d cores cannot be divided into sockets", vm.Spec.CPU.Cores), nil
	}
	for _, rule := range []func(context.Context, *v1alpha2.VirtualMachine) (verdict, error){j.firstDevice, j.attachedDevices, j.namedAddress, j.size} {
		if said, err := rule(ctx, vm); err != nil || said != (verdict{}) {
			return said, err
		}
	}
	return verdict{}, nil
}

// coresFit says whether cores can be divided evenly: any number up to 16, then in growing steps.
func coresFit(cores int) bool {
	switch {
	case cores <= 16:
		return true
	case cores <= 32:
		return cores%2 == 0
	case cores <= 64:
		return cores%4 == 0
	}
	return cores <= 248 && cores%8 == 0
}

func (j judge) firstDevice(ctx context.Context, vm *v1alpha2.VirtualMachine) (verdict, error) {
	first := vm.Spec.BlockDeviceRefs[0]
	if first.Kind == v1alpha2.KindVirtualDisk {
		return verdict{}, nil
	}
	image, err := imageOf(ctx, j, vm.Namespace, first.Kind, first.Name)
	if err == nil && image != nil && image.Phase == v1alpha2.ImagePhaseReady && !image.CDROM {
		return deny("the first device is %s %q, which is no ISO: a machine needs a disk of its own to start from", first.Kind, first.Name), nil
	}
	return verdict{}, err
}

func (j judge) attachedDevices(ctx context.Context, vm *v1alpha2.VirtualMachine) (verdict, error) {
	attached, err := attachmentsWhere(ctx, j, vm.Namespace, func(a *attachment) bool { return a.Spec.VirtualMachineName == vm.Name })
	if err != nil {
		return verdict{}, err
	}
	for _, a := range attached {
		if uses(vm, a.Spec.BlockDeviceRef.Kind, a.Spec.BlockDeviceRef.Name) {
			return deny("%s %q is attached by %s already", a.Spec.BlockDeviceRef.Kind, a.Spec.BlockDeviceRef.Name, a.Name), nil
		}
	}
	if count := len(vm.Spec.BlockDeviceRefs) + len(attached); count > v1alpha2.MaxBlockDevices {
		return deny("%d block devices are more than the limit of %d", count, v1alpha2.MaxBlockDevices), nil
	}
	return verdict{}, nil
}

func (j judge) namedAddress(ctx context.Context, vm *v1alpha2.VirtualMachine) (verdict, error) {
	name := vm.Spec.VirtualMachineIPAddressName
	if name == "" {
		return verdict{}, nil
	}
	address := new(v1alpha2.VirtualMachineIPAddress)
	err := j.Get(ctx, client.ObjectKey{Namespace: vm.Namespace, Name: name}, address)
	switch {
	case missing(err) && err != nil:
		return verdict{warn: fmt.Sprintf("there is no VirtualMachineIPAddress %q yet", name)}, nil
	case err != nil:
		return verdict{}, err
	case address.Status.VirtualMachineName != "" && address.Status.VirtualMachineName != vm.Name:
		return deny("VirtualMachineIPAddress %q belongs to machine %q", name, address.Status.VirtualMachineName), nil
	}
	return verdict{}, nil
}

func (j judge) size(ctx context.Context, vm *v1alpha2.VirtualMachine) (verdict, error) {
	class := new(v1alpha2.VirtualMachineClass)
	err := j.Get(ctx, client.ObjectKey{Name: vm.Spec.VirtualMachineClassName}, class)
	if err != nil && missing(err) {
		return verdict{warn: fmt.Sprintf("there is no VirtualMachineClass %q yet", vm.Spec.VirtualMachineClassName)}, nil
	} else if err != nil {
		return verdict{}, err
	}
	if faults := sizingFaults(&vm.Spec, class); len(faults) > 0 {
		return verdict{deny: sizingMessage(class.Name, faults)}, nil
	}
	return verdict{}, nil
}
