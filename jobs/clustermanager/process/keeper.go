// Package process keeps the processes beside Commander on one machine, where a Kubernetes
// cluster would keep Deployments: each has a unix socket by which it is known to live.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Spec is a process that should be running.
type Spec struct {
	// Name is what the process is known by to the keeper and in the log.
	Name string
	// Socket answers connections while the process lives.
	Socket string
	Binary string
	Args   []string
	// LogFile takes what the process prints; empty discards it.
	LogFile string
}

// Keeper starts processes and stops those that it started. It is safe for concurrent use.
type Keeper struct {
	Log *slog.Logger

	mu       sync.Mutex // protects children and one start at a time by name
	children map[string]*child
}

type child struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // valid once done is closed
}

// startBound is how long a process may take until its socket answers.
const startBound = 15 * time.Second

// Ensure returns once the process answers: one that already does is left alone, whoever started it.
func (k *Keeper) Ensure(ctx context.Context, s Spec) error {
	if Answers(s.Socket) {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if Answers(s.Socket) {
		return nil
	}
	if old := k.children[s.Name]; old != nil {
		k.end(old) // it lives but does not answer, or has ended
	}
	c, err := start(s)
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Name, err)
	}
	if k.children == nil {
		k.children = map[string]*child{}
	}
	k.children[s.Name] = c
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if Answers(s.Socket) {
				k.Log.Info("process started", "name", s.Name, "pid", c.cmd.Process.Pid)
				return nil
			}
		case <-c.done:
			if Answers(s.Socket) {
				return nil // another manager was faster
			}
			return fmt.Errorf("start %s: it ended at once (%v)%s", s.Name, c.err, seeLog(s)) //nolint:errorlint // it may have ended well
		case <-ctx.Done():
			k.end(c)
			return fmt.Errorf("start %s: its socket does not answer: %w%s", s.Name, ctx.Err(), seeLog(s))
		}
	}
}

func seeLog(s Spec) string {
	if s.LogFile == "" {
		return ""
	}
	return "; its log is " + s.LogFile
}

// Answers reports whether something accepts connections on a unix socket.
func Answers(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

func start(s Spec) (*child, error) {
	cmd := exec.Command(s.Binary, s.Args...)
	// A group of its own: a signal from the terminal is Commander's to handle. It ends with the
	// manager however that ends; another manager that had adopted it starts it again.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if s.LogFile != "" {
		log, err := os.OpenFile(s.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		defer func() { _ = log.Close() }()
		cmd.Stdout, cmd.Stderr = log, log
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, done: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

// Stop ends a process that this keeper started; one that it did not start is not its own.
func (k *Keeper) Stop(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.children[name]; c != nil {
		k.end(c)
		delete(k.children, name)
	}
}

// Close ends all processes that this keeper started, side by side.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all sync.WaitGroup
	for _, c := range k.children {
		all.Go(func() { k.end(c) })
	}
	all.Wait()
	k.children = nil
}

// grace is how long a process may take to end by itself.
const grace = 12 * time.Second

func (k *Keeper) end(c *child) {
	signal := func(s syscall.Signal) {
		if err := syscall.Kill(-c.cmd.Process.Pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			k.Log.Warn("signal a process", "pid", c.cmd.Process.Pid, "error", err)
		}
	}
	select {
	case <-c.done:
		return
	default:
	}
	signal(syscall.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(grace):
		signal(syscall.SIGKILL)
		<-c.done
	}
}
