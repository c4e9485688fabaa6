package csi

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sys/unix"
	mount "k8s.io/mount-utils"
	utilexec "k8s.io/utils/exec"
)

// The kernel's own mounts, of loop devices in place of disks, where the test may make them.
func TestRealMounts(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount")
	}
	for _, fsType := range []string{"ext4", "xfs"} {
		t.Run(fsType, func(t *testing.T) {
			t.Parallel()
			tool(t, "mkfs."+fsType)
			k := newKernel(t, 400<<20)
			staging, target := filepath.Join(k.dir, "staging"), filepath.Join(k.dir, "pod", "volume")
			stage := &csipb.NodeStageVolumeRequest{VolumeId: "v", StagingTargetPath: staging, PublishContext: k.told, VolumeCapability: asFiles(fsType)}
			publish := &csipb.NodePublishVolumeRequest{VolumeId: "v", StagingTargetPath: staging, TargetPath: target, PublishContext: k.told, VolumeCapability: asFiles(fsType)}
			for range 10 { // as kubelet repeats them
				if _, err := k.NodeStageVolume(t.Context(), stage); err != nil {
					t.Fatal(err)
				}
				if _, err := k.NodePublishVolume(t.Context(), publish); err != nil {
					t.Fatal(err)
				}
			}
			if got := k.mounted(); len(got) != 2 || got[0].Type != fsType || got[0].Device != k.device {
				t.Fatalf("got mounts %+v, want one of the device and one for the pod", got)
			}
			if err := os.WriteFile(filepath.Join(target, "kept"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			if fsType != "ext4" || mayResize(t) {
				k.expand(target, asFiles(fsType))
			}
			k.undo(target, staging)
			if _, err := k.NodeStageVolume(t.Context(), stage); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(filepath.Join(staging, "kept")); err != nil || string(text) != "text" {
				t.Errorf("got %q, %v, want what was written before", text, err)
			}
			k.undo(target, staging)
		})
	}
	t.Run("block", func(t *testing.T) {
		t.Parallel()
		k := newKernel(t, 64<<20)
		target := filepath.Join(k.dir, "pod", "device")
		publish := &csipb.NodePublishVolumeRequest{VolumeId: "v", StagingTargetPath: filepath.Join(k.dir, "staging"), TargetPath: target, PublishContext: k.told, VolumeCapability: asBlock()}
		for range 3 {
			if _, err := k.NodePublishVolume(t.Context(), publish); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Stat(target); err != nil || info.Mode()&os.ModeDevice == 0 {
			t.Errorf("got %v, %v, want the device", info, err)
		}
		stats, err := k.NodeGetVolumeStats(t.Context(), &csipb.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: target})
		if err != nil || len(stats.Usage) != 1 || stats.Usage[0].Total != 64<<20 {
			t.Errorf("got %v, %v, want the size of the device", stats, err)
		}
		if len(k.mounted()) != 1 {
			t.Errorf("got mounts %+v, want one", k.mounted())
		}
		k.undo(target, publish.StagingTargetPath)
	})
}

// kernel is a node that really mounts, with one device.
type kernel struct {
	*Node
	t                 *testing.T
	dir, file, device string
	told              map[string]string // where the device is, as the controller tells it
}

func newKernel(t *testing.T, size int64) *kernel {
	t.Helper()
	k := &kernel{t: t, dir: t.TempDir(), told: map[string]string{contextSerial: "any"}}
	k.file = filepath.Join(k.dir, "disk")
	if err := os.WriteFile(k.file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(k.file, size); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool(t, "losetup"), "--find", "--show", k.file).Output()
	if err != nil {
		t.Skipf("this machine gives no loop devices: %v", err)
	}
	k.device = strings.TrimSpace(string(out))
	t.Cleanup(func() {
		for _, m := range slices.Backward(k.mounted()) { // of a test that failed half-way
			_ = mount.New("").Unmount(m.Path)
		}
		if out, err := exec.Command("losetup", "--detach", k.device).CombinedOutput(); err != nil {
			t.Errorf("give %s back: %v: %s", k.device, err, out)
		}
	})
	k.Node = &Node{
		Name: "node", Mounts: mount.NewSafeFormatAndMount(mount.New(""), utilexec.New()),
		Device: func(context.Context, string) (string, error) { return k.device, nil },
	}
	return k
}

// tool finds a program, or skips a test that cannot do without it.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("this machine has no %s", name)
	}
	return path
}

// mounted lists what is mounted in the test's folder.
func (k *kernel) mounted() []mount.MountPoint {
	k.t.Helper()
	all, err := mount.New("").List()
	if err != nil {
		k.t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(m mount.MountPoint) bool { return !strings.HasPrefix(m.Path, k.dir) })
}

// size is that of the file system at a path, as pods are told it.
func (k *kernel) size(path string) int64 {
	k.t.Helper()
	stats, err := k.NodeGetVolumeStats(k.t.Context(), &csipb.NodeGetVolumeStatsRequest{VolumeId: "v", VolumePath: path})
	if err != nil || len(stats.Usage) != 2 || stats.Usage[1].Total == 0 {
		k.t.Fatalf("got %v, %v, want bytes and inodes", stats, err)
	}
	return stats.Usage[0].Total
}

// expand makes the device larger and expects the file system to follow while it is in use.
func (k *kernel) expand(target string, as *csipb.VolumeCapability) {
	k.t.Helper()
	before := k.size(target)
	k.enlarge(800 << 20)
	if _, err := k.NodeExpandVolume(k.t.Context(), &csipb.NodeExpandVolumeRequest{VolumeId: "v", VolumePath: target, VolumeCapability: as}); err != nil {
		k.t.Fatal(err)
	}
	if after := k.size(target); after < before+300<<20 {
		k.t.Errorf("got %d bytes after %d, want the file system as large as its device", after, before)
	}
}

// mayResize says whether the kernel lets this process grow a mounted ext4. Unlike a privileged pod,
// root in a container may lack the right.
func mayResize(t *testing.T) bool {
	t.Helper()
	header, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if err := unix.Capget(&header, &data[0]); err != nil {
		t.Fatal(err)
	}
	return data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}

// enlarge makes the device larger, as the machine sees it when DVP has grown a disk.
func (k *kernel) enlarge(size int64) {
	k.t.Helper()
	if err := os.Truncate(k.file, size); err != nil {
		k.t.Fatal(err)
	}
	if out, err := exec.CommandContext(k.t.Context(), "losetup", "--set-capacity", k.device).CombinedOutput(); err != nil {
		k.t.Fatal(fmt.Errorf("enlarge device: %w: %s", err, out))
	}
}

// undo takes a volume from its pod and from the node, each time twice.
func (k *kernel) undo(target, staging string) {
	k.t.Helper()
	for range 2 {
		if _, err := k.NodeUnpublishVolume(k.t.Context(), &csipb.NodeUnpublishVolumeRequest{VolumeId: "v", TargetPath: target}); err != nil {
			k.t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := k.NodeUnstageVolume(k.t.Context(), &csipb.NodeUnstageVolumeRequest{VolumeId: "v", StagingTargetPath: staging}); err != nil {
			k.t.Fatal(err)
		}
	}
	if got := k.mounted(); len(got) > 0 {
		k.t.Errorf("got mounts %+v, want none", got)
	}
}
