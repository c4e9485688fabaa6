// Command psi-monitor frees memory on a node early, by ending one pod when all tasks of the node
// wait for memory.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"commander/agents/node/api"
	"commander/agents/node/earlyoom"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/guard"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	NodeName   string        `flag:"node-name" env:"NODE_NAME" required:"true" help:"name of the Node that this machine is"`
	Threshold  float64       `flag:"threshold" default:"30" help:"percent of the last ten seconds in which all tasks waited for memory; also as first argument"`
	Available  float64       `flag:"available" default:"10" help:"percent of the memory; while more is available no pod is ended"`
	Pause      time.Duration `flag:"pause" default:"15s" help:"least time between two ended pods"`
	Proc       string        `flag:"proc" default:"/proc" help:"where the machine's /proc is"`
	Cgroup     string        `flag:"cgroup" default:"/sys/fs/cgroup" help:"where the machine's control groups are"`
	Kubeconfig string        `flag:"kubeconfig" help:"how to reach the API server; empty means as a pod of the cluster"`
	Listen     string        `flag:"listen" default:":8443" help:"address of /metrics, for those who may get daemonsets/prometheus-metrics"`
	Health     string        `flag:"health-listen" default:":8081" help:"address of /healthz and /readyz"`
	CertFile   string        `flag:"tls-cert-file" help:"certificate in PEM; without one it signs its own"`
	KeyFile    string        `flag:"tls-key-file" help:"its key in PEM"`
	LogLevel   string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

// Validate knows what the tags cannot say.
func (o options) Validate() error {
	if o.Threshold <= 0 || o.Threshold >= 100 || o.Available <= 0 || o.Available > 100 {
		return fmt.Errorf("threshold %v and available %v must be percentages", o.Threshold, o.Available)
	}
	return nil
}

// memoryGoal makes the collector work harder beyond it: the program runs where memory is short.
const memoryGoal = 24 << 20

func main() { run.Main("psi-monitor", start) }

func start(ctx context.Context, args []string) error {
	var o options
	rest, err := config.Load("PSI_MONITOR_", args, &o)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		if o.Threshold, err = strconv.ParseFloat(rest[0], 64); err != nil {
			return run.Misuse(fmt.Errorf("read threshold: %w", err))
		}
		if err := o.Validate(); err != nil {
			return run.Misuse(err)
		}
	}
	debug.SetMemoryLimit(memoryGoal)
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "psi-monitor")
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
	registry := telemetry.Registry()
	var group run.Group
	err = earlyoom.Join(&group, earlyoom.Options{
		NodeName: o.NodeName, Proc: o.Proc, Cgroup: o.Cgroup, Client: client, Registry: registry, Log: log,
		Rules: earlyoom.Rules{Threshold: o.Threshold, Available: o.Available / 100, Pause: o.Pause},
	})
	if err != nil {
		return err
	}
	if err := serve(&group, o, client, registry); err != nil {
		return err
	}
	log.Info("started", config.Describe(o)...)
	return group.Run(ctx)
}

// serve adds the servers: the metrics guarded, the health for kubelet alone.
func serve(group *run.Group, o options, client kubernetes.Interface, registry *prometheus.Registry) error {
	may := authorizationv1.ResourceAttributes{
		Group: "apps", Resource: "daemonsets", Subresource: "prometheus-metrics", Name: "early-oom", Namespace: api.Namespace, Verb: "get",
	}
	tls, err := guard.TLS(o.CertFile, o.KeyFile, "early-oom", clock.System{})
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, address string
		server        *http.Server
	}{
		{"metrics", o.Listen, &http.Server{Handler: guard.New(client, may, clock.System{}).Handler(telemetry.NewHealth(registry).Handler()), TLSConfig: tls}},
		{"health", o.Health, &http.Server{Handler: telemetry.NewHealth(nil).Handler()}},
	} {
		listener, err := net.Listen("tcp", s.address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", s.name, err)
		}
		s.server.WriteTimeout = 30 * time.Second // a reader that stops reading must not hold what is written
		group.Add(s.name, run.Serve(s.server, listener))
	}
	return nil
}
