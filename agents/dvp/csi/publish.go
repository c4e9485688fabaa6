package csi

import (
	"context"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// attachmentName is the name of the attachment of a disk to a node.
func attachmentName(disk, node string) string { return "vmbda-" + disk + "-" + node }

// ControllerPublishVolume plugs a disk into the machine of a node and answers when the machine has it.
func (c *Controller) ControllerPublishVolume(ctx context.Context, r *csipb.ControllerPublishVolumeRequest) (*csipb.ControllerPublishVolumeResponse, error) {
	switch {
	case r.GetVolumeId() == "" || r.GetNodeId() == "":
		return nil, status.Error(codes.InvalidArgument, "a volume id and a node id are needed")
	case r.GetVolumeCapability() == nil:
		return nil, status.Error(codes.InvalidArgument, "a volume capability is needed")
	}
	if problem := unsupported(r.GetVolumeCapability()); problem != "" {
		return nil, status.Error(codes.InvalidArgument, problem)
	}
	release, err := c.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	disk, err := c.Cloud.Disk(ctx, r.GetVolumeId())
	if err != nil {
		return nil, answer(err)
	}
	machine, err := c.Cloud.MachineOfNode(ctx, r.GetNodeId())
	if err != nil {
		return nil, answer(err)
	}
	if cloud.InSpec(machine, disk.Name) {
		return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is part of machine %q", disk.Name, machine.Name)
	}
	attachment, err := c.existing(ctx, disk, machine)
	if err != nil {
		return nil, err
	}
	if attachment == nil {
		if attachment, err = c.attach(ctx, attachmentName(disk.Name, r.GetNodeId()), disk, machine); err != nil {
			return nil, err
		}
	}
	if err := c.Cloud.AwaitAttached(ctx, attachment); err != nil {
		return nil, answer(err)
	}
	return &csipb.ControllerPublishVolumeResponse{PublishContext: map[string]string{contextSerial: v1alpha2.DiskSerial(disk.UID)}}, nil
}

// existing finds the attachment of a disk to a machine. One that failed is removed first, since it
// never comes to life again. A disk that another machine has is refused.
func (c *Controller) existing(ctx context.Context, disk *v1alpha2.VirtualDisk, machine *v1alpha2.VirtualMachine) (*cloud.Attachment, error) {
	found, err := c.Cloud.Attachments(ctx, cloud.OfDisk(disk.Name))
	if err != nil {
		return nil, answer(err)
	}
	for i := range found {
		a := &found[i]
		switch {
		case a.Spec.VirtualMachineName != machine.Name:
			return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is attached to machine %q, the node of attachment %q", disk.Name, a.Spec.VirtualMachineName, a.Name)
		case !a.DeletionTimestamp.IsZero():
			return nil, status.Errorf(codes.Aborted, "VirtualDisk %q is being detached from machine %q", disk.Name, machine.Name)
		case a.Status.Phase == v1alpha2.AttachmentPhaseFailed:
			if err := c.Cloud.Detach(ctx, a); err != nil {
				return nil, answer(err)
			}
		default:
			return a, nil
		}
	}
	return nil, nil
}

// attach begins an attachment if the machine can take one. A machine that is not running would let
// it wait without end.
func (c *Controller) attach(ctx context.Context, name string, disk *v1alpha2.VirtualDisk, machine *v1alpha2.VirtualMachine) (*cloud.Attachment, error) {
	if phase := machine.Status.Phase; phase != v1alpha2.MachineRunning && phase != v1alpha2.MachineMigrating {
		return nil, status.Errorf(codes.Unavailable, "machine %q is %s", machine.Name, phase)
	}
	for _, user := range disk.Status.AttachedToVirtualMachines {
		if user.Name != machine.Name && user.Mounted {
			return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is used by machine %q", disk.Name, user.Name)
		}
	}
	devices, err := c.Cloud.Devices(ctx, machine)
	if err != nil {
		return nil, answer(err)
	}
	if devices >= v1alpha2.MaxBlockDevices {
		return nil, status.Errorf(codes.ResourceExhausted, "machine %q has %d devices already", machine.Name, devices)
	}
	attachment, err := c.Cloud.Attach(ctx, name, disk, machine)
	return attachment, answer(err)
}

// ControllerUnpublishVolume unplugs a disk and answers when the machine has let go of it. What it
// removes are the attachments that it has read, so that a late call cannot undo a newer one.
func (c *Controller) ControllerUnpublishVolume(ctx context.Context, r *csipb.ControllerUnpublishVolumeRequest) (*csipb.ControllerUnpublishVolumeResponse, error) {
	if r.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id is needed")
	}
	release, err := c.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	machine := "" // if it is gone, its attachments are found by their name
	if r.GetNodeId() != "" {
		found, err := c.Cloud.MachineOfNode(ctx, r.GetNodeId())
		if err != nil && !cloud.Is(err, cloud.NotFound) {
			return nil, answer(err)
		} else if err == nil {
			machine = found.Name
		}
	}
	attachments, err := c.Cloud.Attachments(ctx, cloud.OfDisk(r.GetVolumeId()))
	if err != nil {
		return nil, answer(err)
	}
	for i := range attachments {
		a := &attachments[i]
		if r.GetNodeId() != "" && a.Spec.VirtualMachineName != machine && a.Name != attachmentName(r.GetVolumeId(), r.GetNodeId()) {
			continue
		}
		if !c.Cloud.Owned(a) {
			return nil, status.Errorf(codes.FailedPrecondition, "attachment %q is not of this cluster", a.Name)
		}
		if err := c.Cloud.Detach(ctx, a); err != nil {
			return nil, answer(err)
		}
	}
	if machine != "" { // a call before may have ended between the attachment's end and the device's
		if err := c.Cloud.AwaitUnplugged(ctx, machine, r.GetVolumeId()); err != nil {
			return nil, answer(err)
		}
	}
	return &csipb.ControllerUnpublishVolumeResponse{}, nil
}
