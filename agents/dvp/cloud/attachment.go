package cloud

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// Attachment is the object by which a disk is plugged into a machine.
type Attachment = v1alpha2.VirtualMachineBlockDeviceAttachment

// Attachments lists all attachments of the project that meet a condition, whoever made them.
func (c *Cloud) Attachments(ctx context.Context, meets func(*Attachment) bool) ([]Attachment, error) {
	var all v1alpha2.VirtualMachineBlockDeviceAttachmentList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := c.list(ctx, &all, client.InNamespace(c.namespace)); err != nil {
		return nil, judge(err, "list attachments", "virtualmachineblockdeviceattachments", "")
	}
	var found []Attachment
	for i := range all.Items {
		if meets(&all.Items[i]) {
			found = append(found, all.Items[i])
		}
	}
	return found, nil
}

// OfDisk meets the attachments of a disk.
func OfDisk(disk string) func(*Attachment) bool {
	return func(a *Attachment) bool {
		return a.Spec.BlockDeviceRef.Kind == v1alpha2.KindVirtualDisk && a.Spec.BlockDeviceRef.Name == disk
	}
}

// OfMachine meets the attachments to a machine.
func OfMachine(machine string) func(*Attachment) bool {
	return func(a *Attachment) bool { return a.Spec.VirtualMachineName == machine }
}

// Attach begins to plug a disk into a machine. The attachment belongs to the machine and goes with
// it. It is Conflict if there is an attachment of this name.
func (c *Cloud) Attach(ctx context.Context, name string, disk *v1alpha2.VirtualDisk, machine *v1alpha2.VirtualMachine) (*Attachment, error) {
	attachment := &Attachment{
		ObjectMeta: metav1.ObjectMeta{
			Name:   name,
			Labels: c.labels(map[string]string{LabelMachineDisk: disk.Name, LabelMachine: machine.Name}),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.KindVirtualMachine, Name: machine.Name, UID: machine.UID,
			}},
		},
		Spec: v1alpha2.AttachmentSpec{
			VirtualMachineName: machine.Name,
			BlockDeviceRef:     v1alpha2.AttachmentDeviceRef{Kind: v1alpha2.KindVirtualDisk, Name: disk.Name},
		},
	}
	if err := c.create(ctx, attachment); err != nil {
		return nil, err
	}
	return attachment, nil
}

// AwaitAttached waits until the machine has the disk. Quota tells that it has too many.
func (c *Cloud) AwaitAttached(ctx context.Context, attachment *Attachment) error {
	return await(ctx, c, attachment, &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}, attached)
}

func attached(a *Attachment) (bool, error) {
	doing := fmt.Sprintf("attach %q to VirtualMachine %q", a.Spec.BlockDeviceRef.Name, a.Spec.VirtualMachineName)
	state, message := meta.FindStatusCondition(a.Status.Conditions, v1alpha2.AttachmentAttached), ""
	if state != nil {
		message = state.Reason + ": " + state.Message
	}
	capacity := meta.FindStatusCondition(a.Status.Conditions, v1alpha2.AttachmentCapacity)
	switch {
	case !a.DeletionTimestamp.IsZero():
		return false, failf(Conflict, doing, "it is being detached")
	case a.Status.Phase == v1alpha2.AttachmentPhaseAttached:
		return true, nil
	case a.Status.Phase == v1alpha2.AttachmentPhaseFailed:
		return false, failf(Failed, doing, "%s", message)
	case capacity != nil && capacity.Reason == v1alpha2.AttachmentCapacityReached:
		return false, failf(Quota, doing, "%s", capacity.Message)
	}
	return false, nil
}

// Detach removes an attachment and waits until the machine has let go of the disk: until the
// attachment is gone, the machine's own list says so too, and soon the disk's. Old DVPs dropped the
// attachment early.
func (c *Cloud) Detach(ctx context.Context, attachment *Attachment) error {
	if err := c.remove(ctx, attachment); err != nil && !Is(err, NotFound) {
		return err
	}
	if err := awaitGone(ctx, c, attachment.DeepCopy(), &v1alpha2.VirtualMachineBlockDeviceAttachmentList{}); err != nil {
		return err
	}
	err := c.unplugged(ctx, attachment.Spec.VirtualMachineName, func(device *v1alpha2.BlockDeviceStatusRef) bool {
		return device.AttachmentName == attachment.Name && device.Name == attachment.Spec.BlockDeviceRef.Name
	})
	if err != nil {
		return err
	}
	return c.released(ctx, attachment.Spec.BlockDeviceRef.Name, attachment.Spec.VirtualMachineName)
}

// AwaitUnplugged waits until a machine has let go of a disk of which no attachment is left.
func (c *Cloud) AwaitUnplugged(ctx context.Context, machine, disk string) error {
	return c.unplugged(ctx, machine, func(device *v1alpha2.BlockDeviceStatusRef) bool {
		return device.Kind == v1alpha2.KindVirtualDisk && device.Name == disk
	})
}

// unplugged waits until a machine has no plugged device that is meant. One that is gone has none.
func (c *Cloud) unplugged(ctx context.Context, machine string, meant func(*v1alpha2.BlockDeviceStatusRef) bool) error {
	object := &v1alpha2.VirtualMachine{ObjectMeta: metav1.ObjectMeta{Name: machine}}
	err := await(ctx, c, object, &v1alpha2.VirtualMachineList{}, func(now *v1alpha2.VirtualMachine) (bool, error) {
		return !slices.ContainsFunc(now.Status.BlockDeviceRefs, func(device v1alpha2.BlockDeviceStatusRef) bool {
			return device.Hotplugged && meant(&device)
		}), nil
	})
	if Is(err, NotFound) {
		return nil
	}
	return err
}

// releaseBound is how long a disk may go on telling of a machine that has let go of it. The
// machine's word counts; the disk's follows in moments.
const releaseBound = 30 * time.Second

// released waits until a disk does not tell of a machine any more, so that whoever reads the disk
// next is not misled.
func (c *Cloud) released(ctx context.Context, disk, machine string) error {
	waiting, cancel := context.WithTimeout(ctx, releaseBound)
	defer cancel()
	of := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Name: disk}}
	err := await(waiting, c, of, &v1alpha2.VirtualDiskList{}, func(now *v1alpha2.VirtualDisk) (bool, error) {
		return !slices.ContainsFunc(now.Status.AttachedToVirtualMachines, func(user v1alpha2.AttachedTo) bool { return user.Name == machine }), nil
	})
	if Is(err, NotFound) || waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// Devices counts what a machine has plugged in or promised: the disks of its spec and all
// attachments to it.
func (c *Cloud) Devices(ctx context.Context, machine *v1alpha2.VirtualMachine) (int, error) {
	attachments, err := c.Attachments(ctx, OfMachine(machine.Name))
	return len(machine.Spec.BlockDeviceRefs) + len(attachments), err
}

// InSpec says whether a disk is part of a machine, so that it can be neither attached nor detached.
func InSpec(machine *v1alpha2.VirtualMachine, disk string) bool {
	for _, device := range machine.Spec.BlockDeviceRefs {
		if device.Kind == v1alpha2.KindVirtualDisk && device.Name == disk {
			return true
		}
	}
	return false
}
