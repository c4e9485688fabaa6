package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a program that the demo keeps running.
type child struct {
	name   string
	cmd    *exec.Cmd
	log    string        // file of what it prints
	exited chan struct{} // closed when it is gone; then err says how
	err    error
}

// spawn starts a program whose output goes to .demo/log/<name>.log.
func (h *home) spawn(name string, env []string, program string, args ...string) (*child, error) {
	c := &child{name: name, log: h.path("log", name+".log"), exited: make(chan struct{})}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log of %s: %w", name, err)
	}
	defer log.Close()
	c.cmd = exec.Command(program, args...)
	c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = append(os.Environ(), env...), log, log
	// Ctrl-C in a terminal is for the demo alone, which then stops its children in order; should
	// the demo be killed, they are told to stop.
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// pollEvery is how often a starting child is asked whether it is ready.
const pollEvery = 20 * time.Millisecond

// until waits for the child to be ready. The error says what it printed last.
func (c *child) until(ctx context.Context, ready func(context.Context) error) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-c.exited:
			return c.gone()
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; it printed:\n%s", c.name, err, c.lastLog())
		case <-tick.C:
		}
	}
}

// gone is the error of a child that ended without being told to.
func (c *child) gone() error {
	return fmt.Errorf("%s ended (%v); its log %s ends with:\n%s", c.name, c.cmd.ProcessState, c.log, c.lastLog())
}

func (c *child) lastLog() string {
	log, err := os.ReadFile(c.log)
	if err != nil {
		return err.Error()
	}
	const enough = 2000 // bytes: the last few lines
	return strings.TrimSpace(string(log[max(0, len(log)-enough):]))
}

// stopBound is how long a child may take to stop before it is killed. Commander lets a task reach
// the end of its phase.
const stopBound = 20 * time.Second

// stop tells the child to end, waits and kills it if it does not.
func (c *child) stop() error {
	if c == nil {
		return nil
	}
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only if it is gone already
	select {
	case <-c.exited:
		return nil
	case <-time.After(stopBound):
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
	return fmt.Errorf("%s did not stop within %s and was killed; see %s", c.name, stopBound, c.log)
}
