package fencing

import (
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Device is a watchdog of the Linux kernel. Opening arms it; closing disarms it only after the
// letter V was written.
type Device struct {
	path    string
	timeout time.Duration
	file    *os.File // nil while not armed
}

// NewDevice is the watchdog behind a path such as /dev/watchdog, with a timeout of whole seconds.
func NewDevice(path string, timeout time.Duration) *Device {
	return &Device{path: path, timeout: timeout}
}

// watchdogSupport is struct watchdog_info of the kernel.
type watchdogSupport struct {
	options  uint32
	firmware uint32
	identity [32]byte
}

// Arm opens the device and sets its timeout. A device that cannot be disarmed, or that waits
// longer than asked, is refused and closed the safe way: what others rely on would not be true.
func (d *Device) Arm() error {
	if d.file != nil {
		return errArmed
	}
	file, err := os.OpenFile(d.path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open watchdog: %w", err)
	}
	d.file = file
	if err := d.prepare(); err != nil {
		return errors.Join(fmt.Errorf("arm watchdog %s: %w", d.path, err), d.Disarm())
	}
	return d.Feed()
}

func (d *Device) prepare() error {
	var support watchdogSupport
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, d.file.Fd(), unix.WDIOC_GETSUPPORT, uintptr(unsafe.Pointer(&support))); errno != 0 {
		return fmt.Errorf("ask what it can: %w", errno)
	}
	if support.options&unix.WDIOF_MAGICCLOSE == 0 {
		return errors.New("it cannot be disarmed (no magic close)")
	}
	fd := int(d.file.Fd())
	if support.options&unix.WDIOF_SETTIMEOUT != 0 {
		if err := unix.IoctlSetPointerInt(fd, unix.WDIOC_SETTIMEOUT, int(d.timeout/time.Second)); err != nil {
			return fmt.Errorf("set timeout: %w", err)
		}
	}
	seconds, err := unix.IoctlGetInt(fd, unix.WDIOC_GETTIMEOUT)
	if err != nil {
		return fmt.Errorf("ask its timeout: %w", err)
	}
	if got := time.Duration(seconds) * time.Second; got > d.timeout {
		return fmt.Errorf("it waits %s, want at most %s", got, d.timeout)
	}
	return nil
}

// Feed writes a byte.
func (d *Device) Feed() error {
	if d.file == nil {
		return errNotArmed
	}
	if _, err := d.file.Write([]byte("1")); err != nil {
		return fmt.Errorf("feed watchdog: %w", err)
	}
	return nil
}

// Disarm writes the letter V and closes. If the letter cannot be written the device stays open,
// since closing it now would reset the node.
func (d *Device) Disarm() error {
	if d.file == nil {
		return errNotArmed
	}
	if _, err := d.file.Write([]byte("V")); err != nil {
		return fmt.Errorf("disarm watchdog: %w", err)
	}
	err := d.file.Close()
	d.file = nil
	if err != nil {
		return fmt.Errorf("close watchdog: %w", err)
	}
	return nil
}
