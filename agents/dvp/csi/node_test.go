package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	utilexec "k8s.io/utils/exec"

	"commander/agents/dvp/emulator/emulatortest"
)

// published gives the node a volume with a device and returns where that is.
func (d *driver) published(volume string) (device string, told map[string]string) {
	d.t.Helper()
	d.volume(volume, emulatortest.Immediate)
	got, err := d.controller.ControllerPublishVolume(d.t.Context(), publishRequest(volume, "node"))
	if err != nil {
		d.t.Fatal(err)
	}
	d.Eventually("the disk tells its machine", func(ctx context.Context) bool {
		device, err = d.device(ctx, got.PublishContext[contextSerial])
		return err == nil
	})
	return device, got.PublishContext
}

func TestMountsAreNotStacked(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	device, told := d.published("pvc-1")
	staging, target := filepath.Join(d.dir, "staging"), filepath.Join(d.dir, "pod", "volume")
	for range 10 {
		if _, err := d.node.NodeStageVolume(t.Context(), &csipb.NodeStageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging, PublishContext: told, VolumeCapability: asFiles("")}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.node.NodePublishVolume(t.Context(), &csipb.NodePublishVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging, TargetPath: target, PublishContext: told, VolumeCapability: asFiles("")}); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := d.mounts.List(); err != nil || len(all) != 2 || all[0].Device != device || all[0].Type != "ext4" {
		t.Fatalf("got mounts %v, %v, want one of the device and one for the pod", all, err)
	}
	stats, err := d.node.NodeGetVolumeStats(t.Context(), &csipb.NodeGetVolumeStatsRequest{VolumeId: "pvc-1", VolumePath: target})
	if err != nil || len(stats.Usage) != 2 || stats.Usage[0].Total == 0 || stats.Usage[1].Unit != csipb.VolumeUsage_INODES {
		t.Errorf("got %v, %v, want bytes and inodes", stats, err)
	}
	for range 2 {
		if _, err := d.node.NodeUnpublishVolume(t.Context(), &csipb.NodeUnpublishVolumeRequest{VolumeId: "pvc-1", TargetPath: target}); err != nil {
			t.Fatal(err)
		}
		if _, err := d.node.NodeUnstageVolume(t.Context(), &csipb.NodeUnstageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging}); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ := d.mounts.List(); len(all) > 0 {
		t.Errorf("got mounts %v, want none", all)
	}
}

// The file system made by hand has another identity than one made anew would have.
func TestAFileSystemIsNeverFormatted(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	device, told := d.published("pvc-1")
	const uuid = "01234567-89ab-cdef-0123-456789abcdef"
	if out, err := utilexec.New().Command("mkfs.ext4", "-q", "-F", "-U", uuid, device).CombinedOutput(); err != nil {
		t.Fatalf("mkfs.ext4: %v: %s", err, out)
	}
	stage := &csipb.NodeStageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: filepath.Join(d.dir, "staging"), PublishContext: told, VolumeCapability: asFiles("ext4")}
	if _, err := d.node.NodeStageVolume(t.Context(), stage); err != nil {
		t.Fatal(err)
	}
	out, err := utilexec.New().Command("blkid", "-p", "-s", "UUID", "-o", "value", device).CombinedOutput()
	if err != nil || string(out) != uuid+"\n" {
		t.Errorf("got file system %s, %v, want %s", out, err, uuid)
	}
}

func TestFormatFailureIsTold(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	device, told := d.published("pvc-1")
	if err := os.Truncate(device, 4096); err != nil { // too small for any file system
		t.Fatal(err)
	}
	stage := &csipb.NodeStageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: filepath.Join(d.dir, "staging"), PublishContext: told, VolumeCapability: asFiles("ext4")}
	_, err := d.node.NodeStageVolume(t.Context(), stage)
	wantCode(t, "stage", err, codes.Internal, "mount "+device)
}

func TestFileSystemGrowsWithItsDisk(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	device, told := d.published("pvc-1")
	staging := filepath.Join(d.dir, "staging")
	if _, err := d.node.NodeStageVolume(t.Context(), &csipb.NodeStageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging, PublishContext: told, VolumeCapability: asFiles("ext4")}); err != nil {
		t.Fatal(err)
	}
	expand := &csipb.NodeExpandVolumeRequest{VolumeId: "pvc-1", VolumePath: staging, VolumeCapability: asFiles("ext4")}
	if err := os.Truncate(device, 128<<20); err != nil {
		t.Fatal(err)
	}
	// The tool asks for a check first, since nothing was ever mounted here.
	if out, err := utilexec.New().Command("e2fsck", "-f", "-y", device).CombinedOutput(); err != nil {
		t.Fatalf("e2fsck: %v: %s", err, out)
	}
	if _, err := d.node.NodeExpandVolume(t.Context(), expand); err != nil {
		t.Fatal(err)
	}
	if out, err := utilexec.New().Command("resize2fs", device).CombinedOutput(); err != nil || !containsAll(string(out), "Nothing to do") {
		t.Errorf("got %s, %v, want a file system that fills its disk", out, err)
	}
	if err := os.WriteFile(device, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := d.node.NodeExpandVolume(t.Context(), expand)
	wantCode(t, "no file system", err, codes.InvalidArgument, "cannot grow")
}

func TestBlockVolume(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	device, told := d.published("pvc-1")
	staging, target := filepath.Join(d.dir, "staging"), filepath.Join(d.dir, "pod", "device")
	if _, err := d.node.NodeStageVolume(t.Context(), &csipb.NodeStageVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging, PublishContext: told, VolumeCapability: asBlock()}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.node.NodePublishVolume(t.Context(), &csipb.NodePublishVolumeRequest{VolumeId: "pvc-1", StagingTargetPath: staging, TargetPath: target, PublishContext: told, VolumeCapability: asBlock(), Readonly: true}); err != nil {
		t.Fatal(err)
	}
	all, err := d.mounts.List()
	if err != nil || len(all) != 1 || all[0].Device != device || !containsAll(all[0].Opts, "bind", "ro") {
		t.Errorf("got mounts %v, %v, want the device itself, to be read only", all, err)
	}
	if format, err := d.node.Mounts.GetDiskFormat(device); err != nil || format != "" {
		t.Errorf("got %q, %v, want no file system", format, err)
	}
	// The seam notes mounts, so that the target has the size that the device would have.
	if err := os.Truncate(target, 64<<20); err != nil {
		t.Fatal(err)
	}
	stats, err := d.node.NodeGetVolumeStats(t.Context(), &csipb.NodeGetVolumeStatsRequest{VolumeId: "pvc-1", VolumePath: target})
	if err != nil || len(stats.Usage) != 1 || stats.Usage[0].Total != 64<<20 {
		t.Errorf("got %v, %v, want the size", stats, err)
	}
	if _, err := d.node.NodeExpandVolume(t.Context(), &csipb.NodeExpandVolumeRequest{VolumeId: "pvc-1", VolumePath: target, VolumeCapability: asBlock()}); err != nil {
		t.Errorf("expand: %v", err)
	}
}

func TestDeviceIsAwaited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := findDevice(t.Context(), filepath.Join(dir, "never"), 50*time.Millisecond); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that it does not exist", err)
	}
	device, link := filepath.Join(dir, "sdb"), filepath.Join(dir, "link")
	if err := os.WriteFile(device, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := make(chan string)
	go func() {
		path, _ := findDevice(t.Context(), link, time.Minute)
		found <- path
	}()
	if err := os.Symlink(device, link); err != nil {
		t.Fatal(err)
	}
	if got := <-found; got != device {
		t.Errorf("got %q, want %q", got, device)
	}
	node := &Node{Device: func(context.Context, string) (string, error) { return "", fs.ErrNotExist }}
	_, err := node.NodeStageVolume(t.Context(), &csipb.NodeStageVolumeRequest{
		VolumeId: "pvc-1", StagingTargetPath: dir, VolumeCapability: asFiles(""), PublishContext: map[string]string{contextSerial: "none"},
	})
	wantCode(t, "a device that is not shown", err, codes.Unavailable, "does not show")
}

func TestOneCallAtATime(t *testing.T) {
	t.Parallel()
	var l locks
	release, err := l.take("a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.take("a")
	wantCode(t, "the same volume", err, codes.Aborted, "not finished")
	if other, err := l.take("b"); err != nil {
		t.Error(err)
	} else {
		other()
	}
	release()
	if _, err := l.take("a"); err != nil {
		t.Errorf("after it: %v", err)
	}
}

// containsAll says whether a text, or a list of options, has all these words.
func containsAll[T string | []string](in T, words ...string) bool {
	text := fmt.Sprint(in)
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
