// Command dvp-emulator makes a Kubernetes API act as a Deckhouse Virtualization Platform.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/containers"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Kubeconfig    string        `flag:"kubeconfig" env:"KUBECONFIG" required:"true" help:"administrator's access to an API server without controllers and nodes of its own"`
	WebhookListen string        `flag:"webhook-listen" default:"127.0.0.1:0" help:"address of the webhooks, as the API server reaches it"`
	Nodes         []string      `flag:"nodes" default:"dvp-node-1,dvp-node-2" help:"names of the nodes that machines run on"`
	MachineRanges []string      `flag:"machine-ranges" default:"10.66.0.0/16" help:"networks that machines have their addresses from"`
	BalancerRange string        `flag:"balancer-range" default:"10.67.0.0/24" help:"network that Services of type LoadBalancer have their addresses from"`
	Retention     time.Duration `flag:"lease-retention" env:"VIRTUAL_MACHINE_IP_LEASES_RETENTION_DURATION" default:"10m" help:"how long a released address is not given again"`
	EvictionDelay time.Duration `flag:"eviction-delay" default:"5s" help:"pause before the first retry of an evacuation; it doubles"`
	Delays        string        `flag:"delays" help:"how long steps take, such as start=10s,attach=1s; the rest keeps its default"`
	Guests        string        `flag:"guests" help:"image of a Debian with systemd and cloud-init: each machine that runs is a container of it. Without one machines are state only"`
	LogLevel      string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

func main() { run.Main("dvp-emulator", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("DVP_EMULATOR_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "dvp-emulator")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	ctrllog.SetLogger(logr.FromSlogHandler(log.Handler()))
	settings, err := o.settings()
	if err != nil {
		return run.Misuse(err)
	}
	settings.Log = log
	if settings.Config, err = clientcmd.BuildConfigFromFlags("", o.Kubeconfig); err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	settings.Config.QPS = -1 // the API server knows how much it can take
	if o.Guests != "" {
		engine, err := containers.Open(ctx, o.Guests, settings.MachineRanges[0])
		if err != nil {
			return err
		}
		settings.Guests = engine
		defer closeGuests(engine, log)
	}
	e, err := emulator.New(ctx, settings)
	if err != nil {
		return err
	}
	log.Info("started", config.Describe(o)...)
	return e.Run(ctx)
}

// settings turns flags into what the emulator knows.
func (o options) settings() (emulator.Options, error) {
	s := emulator.Defaults()
	s.WebhookListen, s.Nodes, s.LeaseRetention, s.EvictionDelay = o.WebhookListen, o.Nodes, o.Retention, o.EvictionDelay
	s.MachineRanges = nil
	for _, text := range o.MachineRanges {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return s, fmt.Errorf("read machine-ranges: %w", err)
		}
		s.MachineRanges = append(s.MachineRanges, network)
	}
	if o.Guests != "" && len(s.MachineRanges) != 1 {
		return s, errors.New("machine-ranges: guests are in one network, so there must be one range")
	}
	var err error
	if s.BalancerRange, err = netip.ParsePrefix(o.BalancerRange); err != nil {
		return s, fmt.Errorf("read balancer-range: %w", err)
	}
	return s, s.Delays.Set(o.Delays)
}

// closeBound is how long the engine may take to remove a network.
const closeBound = 10 * time.Second

func closeGuests(engine *containers.Engine, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), closeBound)
	defer cancel()
	if err := engine.Close(ctx); err != nil {
		log.Warn("network of guests not removed", "error", err)
	}
}
