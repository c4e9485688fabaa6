package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// child is a program that runs while something is measured.
type child struct {
	name    string
	cmd     *exec.Cmd
	log     string
	started time.Time
	port    int           // that it was told to serve on
	exited  chan struct{} // closed when it is gone
}

// spawn starts a program; what it prints goes to a file in the folder of the run.
func (b *bench) spawn(name string, env []string, path string, args ...string) (*child, error) {
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	return b.launch(name, cmd)
}

// launch is spawn for a command that is special in another way.
func (b *bench) launch(name string, cmd *exec.Cmd) (*child, error) {
	c := &child{name: name, cmd: cmd, log: filepath.Join(b.dir, name+".log"), exited: make(chan struct{})}
	log, err := os.Create(c.log)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", name, err)
	}
	defer log.Close() //nolint:errcheck // the child has its own copy
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.started = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = cmd.Wait() // gone tells how it ended
		close(c.exited)
	}()
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// answers waits for the child to be of use and returns how long that took since its start.
func (c *child) answers(ctx context.Context, every, bound time.Duration, ask func(context.Context) error) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-c.exited:
			cancel(c.gone())
		case <-ctx.Done():
		}
	}()
	if err := until(ctx, every, bound, ask); err != nil {
		return 0, fmt.Errorf("start %s: %w", c.name, err)
	}
	return time.Since(c.started), nil
}

func (c *child) gone() error {
	log, _ := os.ReadFile(c.log)
	const enough = 2000 // bytes: the last few lines
	return fmt.Errorf("%s ended (%v): %s", c.name, c.cmd.ProcessState, bytes.TrimSpace(log[max(0, len(log)-enough):]))
}

// stopBound is how long a child may take to stop before it is killed; the demo stops many others.
const stopBound = 2 * time.Minute

// stop tells the child to end, with the signal that it knows, and waits.
func (c *child) stop(signal syscall.Signal) error {
	if c == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(signal) // fails only if it is gone already
	timer := time.NewTimer(stopBound)
	defer timer.Stop()
	select {
	case <-c.exited:
		return nil
	case <-timer.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
	return fmt.Errorf("stop %s: it did not end within %s and was killed", c.name, stopBound)
}
