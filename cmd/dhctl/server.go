package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"commander/agents/dhctl"
	"commander/agents/dhctl/proxy"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

// prefix begins the names of environment variables.
const prefix = "DHCTL_"

// Common is what the server and the processes of its operations are told alike. It is exported
// because flags are read into it.
type Common struct {
	LabSocket  string        `flag:"lab-socket" env:"LAB_SOCKET" help:"unix socket of the lab's daemon, for clusters of kind Lab"`
	AgentImage string        `flag:"agent-image" help:"image of commander-agent, which then runs in clusters that were not made here; empty means that the lab runs it beside them"`
	LockDir    string        `flag:"lock-dir" help:"folder with a lock for each cluster, shared by all servers of a machine (default: dhctl-locks of this user in the temporary folder)"`
	LostLimit  time.Duration `flag:"lost-limit" default:"2m" help:"after how long a silent operation is declared lost by its caller; an operation stops when its caller is silent for half of it"`
	Grace      time.Duration `flag:"grace" default:"10s" help:"how long an operation may take to stop before its process is killed"`
	LogLevel   string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"what is logged"`
}

type serverConfig struct {
	Common
	Listen   string        `flag:"listen" required:"true" help:"unix:<path> (a socket for its owner alone) or tcp:<host>:<port> (mutual TLS)"`
	TLSCert  string        `flag:"tls-cert" help:"PEM file with the certificate of the server"`
	TLSKey   string        `flag:"tls-key" help:"PEM file with its key"`
	ClientCA string        `flag:"tls-client-ca" help:"PEM file with the CA of callers"`
	TempDir  string        `flag:"tmp-dir" help:"folder for sockets and states of running operations; its path must be short (default: the temporary folder)"`
	Parallel int           `flag:"parallel" default:"16" help:"how many operations may run at a time"`
	Shutdown time.Duration `flag:"shutdown" default:"10s" help:"how long running operations may go on when the server is told to end"`
}

// Validate implements config.Validator.
func (c *serverConfig) Validate() error {
	switch {
	case c.Parallel < 1:
		return errors.New("parallel must be at least 1")
	case c.LostLimit < 4*time.Second:
		return errors.New("lost-limit must be at least 4s: connections are not watched more closely")
	case c.Grace <= 0 || c.LostLimit/2+2*c.Grace > c.LostLimit:
		return errors.New("grace must be positive and at most a quarter of lost-limit, so that an operation has ended when it is declared lost")
	}
	return nil
}

// silence is how long a caller may say nothing.
func (c Common) silence() time.Duration { return c.LostLimit / 2 }

func (c Common) locks() string {
	if c.LockDir != "" {
		return c.LockDir
	}
	return fmt.Sprintf("%s/dhctl-locks-%d", os.TempDir(), os.Getuid())
}

// serve answers callers and starts a process for each operation.
func serve(ctx context.Context, args []string) error {
	var c serverConfig
	if rest, err := config.Load(prefix, args, &c); err != nil {
		return err
	} else if len(rest) > 0 {
		return run.Misuse(fmt.Errorf("%q is not a flag", rest[0]))
	}
	log, err := telemetry.Logger(os.Stderr, c.LogLevel, "dhctl")
	if err != nil {
		return err
	}
	at, err := proxy.Listen(c.Listen, proxy.TLSFiles{Cert: c.TLSCert, Key: c.TLSKey, ClientCA: c.ClientCA})
	if err != nil {
		return err
	}
	defer at.Close()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	folder, err := newWorkFolder(c.TempDir)
	if err != nil {
		return err
	}
	defer folder.remove()
	log.Info("serving", append([]any{"binary", self}, config.Describe(&c)...)...)
	kinds, _ := engines(c.Common)
	s := &proxy.Server{
		Proxy: proxy.Proxy{
			Command: c.childCommand(self, folder.lock), Dir: folder.path, Grace: c.Grace, Silence: c.silence(), Log: log,
		},
		Validation: &dhctl.Validation{Engines: kinds},
		Parallel:   c.Parallel, Shutdown: c.Shutdown,
	}
	return s.Serve(ctx, at)
}

// childCommand is the command line of an operation's process, which inherits the lock of its folder.
func (c serverConfig) childCommand(self string, lock *os.File) func(dir, socket string) *exec.Cmd {
	return func(dir, socket string) *exec.Cmd {
		cmd := exec.Command(self, "_server",
			"--server-network=unix", "--server-address="+socket, "--tmp-dir="+dir,
			"--lab-socket="+c.LabSocket, "--agent-image="+c.AgentImage, "--lock-dir="+c.locks(), "--lost-limit="+c.LostLimit.String(),
			"--grace="+c.Grace.String(), "--log-level="+c.LogLevel)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		cmd.ExtraFiles = []*os.File{lock}
		return cmd
	}
}
