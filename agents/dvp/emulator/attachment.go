package emulator

import (
	"context"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

type attachment = v1alpha2.VirtualMachineBlockDeviceAttachment

// attachments asks machines to plug devices in and tells what came of it.
type attachments struct{ *world }

func (r attachments) setup(m ctrl.Manager) error {
	list := &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}
	return ctrl.NewControllerManagedBy(m).For(&attachment{}).
		Watches(&v1alpha2.VirtualMachine{}, whichever(r.world, list, func(o client.Object, a *attachment) bool { return a.Spec.VirtualMachineName == o.GetName() })).
		Watches(&v1alpha2.VirtualDisk{}, whichever(r.world, list, func(o client.Object, a *attachment) bool { return a.Spec.BlockDeviceRef.Name == o.GetName() })).
		Watches(&attachment{}, whichever(r.world, list, func(o client.Object, a *attachment) bool {
			return a.Spec.BlockDeviceRef == o.(*attachment).Spec.BlockDeviceRef && a.Name != o.GetName()
		})).
		Named("attachment").Complete(r)
}

func (r attachments) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	a := new(attachment)
	if err := r.Get(ctx, req.NamespacedName, a); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	vm := new(v1alpha2.VirtualMachine)
	err := r.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: a.Spec.VirtualMachineName}, vm)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if err != nil {
		vm = nil
	}
	if !a.DeletionTimestamp.IsZero() {
		return r.detach(ctx, a, vm)
	}
	if err := r.hold(ctx, a, v1alpha2.FinalizerAttachment); err != nil {
		return ctrl.Result{}, err
	}
	before := a.DeepCopy()
	a.Status.ObservedGeneration = a.Generation
	if err := r.attach(ctx, a, vm); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.write(ctx, before, a)
}

// detach lets an attachment go when the machine has let go of the device. That judgement must not
// come from an old view, or a device would be plugged into two machines.
func (r attachments) detach(ctx context.Context, a *attachment, vm *v1alpha2.VirtualMachine) (ctrl.Result, error) {
	if vm != nil {
		fresh := new(v1alpha2.VirtualMachine)
		err := r.live.Get(ctx, client.ObjectKeyFromObject(vm), fresh)
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		if err == nil && hasPlugged(fresh, a.Name) {
			before := a.DeepCopy()
			a.Status.Phase = v1alpha2.AttachmentPhaseTerminating
			set(&a.Status.Conditions, a, v1alpha2.AttachmentTerminating, true, v1alpha2.AttachmentDetachPending, "the machine still has the device")
			return again(time.Second), r.write(ctx, before, a)
		}
	}
	r.timers.forget(a.UID, "attach", "detach")
	return ctrl.Result{}, r.release(ctx, a, v1alpha2.FinalizerAttachment)
}

func (r attachments) attach(ctx context.Context, a *attachment, vm *v1alpha2.VirtualMachine) error {
	if vm != nil && hasPlugged(vm, a.Name) {
		a.Status.Phase, a.Status.VirtualMachineName = v1alpha2.AttachmentPhaseAttached, vm.Name
		set(&a.Status.Conditions, a, v1alpha2.AttachmentDeviceReady, true, v1alpha2.AttachmentDeviceReady, "")
		set(&a.Status.Conditions, a, v1alpha2.AttachmentMachineReady, true, v1alpha2.AttachmentMachineReady, "")
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, true, v1alpha2.AttachmentAttached, "")
		return nil
	}
	others, err := attachmentsWhere(ctx, r, a.Namespace, func(*attachment) bool { return true })
	if err != nil {
		return err
	}
	a.Status.VirtualMachineName = ""
	if conflict := conflictOf(a, vm, others); conflict != "" {
		a.Status.Phase = v1alpha2.AttachmentPhaseFailed
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, false, v1alpha2.AttachmentConflict, conflict)
		return nil
	}
	ready, err := r.deviceReady(ctx, a)
	if err != nil {
		return err
	}
	running := vm != nil && (vm.Status.Phase == v1alpha2.MachineRunning || vm.Status.Phase == v1alpha2.MachineMigrating)
	set(&a.Status.Conditions, a, v1alpha2.AttachmentDeviceReady, ready, pick(ready, v1alpha2.AttachmentDeviceReady, v1alpha2.AttachmentDeviceNotReady), "")
	set(&a.Status.Conditions, a, v1alpha2.AttachmentMachineReady, running, pick(running, v1alpha2.AttachmentMachineReady, pick(vm != nil, v1alpha2.AttachmentNotAttached, v1alpha2.AttachmentMachineNotReady)), "")
	if !ready || !running {
		a.Status.Phase = v1alpha2.AttachmentPhasePending
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, false, v1alpha2.AttachmentNotAttached, "")
		r.timers.forget(a.UID, "attach")
		return nil
	}
	count := len(vm.Spec.BlockDeviceRefs) + older(a, others)
	full := count >= v1alpha2.MaxBlockDevices
	set(&a.Status.Conditions, a, v1alpha2.AttachmentCapacity, !full, pick(full, v1alpha2.AttachmentCapacityReached, v1alpha2.AttachmentCapacityThere), fmt.Sprintf("%d of %d devices are taken", count, v1alpha2.MaxBlockDevices))
	disk := new(v1alpha2.VirtualDisk)
	disk.Name, disk.Namespace = a.Spec.BlockDeviceRef.Name, a.Namespace
	_ = r.Get(ctx, client.ObjectKeyFromObject(disk), disk) // images have no volume that could be elsewhere
	switch {
	case full:
		a.Status.Phase = v1alpha2.AttachmentPhasePending
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, false, v1alpha2.AttachmentNotAttached, "")
	case r.faulty(ctx, disk, FaultNotOnNode):
		a.Status.Phase = v1alpha2.AttachmentPhaseFailed
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, false, v1alpha2.AttachmentNotOnNode, "the volume cannot be reached from node "+vm.Status.NodeName)
	default:
		a.Status.Phase = v1alpha2.AttachmentPhaseInProgress
		set(&a.Status.Conditions, a, v1alpha2.AttachmentAttached, false, v1alpha2.AttachmentRequestSent, "")
	}
	return nil
}

// deviceReady says whether a device can be plugged in: not while another machine has it.
func (r attachments) deviceReady(ctx context.Context, a *attachment) (bool, error) {
	ref := a.Spec.BlockDeviceRef
	if ref.Kind != v1alpha2.KindVirtualDisk {
		image, err := imageOf(ctx, r, a.Namespace, ref.Kind, ref.Name)
		return image != nil && image.Phase == v1alpha2.ImagePhaseReady, err
	}
	disk := new(v1alpha2.VirtualDisk)
	if err := r.Get(ctx, client.ObjectKey{Namespace: a.Namespace, Name: ref.Name}, disk); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return disk.Status.Phase == v1alpha2.DiskPhaseReady && disk.DeletionTimestamp.IsZero() && !mountedElsewhere(disk, a.Spec.VirtualMachineName), nil
}

// conflictOf says who has the device already, or nothing.
func conflictOf(a *attachment, vm *v1alpha2.VirtualMachine, others []attachment) string {
	if vm != nil && uses(vm, a.Spec.BlockDeviceRef.Kind, a.Spec.BlockDeviceRef.Name) {
		return fmt.Sprintf("%s is in the spec of machine %s", a.Spec.BlockDeviceRef.Name, vm.Name)
	}
	for i := range others {
		o := &others[i]
		if o.Spec.BlockDeviceRef == a.Spec.BlockDeviceRef && earlier(o, a) {
			return fmt.Sprintf("attachment %s has %s", o.Name, o.Spec.BlockDeviceRef.Name)
		}
	}
	return ""
}

// older counts the attachments to the same machine that came before.
func older(a *attachment, others []attachment) int {
	count := 0
	for i := range others {
		if others[i].Spec.VirtualMachineName == a.Spec.VirtualMachineName && earlier(&others[i], a) {
			count++
		}
	}
	return count
}

func earlier(a, b *attachment) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

func attachmentsWhere(ctx context.Context, c client.Reader, namespace string, meets func(*attachment) bool) ([]attachment, error) {
	var list v1alpha2.VirtualMachineBlockDeviceAttachmentList
	if err := c.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	var found []attachment
	for _, a := range list.Items {
		if meets(&a) {
			found = append(found, a)
		}
	}
	return found, nil
}

func pick(which bool, yes, no string) string {
	if which {
		return yes
	}
	return no
}
