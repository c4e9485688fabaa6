package csi

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	mount "k8s.io/mount-utils"
	utilexec "k8s.io/utils/exec"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
)

const cluster = "11111111-2222-3333-4444-555555555555"

// driver is a driver whose cluster has one node, called node, in a project of the emulator. The
// file system tools are the real ones and work on files in place of devices; only mounts are noted
// instead of done.
type driver struct {
	*emulatortest.DVP
	t          testing.TB
	dir        string
	identity   *Identity
	controller *Controller
	node       *Node
	mounts     *mount.FakeMounter
}

func newDriver(t testing.TB) *driver {
	t.Helper()
	dvp := emulatortest.Start(t)
	c, err := cloud.New(dvp.Access, dvp.Namespace, cluster)
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{DVP: dvp, t: t, dir: t.TempDir(), mounts: mount.NewFakeMounter(nil)}
	d.addNode("node")
	d.identity, d.controller = &Identity{Version: "test", Cloud: c}, &Controller{Cloud: c}
	d.node = &Node{
		Name: "node", Cloud: c, Device: d.device,
		Mounts: mount.NewSafeFormatAndMount(d.mounts, guestExec{utilexec.New()}),
	}
	return d
}

// addNode runs a machine whose name is not the node's, as OpenTofu makes them.
func (d *driver) addNode(name string) {
	d.t.Helper()
	vm := d.Run(name + "-a1b2c3")
	d.Change(vm, func(o client.Object) {
		o.SetLabels(map[string]string{cloud.LabelHostname: name, cloud.LabelClusterUUID: cluster})
	})
}

// guestExec runs the real tools. blockdev alone cannot measure a file.
type guestExec struct{ utilexec.Interface }

func (e guestExec) Command(name string, args ...string) utilexec.Cmd {
	if name != "blockdev" {
		return e.Interface.Command(name, args...)
	}
	path := args[len(args)-1]
	if args[0] == "--getro" {
		return e.Interface.Command("echo", "0")
	}
	return e.Interface.Command("stat", "-c", "%s", path)
}

// shown is how long a machine may take to show a disk that was attached to it.
const shown = 3 * time.Second

// device waits for what the machine shows, as FindDevice does.
func (d *driver) device(ctx context.Context, serial string) (path string, err error) {
	wrong := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, shown, true, func(ctx context.Context) (bool, error) {
		path, err = d.look(ctx, serial)
		return !errors.Is(err, fs.ErrNotExist), nil
	})
	if err == nil {
		err = wrong
	}
	return path, err
}

// look finds a file for each disk that DVP says the machine has, and none for others.
func (d *driver) look(ctx context.Context, serial string) (string, error) {
	var disks v1alpha2.VirtualDiskList
	if err := d.List(ctx, &disks, client.InNamespace(d.Namespace)); err != nil {
		return "", err
	}
	for _, disk := range disks.Items {
		if v1alpha2.DiskSerial(disk.UID) != serial || len(disk.Status.AttachedToVirtualMachines) != 1 {
			continue
		}
		path := filepath.Join(d.dir, "device-"+serial)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.Size() > 0 {
			return path, err
		}
		return path, f.Truncate(64 << 20) // sparse, and enough for any file system
	}
	return "", fs.ErrNotExist
}

func (d *driver) serve() (endpoint string) {
	d.t.Helper()
	dir, err := os.MkdirTemp("", "csi") // a socket's path must be short
	if err != nil {
		d.t.Fatal(err)
	}
	endpoint = "unix://" + filepath.Join(dir, "csi.sock")
	listener, err := Listen(endpoint)
	if err != nil {
		d.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	serve := Serve(listener, slog.New(slog.DiscardHandler), d.identity, d.controller, d.node)
	go func() { ended <- serve(ctx) }()
	d.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			d.t.Errorf("stop driver: %v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			d.t.Error(err)
		}
	})
	return endpoint
}

func asFiles(fsType string) *csipb.VolumeCapability {
	return &csipb.VolumeCapability{
		AccessType: &csipb.VolumeCapability_Mount{Mount: &csipb.VolumeCapability_MountVolume{FsType: fsType}},
		AccessMode: &csipb.VolumeCapability_AccessMode{Mode: csipb.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}
}

func asBlock() *csipb.VolumeCapability {
	return &csipb.VolumeCapability{
		AccessType: &csipb.VolumeCapability_Block{Block: &csipb.VolumeCapability_BlockVolume{}},
		AccessMode: &csipb.VolumeCapability_AccessMode{Mode: csipb.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
	}
}

func createRequest(name, class string, size int64) *csipb.CreateVolumeRequest {
	return &csipb.CreateVolumeRequest{
		Name: name, Parameters: map[string]string{parameterClass: class},
		CapacityRange: &csipb.CapacityRange{RequiredBytes: size}, VolumeCapabilities: []*csipb.VolumeCapability{asFiles("")},
	}
}

// volume makes a volume of 1 GiB on a class.
func (d *driver) volume(name, class string) *v1alpha2.VirtualDisk {
	d.t.Helper()
	if _, err := d.controller.CreateVolume(d.t.Context(), createRequest(name, class, 1<<30)); err != nil {
		d.t.Fatalf("create %s: %v", name, err)
	}
	return d.disk(name)
}

func (d *driver) disk(name string) *v1alpha2.VirtualDisk {
	d.t.Helper()
	disk := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name}}
	if err := d.Get(d.t.Context(), client.ObjectKeyFromObject(disk), disk); err != nil {
		d.t.Fatal(err)
	}
	return disk
}

func publishRequest(volume, node string) *csipb.ControllerPublishVolumeRequest {
	return &csipb.ControllerPublishVolumeRequest{VolumeId: volume, NodeId: node, VolumeCapability: asFiles("")}
}
