// Command fencing-agent resets its node when the node has lost the others of its group.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/fencing"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	NodeName    string        `flag:"node-name" env:"NODE_NAME" required:"true" help:"name of the Node that this machine is"`
	NodeGroup   string        `flag:"node-group" env:"NODE_GROUP" required:"true" help:"its group"`
	Mode        string        `flag:"fencing-mode" env:"FENCING_MODE" default:"Watchdog" oneof:"Watchdog Notify" help:"what happens to a lost node"`
	Device      string        `flag:"watchdog-device" env:"WATCHDOG_DEVICE" default:"/dev/watchdog" help:"the watchdog"`
	Timeout     int           `flag:"watchdog-timeout" env:"WATCHDOG_TIMEOUT" default:"60" help:"seconds that it waits to be fed"`
	APIEvery    time.Duration `flag:"kubernetes-api-check-interval" env:"KUBERNETES_API_CHECK_INTERVAL" default:"5s" help:"pause between two looks for members"`
	APIBound    time.Duration `flag:"kubernetes-api-timeout" env:"KUBERNETES_API_TIMEOUT" default:"10s" help:"how long the API server may take"`
	MinEvent    time.Duration `flag:"min-event-interval" env:"MIN_EVENT_INTERVAL" default:"600ms" help:"least time between two events on the same member"`
	GRPCAddress string        `flag:"grpc-address" env:"GRPC_ADDRESS" default:"/tmp/fencing-agent.sock" help:"unix socket for programs of the node"`
	Health      string        `flag:"health-probe-bind-address" env:"HEALTH_PROBE_BIND_ADDRESS" default:":8081" help:"address of /healthz"`
	Kubeconfig  string        `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel    string        `flag:"log-level" env:"LOG_LEVEL" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
	Gossip      fencing.Gossip
}

// Validate knows what the tags cannot say.
func (o *options) Validate() error {
	if o.Timeout < 1 || o.APIEvery <= 0 || o.APIBound <= 0 || o.Gossip.ProbeInterval <= 0 {
		return fmt.Errorf("times must be positive: watchdog-timeout %d, intervals %s, %s and %s",
			o.Timeout, o.APIEvery, o.APIBound, o.Gossip.ProbeInterval)
	}
	return nil
}

func main() { run.Main("fencing-agent", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("FENCING_AGENT_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "fencing-agent")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	settings, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	client, err := kubernetes.NewForConfig(settings)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	listener, err := net.Listen("tcp", o.Health)
	if err != nil {
		return fmt.Errorf("listen for probes: %w", err)
	}
	timeout := time.Duration(o.Timeout) * time.Second
	log.Info("started", config.Describe(o)...)
	var group run.Group
	group.Add("health", run.Serve(&http.Server{Handler: telemetry.NewHealth(nil).Handler()}, listener))
	group.Add("fencing", func(ctx context.Context) error {
		return fencing.Run(ctx, fencing.Options{
			Node: o.NodeName, Group: o.NodeGroup, Mode: v1.FencingMode(o.Mode), Timeout: timeout,
			Watchdog: fencing.NewDevice(o.Device, timeout), APIBound: o.APIBound, APIEvery: o.APIEvery,
			Gossip: o.Gossip, MinEventInterval: o.MinEvent, Socket: o.GRPCAddress,
			Client: client, Clock: clock.System{}, Log: log,
		})
	})
	return group.Run(ctx)
}
