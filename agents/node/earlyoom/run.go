package earlyoom

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/kubernetes"

	"commander/internal/clock"
	"commander/internal/run"
)

// Options say what to watch and where.
type Options struct {
	NodeName string
	Proc     string // /proc of the machine
	Cgroup   string // /sys/fs/cgroup of the machine
	Rules    Rules
	Client   kubernetes.Interface
	Registry *prometheus.Registry
	Log      *slog.Logger
}

// Join puts the actors of the monitor into a group.
func Join(group *run.Group, o Options) error {
	cgroups, err := FindCgroups(o.Cgroup)
	if err != nil {
		return err
	}
	pods, err := WatchPods(o.Client, o.NodeName)
	if err != nil {
		return err
	}
	node := Node{Proc: o.Proc, Cgroups: cgroups, Pods: pods}
	events := Events{Client: o.Client, Node: o.NodeName}
	m := &Monitor{
		Rules: o.Rules, Sample: node.Sample, Kill: cgroups.Kill, Tell: events.Killed,
		Metrics: NewMetrics(o.Registry), Clock: clock.System{}, Log: o.Log,
	}
	alarm := make(chan struct{}, 1)
	group.Add("pods", pods.Run)
	group.Add("trigger", func(ctx context.Context) error { return watchTrigger(ctx, node.PressureFile(), o, alarm) })
	group.Add("monitor", func(ctx context.Context) error { return m.Run(ctx, alarm) })
	return nil
}

// watchTrigger ends without an error where the kernel has no triggers: then polling alone serves.
func watchTrigger(ctx context.Context, path string, o Options, alarm chan<- struct{}) error {
	trigger, err := OpenTrigger(path, o.Rules.Threshold)
	if errors.Is(err, ErrNoPSI) {
		return nil // the monitor says so
	}
	if err != nil {
		o.Log.Warn("the kernel does not take a trigger: polling instead", "error", err)
		return nil
	}
	if err := errors.Join(trigger.Watch(ctx, alarm), trigger.Close()); err != nil {
		return fmt.Errorf("watch pressure: %w", err)
	}
	return nil
}
