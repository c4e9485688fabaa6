// Command dvp-cloud-controller-manager runs the cloud controllers of Kubernetes on DVP. Any number
// of replicas may run; one of them acts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"

	"commander/agents/dvp/ccm"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/rights"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/guard"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Provider    string        `flag:"cloud-provider" default:"dvp" oneof:"dvp" help:"name of the provider"`
	Untagged    bool          `flag:"allow-untagged-cloud" help:"without effect, since all in DVP is marked; taken for who gives it to every provider"`
	Routes      bool          `flag:"configure-cloud-routes" help:"must be false: DVP has no routes for pods"`
	Controllers []string      `flag:"controllers" default:"cloud-node,cloud-node-lifecycle,service-lb-controller" help:"those that run"`
	ClusterName string        `flag:"cluster-name" default:"kubernetes" help:"name of the cluster, as the controllers are told it"`
	NodeStatus  time.Duration `flag:"node-status-update-frequency" default:"5m" help:"from one look at the addresses of nodes to the next"`
	NodeMonitor time.Duration `flag:"node-monitor-period" default:"5s" help:"from one look for machines that are gone or stopped to the next"`
	Workers     int           `flag:"concurrent-syncs" default:"5" help:"objects that a controller looks at side by side"`
	Verbosity   int           `flag:"v" default:"0" help:"how much the controllers tell, up to 9"`
	Elect       bool          `flag:"leader-elect" default:"true" help:"act only as the leader of all replicas"`
	Metrics     string        `flag:"metrics-address" default:":10258" help:"address of /metrics, by TLS for those whom the API server allows"`
	Health      string        `flag:"health-probe-bind-address" default:":10259" help:"address of /healthz"`
	CertFile    string        `flag:"tls-cert-file" help:"certificate of the metrics in PEM; without one it signs its own"`
	KeyFile     string        `flag:"tls-key-file" help:"its key in PEM"`
	Kubeconfig  string        `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the cluster's API server; empty means as a pod of it"`
	LogLevel    string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
	DVP         cloud.Credentials
}

// Validate knows what the tags cannot say.
func (o options) Validate() error {
	if o.Routes {
		return errors.New("configure-cloud-routes must be false: DVP has no routes for pods")
	}
	for _, name := range o.Controllers {
		if !slices.Contains(ccm.Controllers, name) {
			return fmt.Errorf("controllers: there is no %q, only %s", name, strings.Join(ccm.Controllers, ", "))
		}
	}
	if o.NodeStatus <= 0 || o.NodeMonitor <= 0 || o.Workers < 1 {
		return errors.New("node-status-update-frequency, node-monitor-period and concurrent-syncs must be positive")
	}
	return nil
}

// mayRead is what the API server must allow to those who read the metrics.
var mayRead = authorizationv1.ResourceAttributes{
	Group: "apps", Resource: "deployments", Subresource: "prometheus-metrics", Name: "cloud-controller-manager", Namespace: "d8-cloud-provider-dvp", Verb: "get",
}

func main() { run.Main("dvp-cloud-controller-manager", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("DVP_CLOUD_CONTROLLER_MANAGER_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "dvp-cloud-controller-manager")
	if err != nil {
		return err
	}
	if err := verbosity(log, o.Verbosity); err != nil {
		return run.Misuse(err)
	}
	dvp, err := o.DVP.Open()
	if err != nil {
		return run.Misuse(err)
	}
	settings, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	settings.QPS = -1 // the API server knows how much it can take
	if err := mayWork(ctx, log, o, settings); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(settings)
	if err != nil {
		return fmt.Errorf("find the API server: %w", err)
	}
	controllers, err := ccm.Enabled(ctx, client, o.Controllers)
	if err != nil {
		return err
	}
	work := func(ctx context.Context) error {
		var group run.Group
		err := ccm.New(dvp).Join(&group, client, ccm.Settings{
			Controllers: controllers, ClusterName: o.ClusterName, NodeStatus: o.NodeStatus, NodeMonitor: o.NodeMonitor, Workers: o.Workers,
		})
		if err != nil {
			return err
		}
		log.InfoContext(ctx, "controllers started", "controllers", controllers)
		return group.Run(ctx)
	}
	if o.Elect {
		work = lead(client, log, work)
	}
	var group run.Group
	group.Add("controllers", work)
	if err := serve(&group, o, client); err != nil {
		return err
	}
	log.Info("started", config.Describe(o)...)
	return group.Run(ctx)
}

// verbosity sends what the controllers tell to the log.
func verbosity(log *slog.Logger, level int) error {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Set("v", strconv.Itoa(level)); err != nil {
		return fmt.Errorf("read v: %w", err)
	}
	klog.SetSlogLogger(log)
	return nil
}

// serve adds the servers: the metrics guarded, the health for kubelet.
func serve(group *run.Group, o options, client kubernetes.Interface) error {
	tls, err := guard.TLS(o.CertFile, o.KeyFile, "cloud-controller-manager", clock.System{})
	if err != nil {
		return err
	}
	metrics := http.NewServeMux()
	metrics.Handle("GET /metrics", legacyregistry.Handler())
	for _, s := range []struct {
		name, address string
		server        *http.Server
	}{
		{"metrics", o.Metrics, &http.Server{Handler: guard.New(client, mayRead, clock.System{}).Handler(metrics), TLSConfig: tls}},
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

// mayWork fails if a right is missing, with all that are. Of an API server that does not answer
// nothing is known yet: the work itself waits for it.
func mayWork(ctx context.Context, log *slog.Logger, o options, settings *rest.Config) error {
	err := errors.Join(o.DVP.CheckRights(ctx), rights.Check(ctx, settings, "in the cluster", rights.Nodes()))
	if err != nil && !errors.Is(err, rights.ErrMissing) {
		log.WarnContext(ctx, "rights are not known", "error", err)
		return nil
	}
	return err
}
