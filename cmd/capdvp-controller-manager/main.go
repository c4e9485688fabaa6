// Command capdvp-controller-manager is the infrastructure provider of Cluster API for DVP. Any
// number of replicas may run; one of them acts.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	configuration "commander/agents/dvp/api/configuration/v1alpha1"
	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/capdvp"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/nodegroups"
	"commander/agents/dvp/rights"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/guard"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Metrics       string        `flag:"metrics-bind-address" default:"0" help:"address of /metrics; 0 means none"`
	MetricsSecure bool          `flag:"metrics-secure" default:"true" help:"show metrics by TLS, and to those alone whom the API server allows"`
	HTTP2         bool          `flag:"enable-http2" help:"offer HTTP/2 for the metrics"`
	Health        string        `flag:"health-probe-bind-address" default:":8081" help:"address of /healthz and /readyz"`
	Elect         bool          `flag:"leader-elect" help:"act only as the leader of all replicas"`
	Namespace     string        `flag:"leader-election-namespace" default:"d8-cloud-provider-dvp" help:"where the replicas choose"`
	Workers       int           `flag:"max-concurrent-reconciles" default:"10" help:"objects that a controller looks at side by side"`
	Poll          time.Duration `flag:"poll-interval" default:"10s" help:"from one look at a machine in DVP to the next, while something is to happen with it"`
	Patience      time.Duration `flag:"deletion-timeout" default:"10m" help:"how long DVP may take to remove a machine or a disk before it is left behind"`
	NodeGroups    bool          `flag:"node-groups" help:"order machines for NodeGroups that name a DVPInstanceClass; both kinds have to be there"`
	Prefix        string        `flag:"cluster-prefix" env:"CLUSTER_PREFIX" help:"begins the names of what is ordered for NodeGroups"`
	Kubeconfig    string        `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel      string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
	DVP           cloud.Credentials
}

// Validate knows what the tags cannot say.
func (o options) Validate() error {
	if o.Workers < 1 || o.Poll <= 0 || o.Patience <= 0 {
		return errors.New("max-concurrent-reconciles, poll-interval and deletion-timeout must be positive")
	}
	return nil
}

// election is the name of the Lease by which the replicas choose.
const election = "70c82521.cluster.x-k8s.io"

// mayRead is what the API server must allow to those who read the metrics.
var mayRead = authorizationv1.ResourceAttributes{
	Group: "apps", Resource: "deployments", Subresource: "prometheus-metrics", Name: "capdvp-controller-manager", Namespace: "d8-cloud-provider-dvp", Verb: "get",
}

func main() { run.Main("capdvp-controller-manager", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("CAPDVP_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "capdvp-controller-manager")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
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
	manager, err := newManager(settings, o)
	if err != nil {
		return err
	}
	provider := &capdvp.Provider{
		Client: manager.GetClient(), Config: settings, Cloud: dvp, Clock: clock.System{}, Events: manager.GetEventRecorder("capdvp"),
		Poll: o.Poll, Patience: o.Patience, Workers: o.Workers,
	}
	if err := provider.Setup(manager); err != nil {
		return err
	}
	if err := manager.Add(&capdvp.Permanent{Provider: provider, Live: manager.GetAPIReader(), Log: log}); err != nil {
		return fmt.Errorf("set up permanent nodes: %w", err)
	}
	if o.NodeGroups {
		groups := &nodegroups.Reconciler{
			Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: manager.GetEventRecorder("nodegroups"), ClusterUUID: o.DVP.ClusterUUID, Prefix: o.Prefix,
		}
		if err := groups.Setup(manager); err != nil {
			return fmt.Errorf("set up node groups: %w", err)
		}
	}
	log.Info("started", config.Describe(o)...)
	return manager.Start(ctx)
}

func newManager(settings *rest.Config, o options) (ctrl.Manager, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme, configuration.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make kinds known: %w", err)
		}
	}
	manager, err := ctrl.NewManager(settings, ctrl.Options{
		Scheme: scheme, Metrics: metrics(o), HealthProbeBindAddress: o.Health,
		LeaderElection: o.Elect, LeaderElectionID: election, LeaderElectionNamespace: o.Namespace,
		LeaderElectionReleaseOnCancel: true, // nothing is done after the manager has ended
		// Bootstrap data is read when it is needed: a copy of all Secrets is nobody's business.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}, Unstructured: true}},
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

// metrics are off, or guarded unless somebody says otherwise.
func metrics(o options) metricsserver.Options {
	served := metricsserver.Options{BindAddress: o.Metrics, SecureServing: o.MetricsSecure}
	if !o.HTTP2 { // which has been the way in for denial of service
		served.TLSOpts = []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }}
	}
	if o.MetricsSecure {
		served.FilterProvider = func(settings *rest.Config, _ *http.Client) (metricsserver.Filter, error) {
			client, err := kubernetes.NewForConfig(settings)
			if err != nil {
				return nil, fmt.Errorf("guard metrics: %w", err)
			}
			g := guard.New(client, mayRead, clock.System{})
			return func(_ logr.Logger, next http.Handler) (http.Handler, error) { return g.Handler(next), nil }, nil
		}
	}
	return served
}

// mayWork fails if a right is missing, with all that are. Of an API server that does not answer
// nothing is known yet: the work itself waits for it.
func mayWork(ctx context.Context, log *slog.Logger, o options, settings *rest.Config) error {
	err := errors.Join(o.DVP.CheckRights(ctx), rights.Check(ctx, settings, "in the cluster", rights.Machines(o.NodeGroups)))
	if err != nil && !errors.Is(err, rights.ErrMissing) {
		log.WarnContext(ctx, "rights are not known", "error", err)
		return nil
	}
	return err
}
