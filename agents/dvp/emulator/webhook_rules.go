package emulator

import (
	"context"
	"net/netip"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

func (j judge) disk(ctx context.Context, vd, before *v1alpha2.VirtualDisk) (verdict, error) {
	size := vd.Spec.PersistentVolumeClaim.Size
	switch {
	case size != nil && size.Sign() <= 0:
		return deny("the size of a disk must be more than 0"), nil
	case size == nil && vd.Spec.DataSource == nil:
		return deny("a blank disk needs a size"), nil
	}
	if before != nil {
		was := before.Spec.PersistentVolumeClaim.Size
		provisioned := before.Status.Capacity != ""
		switch {
		case size != nil && was != nil && size.Cmp(*was) < 0:
			return deny("a disk cannot shrink from %s to %s", was, size), nil
		case provisioned && !reflect.DeepEqual(vd.Spec.DataSource, before.Spec.DataSource):
			return deny("the data source of a disk cannot change after it was provisioned"), nil
		case before.Status.Phase == v1alpha2.DiskPhaseMigrating && !reflect.DeepEqual(size, was):
			return deny("the size of a disk cannot change while it moves"), nil
		}
	}
	if vd.Spec.DataSource == nil || vd.Spec.DataSource.ObjectRef == nil || vd.Spec.DataSource.ObjectRef.Kind == v1alpha2.KindVirtualDiskSnapshot {
		return verdict{}, nil
	}
	ref := vd.Spec.DataSource.ObjectRef
	image, err := imageOf(ctx, j, vd.Namespace, ref.Kind, ref.Name)
	if err != nil || image == nil || image.Size.UnpackedBytes == "" {
		return verdict{}, err
	}
	least, err := resource.ParseQuantity(image.Size.UnpackedBytes)
	switch {
	case err != nil:
		return verdict{}, err
	case image.CDROM:
		return deny("a disk cannot be made from %s %q: it is an ISO", ref.Kind, ref.Name), nil
	case size != nil && size.Cmp(least) < 0:
		return deny("a disk of %s is too small for %s %q, which needs %s", size, ref.Kind, ref.Name, image.Size.Unpacked), nil
	}
	return verdict{}, nil
}

func (j judge) attachment(ctx context.Context, a *attachment) (verdict, error) {
	vm := new(v1alpha2.VirtualMachine)
	err := j.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.VirtualMachineName}, vm)
	if client.IgnoreNotFound(err) != nil {
		return verdict{}, err
	}
	if vm.Spec.OSType == v1alpha2.Legacy {
		return deny("nothing can be attached to a machine of osType Legacy"), nil
	}
	all, err := attachmentsWhere(ctx, j, a.Namespace, func(*attachment) bool { return true })
	if err != nil {
		return verdict{}, err
	}
	count := len(vm.Spec.BlockDeviceRefs) + 1
	for _, other := range all {
		if other.Spec.BlockDeviceRef == a.Spec.BlockDeviceRef {
			return deny("%s %q is attached by %s already", a.Spec.BlockDeviceRef.Kind, a.Spec.BlockDeviceRef.Name, other.Name), nil
		}
		if other.Spec.VirtualMachineName == a.Spec.VirtualMachineName {
			count++
		}
	}
	if count > v1alpha2.MaxBlockDevices {
		return deny("%d block devices are more than the limit of %d", count, v1alpha2.MaxBlockDevices), nil
	}
	return verdict{}, nil
}

// supersedes says whether an operation may end an unfinished one.
func supersedes(now, unfinished v1alpha2.OperationSpec) bool {
	forced := now.Force != nil && *now.Force
	is := func(kind v1alpha2.OperationType, of ...v1alpha2.OperationType) bool {
		for _, o := range of {
			if kind == o {
				return true
			}
		}
		return false
	}
	switch {
	case is(unfinished.Type, v1alpha2.OperationStart):
		return now.Type == v1alpha2.OperationStop
	case is(unfinished.Type, v1alpha2.OperationStop, v1alpha2.OperationRestart):
		return forced && is(now.Type, v1alpha2.OperationStop, v1alpha2.OperationRestart)
	}
	return is(now.Type, v1alpha2.OperationStop, v1alpha2.OperationRestart)
}

func (j judge) operation(ctx context.Context, op *operation) (verdict, error) {
	var all v1alpha2.VirtualMachineOperationList
	if err := j.List(ctx, &all, client.InNamespace(op.Namespace)); err != nil {
		return verdict{}, err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.Spec.VirtualMachineName == op.Spec.VirtualMachineName && !other.Status.Phase.Finished() && !supersedes(op.Spec, other.Spec) {
			return deny("operation %s of machine %s is not finished", other.Name, op.Spec.VirtualMachineName), nil
		}
	}
	return verdict{}, nil
}

func (j judge) class(ctx context.Context, class *v1alpha2.VirtualMachineClass) (verdict, error) {
	if !isDefault(*class) {
		return verdict{}, nil
	}
	var all v1alpha2.VirtualMachineClassList
	if err := j.List(ctx, &all); err != nil {
		return verdict{}, err
	}
	for _, other := range all.Items {
		if other.Name != class.Name && isDefault(other) {
			return deny("class %s is the default one already", other.Name), nil
		}
	}
	return verdict{}, nil
}

func (j judge) address(ctx context.Context, a, before *v1alpha2.VirtualMachineIPAddress) (verdict, error) {
	if before != nil {
		if before.Status.Address != "" && a.Spec.Type == v1alpha2.AddressStatic && a.Spec.StaticIP != before.Status.Address {
			return deny("an address cannot change while it is held: it is %s", before.Status.Address), nil
		}
		return verdict{}, nil
	}
	if a.Spec.Type != v1alpha2.AddressStatic {
		return verdict{}, nil
	}
	address, err := netip.ParseAddr(a.Spec.StaticIP)
	if err != nil || !j.world.inRange(address) {
		return deny("%s is not in the ranges for machines %v", a.Spec.StaticIP, j.world.MachineRanges), nil
	}
	held := new(lease)
	err = j.Get(ctx, client.ObjectKey{Name: leaseName(address)}, held)
	if err == nil && !holds(held, a) && held.Spec.IPAddressRef != nil {
		return deny("%s is leased to %s/%s", address, held.Spec.IPAddressRef.Namespace, held.Spec.IPAddressRef.Name), nil
	}
	return verdict{}, client.IgnoreNotFound(err)
}
