// Command fencing-controller releases the pods of nodes that are lost. Any number of replicas may
// run; one of them acts.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/controller/fencing"
	"commander/agents/node/controller/kube"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Metrics    string `flag:"metrics-bind-address" default:":8080" help:"address of /metrics over TLS, for those who may get deployments/prometheus-metrics; 0 means none"`
	Health     string `flag:"health-probe-bind-address" default:":8081" help:"address of /healthz and /readyz"`
	Elect      bool   `flag:"leader-elect" default:"true" help:"act only as the leader of all replicas"`
	Kubeconfig string `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel   string `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

// election is the name of the Lease by which the replicas choose.
const election = "fencing-controller.deckhouse.io"

func main() { run.Main("fencing-controller", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("FENCING_CONTROLLER_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "fencing-controller")
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	manager, err := newManager(o)
	if err != nil {
		return err
	}
	if err := fencing.Setup(manager, clock.System{}, log); err != nil {
		return err
	}
	log.Info("started", config.Describe(o)...)
	slog.SetDefault(log)
	return manager.Start(ctx)
}

func newManager(o options) (ctrl.Manager, error) {
	settings, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	// The API server itself shares out what it can do. The client's own limit, five requests a second,
	// would make the pods of a lost node wait.
	settings.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make kinds known: %w", err)
		}
	}
	manager, err := ctrl.NewManager(settings, ctrl.Options{
		Scheme: scheme, Metrics: kube.Metrics(o.Metrics, "fencing-controller"), HealthProbeBindAddress: o.Health,
		LeaderElection: o.Elect, LeaderElectionID: election, LeaderElectionNamespace: api.Namespace,
		LeaderElectionReleaseOnCancel: true, // nothing is done after the manager has ended
	})
	if err != nil {
		return nil, fmt.Errorf("make manager: %w", err)
	}
	for name, add := range map[string]func(string, healthz.Checker) error{"healthz": manager.AddHealthzCheck, "readyz": manager.AddReadyzCheck} {
		if err := add(name, healthz.Ping); err != nil {
			return nil, fmt.Errorf("answer probes: %w", err)
		}
	}
	return manager, nil
}
