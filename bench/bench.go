package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// bench is a run: a folder for everything that is started, and what runs in it now. The demo and
// Commander alone are started when first needed, and never run at once.
type bench struct {
	options
	dir    string
	planes int // that were started; each has a folder of its own
	site   *site
	demo   *demo
}

func newBench(ctx context.Context, o options) (*bench, error) {
	b := &bench{options: o}
	for _, path := range []*string{&b.Bin, &b.Cache, &b.Readme} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return nil, fmt.Errorf("find folder: %w", err)
		}
		*path = absolute
	}
	for _, name := range []string{"commander", "demo"} {
		if _, err := os.Stat(b.program(name)); err != nil {
			return nil, fmt.Errorf("%s is not in %s: `make build` builds it", name, b.Bin)
		}
	}
	var err error
	if b.dir, err = os.MkdirTemp("", "cb"); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	// The database runs as another user when we are root.
	if err := os.Chmod(b.dir, 0o711); err != nil {
		return nil, errors.Join(fmt.Errorf("open folder to the database: %w", err), b.close())
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", b.bare(), "./bare")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the floor: %w: %s", err, out), b.close())
	}
	return b, nil
}

func (b *bench) program(name string) string { return filepath.Join(b.Bin, name) }

// bare is the program that is the floor for servers.
func (b *bench) bare() string { return filepath.Join(b.dir, "bare") }

func (b *bench) close() error {
	err := errors.Join(b.closeSite(), b.closeDemo())
	if left := os.RemoveAll(b.dir); left != nil {
		err = errors.Join(err, fmt.Errorf("remove folder: %w", left))
	}
	return err
}

// freePort finds a port on which so many in a row are free now.
func freePort(inARow int) (int, error) {
	for range 50 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return 0, fmt.Errorf("find a free port: %w", err)
		}
		port := first.Addr().(*net.TCPAddr).Port
		free := true
		for next := port + 1; next < port+inARow && free; next++ {
			l, err := net.Listen("tcp", on(next))
			if free = err == nil; free {
				_ = l.Close()
			}
		}
		_ = first.Close()
		if free {
			return port, nil
		}
	}
	return 0, fmt.Errorf("find a free port: there are no %d in a row", inARow)
}

func on(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// until asks again and again, so often, until a thing is so; the error is the last answer.
func until(ctx context.Context, every, bound time.Duration, so func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("it took more than %s", bound))
	defer cancel()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		err := so(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// pause lets things come to rest.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
