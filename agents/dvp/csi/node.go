package csi

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	mount "k8s.io/mount-utils"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
)

// Node brings the disks of its machine into the file tree.
type Node struct {
	csipb.UnimplementedNodeServer
	Name   string
	Cloud  *cloud.Cloud
	Mounts *mount.SafeFormatAndMount
	// Device finds the device of a serial number. It waits a bounded time for it and says
	// fs.ErrNotExist if it does not come.
	Device func(ctx context.Context, serial string) (string, error)
	locks  locks
}

// NodeGetCapabilities lists what it can do.
func (n *Node) NodeGetCapabilities(context.Context, *csipb.NodeGetCapabilitiesRequest) (*csipb.NodeGetCapabilitiesResponse, error) {
	answer := new(csipb.NodeGetCapabilitiesResponse)
	for _, kind := range []csipb.NodeServiceCapability_RPC_Type{
		csipb.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME,
		csipb.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		csipb.NodeServiceCapability_RPC_EXPAND_VOLUME,
	} {
		answer.Capabilities = append(answer.Capabilities, &csipb.NodeServiceCapability{
			Type: &csipb.NodeServiceCapability_Rpc{Rpc: &csipb.NodeServiceCapability_RPC{Type: kind}},
		})
	}
	return answer, nil
}

// NodeGetInfo says which node this is and how many volumes it can take: what DVP allows a machine,
// less what the machine is made of.
func (n *Node) NodeGetInfo(ctx context.Context, _ *csipb.NodeGetInfoRequest) (*csipb.NodeGetInfoResponse, error) {
	machine, err := n.Cloud.MachineOfNode(ctx, n.Name)
	if err != nil {
		return nil, answer(err)
	}
	return &csipb.NodeGetInfoResponse{NodeId: n.Name, MaxVolumesPerNode: int64(v1alpha2.MaxBlockDevices - len(machine.Spec.BlockDeviceRefs))}, nil
}

// NodeStageVolume mounts a volume for the whole node, with a new file system if it has none. A
// volume used as a block device has nothing to stage.
func (n *Node) NodeStageVolume(ctx context.Context, r *csipb.NodeStageVolumeRequest) (*csipb.NodeStageVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetStagingTargetPath() == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id and a staging path are needed")
	}
	if problem := unsupported(r.GetVolumeCapability()); problem != "" {
		return nil, status.Error(codes.InvalidArgument, problem)
	}
	release, err := n.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	device, err := n.device(ctx, r.GetVolumeId(), r.GetPublishContext())
	if err != nil || r.GetVolumeCapability().GetBlock() != nil {
		return &csipb.NodeStageVolumeResponse{}, err
	}
	mounted, err := n.prepare(r.GetStagingTargetPath(), true)
	if err != nil {
		return nil, err
	}
	if !mounted {
		how := r.GetVolumeCapability().GetMount()
		if err := n.Mounts.FormatAndMount(device, r.GetStagingTargetPath(), fsType(how), how.GetMountFlags()); err != nil {
			return nil, status.Errorf(codes.Internal, "mount %s: %v", device, err)
		}
	}
	// The disk may have grown while it was nowhere.
	return &csipb.NodeStageVolumeResponse{}, n.grow(device, r.GetStagingTargetPath())
}

func fsType(how *csipb.VolumeCapability_MountVolume) string {
	if how.GetFsType() == "" {
		return "ext4"
	}
	return how.GetFsType()
}

// device finds the device of a volume by its serial number, which the controller has told.
func (n *Node) device(ctx context.Context, volume string, told map[string]string) (string, error) {
	serial := told[contextSerial]
	if serial == "" {
		disk, err := n.Cloud.Disk(ctx, volume)
		if err != nil {
			return "", answer(err)
		}
		serial = v1alpha2.DiskSerial(disk.UID)
	}
	device, err := n.Device(ctx, serial)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", status.Errorf(codes.Unavailable, "the machine does not show the device of volume %s: %v", volume, err)
	case err != nil:
		return "", status.Errorf(codes.Internal, "find device of volume %s: %v", volume, err)
	}
	return device, nil
}

// prepare makes a mount point and says whether something is mounted there already. kubelet repeats
// calls, and mounts must not be stacked.
func (n *Node) prepare(path string, folder bool) (mounted bool, err error) {
	mounted, err = n.Mounts.IsMountPoint(path)
	if err == nil {
		return mounted, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, status.Errorf(codes.Internal, "look at %s: %v", path, err)
	}
	if folder {
		err = os.MkdirAll(path, 0o750)
	} else if err = os.MkdirAll(filepath.Dir(path), 0o750); err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE, 0o640); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return false, status.Errorf(codes.Internal, "make %s: %v", path, err)
	}
	return false, nil
}

// NodeUnstageVolume undoes NodeStageVolume.
func (n *Node) NodeUnstageVolume(_ context.Context, r *csipb.NodeUnstageVolumeRequest) (*csipb.NodeUnstageVolumeResponse, error) {
	return &csipb.NodeUnstageVolumeResponse{}, n.cleanUp(r.GetVolumeId(), r.GetStagingTargetPath())
}

// NodePublishVolume shows a volume to a pod.
func (n *Node) NodePublishVolume(ctx context.Context, r *csipb.NodePublishVolumeRequest) (*csipb.NodePublishVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetTargetPath() == "" || r.GetStagingTargetPath() == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id, a staging path and a target path are needed")
	}
	if problem := unsupported(r.GetVolumeCapability()); problem != "" {
		return nil, status.Error(codes.InvalidArgument, problem)
	}
	release, err := n.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	block := r.GetVolumeCapability().GetBlock() != nil
	source, options := r.GetStagingTargetPath(), append([]string{"bind"}, r.GetVolumeCapability().GetMount().GetMountFlags()...)
	if block {
		if source, err = n.device(ctx, r.GetVolumeId(), r.GetPublishContext()); err != nil {
			return nil, err
		}
	} else if staged, err := n.Mounts.IsMountPoint(source); err != nil || !staged {
		return nil, status.Errorf(codes.FailedPrecondition, "volume %s is not staged at %s", r.GetVolumeId(), source)
	}
	if r.GetReadonly() {
		options = append(options, "ro")
	}
	mounted, err := n.prepare(r.GetTargetPath(), !block)
	if err != nil || mounted {
		return &csipb.NodePublishVolumeResponse{}, err
	}
	if err := n.Mounts.Mount(source, r.GetTargetPath(), "", options); err != nil {
		return nil, status.Errorf(codes.Internal, "mount %s: %v", source, err)
	}
	return &csipb.NodePublishVolumeResponse{}, nil
}

// NodeUnpublishVolume undoes NodePublishVolume.
func (n *Node) NodeUnpublishVolume(_ context.Context, r *csipb.NodeUnpublishVolumeRequest) (*csipb.NodeUnpublishVolumeResponse, error) {
	return &csipb.NodeUnpublishVolumeResponse{}, n.cleanUp(r.GetVolumeId(), r.GetTargetPath())
}

// cleanUp takes away what is mounted at a path, and the path. It is nothing if there is neither.
func (n *Node) cleanUp(volume, path string) error {
	if volume == "" || path == "" {
		return status.Error(codes.InvalidArgument, "a volume id and a path are needed")
	}
	release, err := n.locks.take(volume)
	if err != nil {
		return err
	}
	defer release()
	if err := mount.CleanupMountPoint(path, n.Mounts, true); err != nil {
		return status.Errorf(codes.Internal, "unmount %s: %v", path, err)
	}
	return nil
}
