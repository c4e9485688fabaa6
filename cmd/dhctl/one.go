package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"commander/agents/dhctl"
	"commander/agents/dhctl/child"
	"commander/internal/config"
	"commander/internal/telemetry"
)

// lockWait is how long an operation waits for a predecessor that is ending.
const lockWait = 3 * time.Second

type oneConfig struct {
	Common
	Network string `flag:"server-network" default:"unix" oneof:"unix" help:"network to serve on"`
	Address string `flag:"server-address" required:"true" help:"path of the socket to serve on"`
	TempDir string `flag:"tmp-dir" required:"true" help:"folder for the operation's state"`
}

// serveOne runs a single operation. Its standard input ends when the server that started it
// wants it to end, or is gone.
func serveOne(ctx context.Context, args []string) error {
	var c oneConfig
	if _, err := config.Load(prefix, args, &c); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, c.LogLevel, "dhctl-operation")
	if err != nil {
		return err
	}
	l, err := net.Listen(c.Network, c.Address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	kinds, open := engines(c.Common)
	return child.Serve(ctx, child.Options{
		Listener: l, Parent: os.Stdin, Grace: c.Grace, Log: log,
		Server: &dhctl.Server{
			Engines: kinds, Connect: open, AgentImage: c.AgentImage, CacheDir: c.TempDir,
			LockDir: c.locks(), LockWait: lockWait, Silence: c.silence(), Log: log,
		},
	})
}
