package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockEvery is how often a waiting builder looks whether it is its turn.
const lockEvery = 200 * time.Millisecond

// lock waits for the right to build one output. The kernel frees it when its holder dies.
func (b Builder) lock(ctx context.Context, file string, t Target) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", t.Name, err)
	}
	ticker := time.NewTicker(lockEvery)
	defer ticker.Stop()
	for waiting := false; ; waiting = true {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", t.Name, err)
		}
		if !waiting {
			b.say("%s: somebody else builds it already, waiting", t.Name)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("wait for another build of %s: %w", t.Name, ctx.Err())
		case <-ticker.C:
		}
	}
}
