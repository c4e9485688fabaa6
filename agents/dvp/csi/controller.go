package csi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/validation"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// defaultSize is what a volume gets if nothing is asked for.
const defaultSize = 1 << 30

// Controller makes volumes and plugs them into nodes.
type Controller struct {
	csipb.UnimplementedControllerServer
	Cloud *cloud.Cloud
	locks locks
}

// ControllerGetCapabilities lists what it can do.
func (c *Controller) ControllerGetCapabilities(context.Context, *csipb.ControllerGetCapabilitiesRequest) (*csipb.ControllerGetCapabilitiesResponse, error) {
	answer := new(csipb.ControllerGetCapabilitiesResponse)
	for _, kind := range []csipb.ControllerServiceCapability_RPC_Type{
		csipb.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME,
		csipb.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME,
		csipb.ControllerServiceCapability_RPC_EXPAND_VOLUME,
	} {
		answer.Capabilities = append(answer.Capabilities, &csipb.ControllerServiceCapability{
			Type: &csipb.ControllerServiceCapability_Rpc{Rpc: &csipb.ControllerServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

// CreateVolume makes a blank disk and answers when it can be used: it is ready, or waits for the
// node that uses it first.
func (c *Controller) CreateVolume(ctx context.Context, r *csipb.CreateVolumeRequest) (*csipb.CreateVolumeResponse, error) {
	size, err := sizeOf(r.GetCapacityRange())
	class, problem := r.GetParameters()[parameterClass], unsupported(r.GetVolumeCapabilities()...)
	switch {
	case r.GetName() == "":
		return nil, status.Error(codes.InvalidArgument, "a name is needed")
	case problem != "":
		return nil, status.Error(codes.InvalidArgument, problem)
	case class == "":
		return nil, status.Errorf(codes.InvalidArgument, "parameter %s is needed", parameterClass)
	case r.GetVolumeContentSource() != nil:
		return nil, status.Error(codes.InvalidArgument, "a volume cannot be made from another or from a snapshot")
	case err != nil:
		return nil, err
	}
	name := diskName(r.GetName())
	release, err := c.locks.take(name)
	if err != nil {
		return nil, err
	}
	defer release()
	disk, err := c.Cloud.Disk(ctx, name)
	if cloud.Is(err, cloud.NotFound) {
		disk, err = c.Cloud.CreateDisk(ctx, name, class, size)
	}
	if err != nil {
		return nil, answer(err)
	}
	if err := c.fits(disk, class, r.GetCapacityRange()); err != nil {
		return nil, err
	}
	if err := c.Cloud.AwaitDisk(ctx, disk); err != nil {
		return nil, c.discard(ctx, disk, err)
	}
	has, err := cloud.DiskSize(disk)
	if err != nil {
		return nil, answer(err)
	}
	return &csipb.CreateVolumeResponse{Volume: &csipb.Volume{
		VolumeId: name, CapacityBytes: max(has, size), VolumeContext: map[string]string{parameterClass: class},
	}}, nil
}

// discard removes a disk that cannot be had. The caller takes such an answer as final and never
// asks to delete the volume, so the disk would stay; if it cannot be removed now, the answer is one
// that is asked for again.
func (c *Controller) discard(ctx context.Context, disk *v1alpha2.VirtualDisk, why error) error {
	if !cloud.Is(why, cloud.Quota) && !cloud.Is(why, cloud.Failed) {
		return answer(why)
	}
	if err := c.Cloud.DeleteDisk(ctx, disk); err != nil {
		return status.Errorf(codes.Unavailable, "%v; and then: %v", why, err)
	}
	return answer(why)
}

// sizeOf picks a size in bytes from a range.
func sizeOf(r *csipb.CapacityRange) (int64, error) {
	required, limit := r.GetRequiredBytes(), r.GetLimitBytes()
	switch {
	case required < 0 || limit < 0:
		return 0, status.Error(codes.InvalidArgument, "a size must not be negative")
	case limit > 0 && required > limit:
		return 0, status.Errorf(codes.OutOfRange, "%d bytes are more than the limit of %d", required, limit)
	case required > 0:
		return required, nil
	case limit > 0:
		return min(limit, defaultSize), nil
	}
	return defaultSize, nil
}

// diskName is the name of a volume's disk: the volume's own where DVP allows it.
func diskName(volume string) string {
	if len(validation.IsDNS1123Label(volume)) == 0 {
		return volume
	}
	sum := sha256.Sum256([]byte(volume))
	return "volume-" + hex.EncodeToString(sum[:16])
}

// fits says whether a disk that exists is the volume that is asked for. Its size is judged by what
// was asked of it, since storage may have rounded up.
func (c *Controller) fits(disk *v1alpha2.VirtualDisk, class string, r *csipb.CapacityRange) error {
	spec := disk.Spec.PersistentVolumeClaim
	has := spec.Size.Value()
	switch {
	case !c.Cloud.Owned(disk):
		return status.Errorf(codes.AlreadyExists, "VirtualDisk %q is not of this cluster", disk.Name)
	case !disk.DeletionTimestamp.IsZero():
		return status.Errorf(codes.Aborted, "VirtualDisk %q is being deleted", disk.Name)
	case spec.StorageClassName == nil || *spec.StorageClassName != class:
		return status.Errorf(codes.AlreadyExists, "VirtualDisk %q is of another storage class", disk.Name)
	case has < r.GetRequiredBytes(), r.GetLimitBytes() > 0 && has > r.GetLimitBytes():
		return status.Errorf(codes.AlreadyExists, "VirtualDisk %q has %d bytes", disk.Name, has)
	}
	return nil
}

// DeleteVolume removes a disk and answers when it is gone. One that a machine has is kept.
func (c *Controller) DeleteVolume(ctx context.Context, r *csipb.DeleteVolumeRequest) (*csipb.DeleteVolumeResponse, error) {
	if r.GetVolumeId() == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id is needed")
	}
	release, err := c.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	disk, err := c.Cloud.Disk(ctx, r.GetVolumeId())
	if cloud.Is(err, cloud.NotFound) {
		return &csipb.DeleteVolumeResponse{}, nil
	} else if err != nil {
		return nil, answer(err)
	}
	if !c.Cloud.Owned(disk) {
		return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is not of this cluster", disk.Name)
	}
	attached, err := c.Cloud.Attachments(ctx, cloud.OfDisk(disk.Name))
	if err != nil {
		return nil, answer(err)
	}
	if len(attached) > 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is attached to machine %q", disk.Name, attached[0].Spec.VirtualMachineName)
	}
	if users := disk.Status.AttachedToVirtualMachines; len(users) > 0 {
		return nil, status.Errorf(codes.FailedPrecondition, "VirtualDisk %q is used by machine %q", disk.Name, users[0].Name)
	}
	if err := c.Cloud.DeleteDisk(ctx, disk); err != nil {
		return nil, answer(err)
	}
	return &csipb.DeleteVolumeResponse{}, nil
}

// ValidateVolumeCapabilities confirms ways to use a volume.
func (c *Controller) ValidateVolumeCapabilities(ctx context.Context, r *csipb.ValidateVolumeCapabilitiesRequest) (*csipb.ValidateVolumeCapabilitiesResponse, error) {
	if r.GetVolumeId() == "" || len(r.GetVolumeCapabilities()) == 0 {
		return nil, status.Error(codes.InvalidArgument, "a volume id and capabilities are needed")
	}
	if _, err := c.Cloud.Disk(ctx, r.GetVolumeId()); err != nil {
		return nil, answer(err)
	}
	if problem := unsupported(r.GetVolumeCapabilities()...); problem != "" {
		return &csipb.ValidateVolumeCapabilitiesResponse{Message: problem}, nil
	}
	return &csipb.ValidateVolumeCapabilitiesResponse{Confirmed: &csipb.ValidateVolumeCapabilitiesResponse_Confirmed{
		VolumeContext: r.GetVolumeContext(), VolumeCapabilities: r.GetVolumeCapabilities(), Parameters: r.GetParameters(),
	}}, nil
}

// ControllerExpandVolume makes a disk larger and answers when it is. The node is always sent to the
// file system of a volume: the answer to an earlier call, which said so, may have been lost.
func (c *Controller) ControllerExpandVolume(ctx context.Context, r *csipb.ControllerExpandVolumeRequest) (*csipb.ControllerExpandVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetCapacityRange() == nil {
		return nil, status.Error(codes.InvalidArgument, "a volume id and a capacity range are needed")
	}
	size, err := sizeOf(r.GetCapacityRange())
	if err != nil {
		return nil, err
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
	if err := c.Cloud.ResizeDisk(ctx, disk, size); err != nil {
		return nil, answer(err)
	}
	has, err := cloud.DiskSize(disk)
	if err != nil {
		return nil, answer(err)
	}
	return &csipb.ControllerExpandVolumeResponse{
		CapacityBytes: max(has, size), NodeExpansionRequired: r.GetVolumeCapability().GetBlock() == nil,
	}, nil
}
