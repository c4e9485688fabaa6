package dhctl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	pb "commander/agents/dhctl/dhctlpb"
)

// lockStep is how often a held lock is tried again.
const lockStep = 50 * time.Millisecond

// lock makes this process the only one that works on a cluster. The kernel releases it when the
// process ends, however that happens; whoever releases it removes the file, so that nothing of a
// cluster stays behind. While another holds it, lock tries for the given time and then fails with
// an error that begins with pb.BusyPrefix.
func lock(ctx context.Context, dir, id, what string, wait time.Duration) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make lock folder: %w", err)
	}
	path := filepath.Join(dir, id+".lock")
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		file, err := lockFile(ctx, path, id)
		if err != nil {
			return nil, err
		}
		if !stands(file, path) {
			file.Close() // its last holder removed it while we waited for it
			continue
		}
		if err := errors.Join(file.Truncate(0), note(file, what)); err != nil {
			file.Close()
			return nil, fmt.Errorf("sign lock of cluster %s: %w", id, err)
		}
		return func() {
			_ = os.Remove(path) // still ours, so nobody else's is removed
			file.Close()
		}, nil
	}
}

func lockFile(ctx context.Context, path, id string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock of cluster %s: %w", id, err)
	}
	if err := acquire(ctx, file); err != nil {
		defer file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			holder := make([]byte, 200)
			n, _ := file.ReadAt(holder, 0) // only for the message
			return nil, fmt.Errorf("%s%s holds it", pb.BusyPrefix, strings.TrimSpace(string(holder[:n])))
		}
		return nil, fmt.Errorf("lock cluster %s: %w", id, err)
	}
	return file, nil
}

// stands reports whether the file is still the one at the path.
func stands(file *os.File, path string) bool {
	ours, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

func note(file *os.File, what string) error {
	_, err := file.WriteAt(fmt.Appendf(nil, "%s in process %d", what, os.Getpid()), 0)
	return err
}

func acquire(ctx context.Context, file *os.File) error {
	again := time.NewTicker(lockStep)
	defer again.Stop()
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-ctx.Done():
			return unix.EWOULDBLOCK
		case <-again.C:
		}
	}
}
