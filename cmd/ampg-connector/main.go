// Command ampg-connector is Commander's end of the tunnel to one managed cluster.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"commander/agents/connector"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Cluster  string `flag:"cluster" required:"true" help:"UUID of the cluster"`
	Dir      string `flag:"dir" required:"true" help:"directory of this cluster's sockets, created if missing"`
	LogLevel string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

// gcPercent keeps the heap close to what lives in it: there is one such process a cluster, and
// it is idle most of the time. It wins over GOGC in the environment.
const gcPercent = 40

func main() { run.Main("ampg-connector", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("AMPG_CONNECTOR_", args, &o); err != nil {
		return err
	}
	debug.SetGCPercent(gcPercent)
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "ampg-connector")
	if err != nil {
		return err
	}
	return connector.Run(ctx, connector.Options{Cluster: o.Cluster, Dir: o.Dir, Log: log})
}
