package earlyoom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// triggerWindow is the time over which the kernel measures for a trigger. It is the shortest that
// it accepts from anybody but the administrator, and long enough that a short stall is no alarm.
const triggerWindow = 2 * time.Second

// pollSlice is how long one wait for the kernel takes before the context is looked at again.
const pollSlice = 500 * time.Millisecond

// Trigger asks the kernel to tell when tasks were stalled for more than a share of a window.
type Trigger struct{ file *os.File }

// OpenTrigger sets a trigger on a pressure file; percent is the share of full stall. It fails
// with ErrNoPSI where the kernel does not measure.
func OpenTrigger(path string, percent float64) (*Trigger, error) {
	// Not os.OpenFile with its poller: an event is a priority event, which the poller ignores.
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open trigger on %s: %w", path, psiMissing(err))
	}
	stall := time.Duration(percent / 100 * float64(triggerWindow))
	text := fmt.Sprintf("full %d %d\x00", stall.Microseconds(), triggerWindow.Microseconds())
	if _, err := unix.Write(fd, []byte(text)); err != nil {
		return nil, errors.Join(fmt.Errorf("set trigger on %s: %w", path, psiMissing(err)), unix.Close(fd))
	}
	return &Trigger{os.NewFile(uintptr(fd), path)}, nil
}

// Watch sends on fired at each alarm until ctx ends or the group of the file is gone, which is an
// error. An alarm that nobody has taken yet is not repeated.
func (t *Trigger) Watch(ctx context.Context, fired chan<- struct{}) error {
	fds := []unix.PollFd{{Fd: int32(t.file.Fd()), Events: unix.POLLPRI}}
	for ctx.Err() == nil {
		n, err := unix.Poll(fds, int(pollSlice.Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR) || err == nil && n == 0:
			continue
		case err != nil:
			return fmt.Errorf("wait for trigger: %w", err)
		case fds[0].Revents&unix.POLLERR != 0:
			return fmt.Errorf("wait for trigger: %s is gone", t.file.Name())
		}
		select {
		case fired <- struct{}{}:
		default:
		}
	}
	return nil
}

// Close removes the trigger.
func (t *Trigger) Close() error { return t.file.Close() }

func psiMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("%w: %w", ErrNoPSI, err)
	}
	return err
}
