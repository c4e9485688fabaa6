package csi

import (
	"context"
	"os"
	"strings"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	mount "k8s.io/mount-utils"
)

// grow makes a file system as large as its device.
func (n *Node) grow(device, path string) error {
	resize := mount.NewResizeFs(n.Mounts.Exec)
	needed, err := resize.NeedResize(device, path)
	if err != nil {
		return status.Errorf(codes.Internal, "compare %s with its file system: %v", device, err)
	}
	if !needed {
		return nil
	}
	if _, err := resize.Resize(device, path); err != nil {
		return status.Errorf(codes.Internal, "grow file system on %s: %v", device, err)
	}
	return nil
}

// NodeExpandVolume makes the file system of a volume as large as the disk has become.
func (n *Node) NodeExpandVolume(_ context.Context, r *csipb.NodeExpandVolumeRequest) (*csipb.NodeExpandVolumeResponse, error) {
	if r.GetVolumeId() == "" || r.GetVolumePath() == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id and a path are needed")
	}
	release, err := n.locks.take(r.GetVolumeId())
	if err != nil {
		return nil, err
	}
	defer release()
	at, err := n.mounted(r.GetVolumePath())
	if err != nil || r.GetVolumeCapability().GetBlock() != nil {
		return &csipb.NodeExpandVolumeResponse{}, err
	}
	switch format, err := n.Mounts.GetDiskFormat(at.Device); {
	case err != nil:
		return nil, status.Errorf(codes.Internal, "look at %s: %v", at.Device, err)
	case !strings.HasPrefix(format, "ext") && format != "xfs":
		return nil, status.Errorf(codes.InvalidArgument, "a file system %q cannot grow", format)
	}
	return &csipb.NodeExpandVolumeResponse{CapacityBytes: r.GetCapacityRange().GetRequiredBytes()}, n.grow(at.Device, r.GetVolumePath())
}

// mounted finds what is mounted at a path; NotFound if nothing is.
func (n *Node) mounted(path string) (mount.MountPoint, error) {
	all, err := n.Mounts.List()
	if err != nil {
		return mount.MountPoint{}, status.Errorf(codes.Internal, "list mounts: %v", err)
	}
	for i := len(all) - 1; i >= 0; i-- { // the last one hides the others
		if all[i].Path == path {
			return all[i], nil
		}
	}
	return mount.MountPoint{}, status.Errorf(codes.NotFound, "nothing is mounted at %s", path)
}

// NodeGetVolumeStats says how full a volume is.
func (n *Node) NodeGetVolumeStats(_ context.Context, r *csipb.NodeGetVolumeStatsRequest) (*csipb.NodeGetVolumeStatsResponse, error) {
	path := r.GetVolumePath()
	if r.GetVolumeId() == "" || path == "" {
		return nil, status.Error(codes.InvalidArgument, "a volume id and a path are needed")
	}
	if _, err := n.mounted(path); err != nil {
		return nil, err
	}
	what, err := os.Stat(path)
	if err != nil {
		return nil, status.Errorf(codes.NotFound, "look at %s: %v", path, err)
	}
	if !what.IsDir() {
		size, err := deviceSize(path)
		if err != nil {
			return nil, status.Errorf(codes.Internal, "measure %s: %v", path, err)
		}
		return &csipb.NodeGetVolumeStatsResponse{Usage: []*csipb.VolumeUsage{{Unit: csipb.VolumeUsage_BYTES, Total: size}}}, nil
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return nil, status.Errorf(codes.Internal, "measure %s: %v", path, err)
	}
	block := fs.Bsize
	return &csipb.NodeGetVolumeStatsResponse{Usage: []*csipb.VolumeUsage{
		{Unit: csipb.VolumeUsage_BYTES, Total: int64(fs.Blocks) * block, Available: int64(fs.Bavail) * block, Used: int64(fs.Blocks-fs.Bfree) * block},
		{Unit: csipb.VolumeUsage_INODES, Total: int64(fs.Files), Available: int64(fs.Ffree), Used: int64(fs.Files - fs.Ffree)},
	}}, nil
}

// deviceSize is in bytes: where the end of a device or file is.
func deviceSize(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.Seek(0, 2)
}
