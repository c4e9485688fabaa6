package capdvp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// update brings a running machine to a spec that changed, in its place: at once where DVP can do
// that, with one restart where it cannot. It acts on changes of the spec alone: what somebody changed
// in DVP is no reason to restart a machine.
func (r machines) update(ctx context.Context, dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine, owner capiMachine) (time.Duration, error) {
	last := meta.FindStatusCondition(dm.Status.Conditions, v1alpha1.ConditionInPlace)
	if last == nil { // of a version that did not update: what it runs as is what is wanted
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionTrue, v1alpha1.UpToDate, "")
		return steadyPoll, nil
	}
	if last.ObservedGeneration == dm.Generation && (last.Reason == v1alpha1.UpToDate || last.Reason == v1alpha1.NeedsReplacement) {
		return steadyPoll, nil
	}
	boot, err := r.Cloud.Disk(ctx, bootDiskName(dm))
	if err != nil {
		return 0, err
	}
	if fields := beyond(dm, vm, boot); len(fields) > 0 {
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionFalse, v1alpha1.NeedsReplacement, "only another machine can have another "+strings.Join(fields, ", "))
		return steadyPoll, nil
	}
	vm, err = r.change(ctx, dm, vm, boot, owner)
	switch cloud.KindOf(err) {
	case "":
	case cloud.Invalid, cloud.Quota, cloud.Forbidden, cloud.Failed:
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionFalse, v1alpha1.UpdateRefused, err.Error())
		return retryPause(r.Poll), nil
	default:
		return 0, err
	}
	awaits := meta.FindStatusCondition(vm.Status.Conditions, v1alpha2.VMAwaitingRestart)
	switch {
	case vm.Status.ObservedGeneration != vm.Generation, vm.Status.Phase != v1alpha2.MachineRunning:
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionFalse, v1alpha1.Updating, "DVP takes the changes over")
		return r.Poll, nil
	case awaits != nil && awaits.Status == metav1.ConditionTrue:
		say(dm, v1alpha1.ConditionInPlace, metav1.ConditionFalse, v1alpha1.Updating, "the machine restarts to take its changes over")
		return r.Poll, r.restart(ctx, vm)
	}
	say(dm, v1alpha1.ConditionInPlace, metav1.ConditionTrue, v1alpha1.UpToDate, "")
	return steadyPoll, nil
}

// beyond names what differs and cannot be changed of a machine that is there.
func beyond(dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine, boot *v1alpha2.VirtualDisk) (fields []string) {
	if string(vm.Spec.Bootloader) != dm.Spec.Bootloader {
		fields = append(fields, "bootloader")
	}
	if source := boot.Spec.DataSource; source != nil && source.ObjectRef != nil &&
		(source.ObjectRef.Kind != dm.Spec.BootDiskImageRef.Kind || source.ObjectRef.Name != dm.Spec.BootDiskImageRef.Name) {
		fields = append(fields, "bootDiskImageRef")
	}
	if has := boot.Spec.PersistentVolumeClaim.Size; has != nil && dm.Spec.RootDiskSize.Cmp(*has) < 0 {
		fields = append(fields, "rootDiskSize that is smaller")
	}
	if has := ownDisks(dm, vm); has > len(dm.Spec.AdditionalDisks) {
		fields = append(fields, "number of additionalDisks that is smaller")
	}
	return fields
}

// ownDisks counts the additional disks that a machine is made of.
func ownDisks(dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine) (n int) {
	for _, device := range vm.Spec.BlockDeviceRefs {
		if strings.HasPrefix(device.Name, dm.Name+"-additional-disk-") {
			n++
		}
	}
	return n
}

// change writes into DVP what differs. A size that the class does not allow is refused here, before
// anything stops.
func (r machines) change(ctx context.Context, dm *v1alpha1.DeckhouseMachine, vm *v1alpha2.VirtualMachine, boot *v1alpha2.VirtualDisk, owner capiMachine) (*v1alpha2.VirtualMachine, error) {
	for i, disk := range disksOf(dm, vm) {
		if i <= ownDisks(dm, vm) { // the first is the one it boots from
			continue
		}
		if err := r.Cloud.Create(ctx, disk); err != nil && !cloud.Is(err, cloud.Conflict) {
			return vm, err
		}
	}
	if has := boot.Spec.PersistentVolumeClaim.Size; has != nil && dm.Spec.RootDiskSize.Cmp(*has) > 0 {
		if _, err := cloud.Apply(ctx, r.Cloud, boot, func(disk *v1alpha2.VirtualDisk) {
			disk.Spec.PersistentVolumeClaim.Size = &dm.Spec.RootDiskSize
		}); err != nil {
			return vm, err
		}
	}
	want := machineOf(dm, owner).Spec
	return cloud.Apply(ctx, r.Cloud, &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: vm.Name}}, func(now *v1alpha2.VirtualMachine) {
		now.Spec.RunPolicy, now.Spec.LiveMigrationPolicy = want.RunPolicy, want.LiveMigrationPolicy
		now.Spec.VirtualMachineClassName, now.Spec.CPU = want.VirtualMachineClassName, want.CPU
		if now.Spec.Memory.Size.Cmp(want.Memory.Size) != 0 {
			now.Spec.Memory = want.Memory
		}
		now.Spec.BlockDeviceRefs = append(now.Spec.BlockDeviceRefs, want.BlockDeviceRefs[min(1+ownDisks(dm, now), len(want.BlockDeviceRefs)):]...)
	})
}

// restart asks DVP for one restart for each state of a machine: an operation's name follows from the
// state, so it is asked for once, whoever asks again. One that failed makes room for the next.
func (r machines) restart(ctx context.Context, vm *v1alpha2.VirtualMachine) error {
	op := &v1alpha2.VirtualMachineOperation{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-restart-%d", vm.Name, vm.Generation), OwnerReferences: cloud.OwnedBy(vm)},
		Spec:       v1alpha2.OperationSpec{Type: v1alpha2.OperationRestart, VirtualMachineName: vm.Name},
	}
	err := r.Cloud.Create(ctx, op)
	switch cloud.KindOf(err) {
	case cloud.Conflict:
		if err := r.Cloud.Read(ctx, op); cloud.Is(err, cloud.NotFound) || err == nil && !op.Status.Phase.Finished() {
			return nil
		} else if err != nil {
			return err
		}
		return r.Cloud.Remove(ctx, op)
	case cloud.Invalid: // another operation is under way
		return nil
	}
	return err
}
