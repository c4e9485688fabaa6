package fencing

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// fakeDevice is a file that speaks the kernel's watchdog protocol, so that the real system calls
// are made. Writes may be made to fail.
type fakeDevice struct {
	fs.Inode
	mu      sync.Mutex // protects all below
	options uint32
	seconds uint32
	least   uint32 // a driver may wait longer than it is told
	armed   bool
	magic   bool
	fed     int
	broken  bool
}

var (
	_ fs.NodeOpener    = (*fakeDevice)(nil)
	_ fs.NodeWriter    = (*fakeDevice)(nil)
	_ fs.NodeFlusher   = (*fakeDevice)(nil)
	_ fs.NodeIoctler   = (*fakeDevice)(nil)
	_ fs.NodeGetattrer = (*fakeDevice)(nil)
)

func (d *fakeDevice) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode = 0o600
	return 0
}

func (d *fakeDevice) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed, d.magic = true, false
	return d, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NONSEEKABLE, 0
}

func (d *fakeDevice) Write(_ context.Context, _ fs.FileHandle, data []byte, _ int64) (uint32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return 0, syscall.EIO
	}
	d.fed++
	d.magic = false
	for _, b := range data {
		d.magic = d.magic || b == 'V'
	}
	return uint32(len(data)), 0
}

func (d *fakeDevice) Flush(context.Context, fs.FileHandle) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = d.armed && !d.magic
	return 0
}

func (d *fakeDevice) Ioctl(_ context.Context, _ fs.FileHandle, cmd uint32, _ uint64, in, out []byte) (int32, syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch cmd {
	case unix.WDIOC_GETSUPPORT:
		binary.NativeEndian.PutUint32(out, d.options)
	case unix.WDIOC_SETTIMEOUT:
		d.seconds = max(d.least, binary.NativeEndian.Uint32(in))
		binary.NativeEndian.PutUint32(out, d.seconds)
	case unix.WDIOC_GETTIMEOUT:
		binary.NativeEndian.PutUint32(out, d.seconds)
	default:
		return 0, syscall.ENOTTY
	}
	return 0, 0
}

type fakeDev struct {
	fs.Inode
	device *fakeDevice
}

func (r *fakeDev) OnAdd(ctx context.Context) {
	r.AddChild("watchdog", r.NewPersistentInode(ctx, r.device, fs.StableAttr{Mode: syscall.S_IFREG}), false)
}

// mount offers a device as a file, where FUSE is to be had.
func mount(t *testing.T, d *fakeDevice) string {
	t.Helper()
	dir := t.TempDir()
	server, err := fs.Mount(dir, &fakeDev{device: d}, &fs.Options{MountOptions: fuse.MountOptions{DirectMountStrict: true}})
	if err != nil {
		t.Skipf("needs FUSE and the right to mount: %v", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return filepath.Join(dir, "watchdog")
}

const able = unix.WDIOF_SETTIMEOUT | unix.WDIOF_MAGICCLOSE | unix.WDIOF_KEEPALIVEPING

func TestDevice(t *testing.T) {
	t.Parallel()
	fake := &fakeDevice{options: able, seconds: 60}
	d := NewDevice(mount(t, fake), 10*time.Second)
	for _, step := range []struct {
		name  string
		do    func() error
		fails bool
		armed bool
	}{
		{"feed before arming", d.Feed, true, false},
		{"disarm before arming", d.Disarm, true, false},
		{"arm", d.Arm, false, true},
		{"arm again", d.Arm, true, true},
		{"feed", d.Feed, false, true},
		{"break", func() error { fake.mu.Lock(); defer fake.mu.Unlock(); fake.broken = true; return nil }, false, true},
		{"feed a broken one", d.Feed, true, true},
		{"disarm a broken one", d.Disarm, true, true},
		{"mend", func() error { fake.mu.Lock(); defer fake.mu.Unlock(); fake.broken = false; return nil }, false, true},
		{"disarm", d.Disarm, false, false},
		{"arm once more", d.Arm, false, true},
		{"disarm once more", d.Disarm, false, false},
	} {
		err := step.do()
		fake.mu.Lock()
		armed := fake.armed
		fake.mu.Unlock()
		if (err != nil) != step.fails || armed != step.armed {
			t.Errorf("%s: got %v and armed %t, want failure %t and armed %t", step.name, err, armed, step.fails, step.armed)
		}
	}
	if fake.seconds != 10 {
		t.Errorf("it waits %d seconds, want 10", fake.seconds)
	}
}

func TestDeviceThatCannotBeTrustedIsRefused(t *testing.T) {
	t.Parallel()
	for name, fake := range map[string]*fakeDevice{
		"no magic close": {options: unix.WDIOF_SETTIMEOUT, seconds: 60},
		"waits longer":   {options: able, seconds: 60, least: 30},
		"fixed timeout":  {options: unix.WDIOF_MAGICCLOSE, seconds: 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := NewDevice(mount(t, fake), 10*time.Second).Arm(); err == nil {
				t.Error("it was taken")
			}
		})
	}
}
