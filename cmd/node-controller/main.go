// Command node-controller keeps the nodes of a cluster as their groups say. Any number of
// replicas may run; one of them acts, and all answer the webhooks.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
	"commander/agents/node/api/v1alpha2"
	"commander/agents/node/controller/approval"
	"commander/agents/node/controller/bashiblecontext"
	"commander/agents/node/controller/bashiblelock"
	"commander/agents/node/controller/drain"
	"commander/agents/node/controller/fencing"
	"commander/agents/node/controller/fencingagents"
	"commander/agents/node/controller/groupstatus"
	"commander/agents/node/controller/kube"
	"commander/agents/node/controller/template"
	"commander/agents/node/controller/webhook"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Metrics    string   `flag:"metrics-bind-address" default:":8080" help:"address of /metrics over TLS, for those who may get deployments/prometheus-metrics; 0 means none"`
	Health     string   `flag:"health-probe-bind-address" default:":8081" help:"address of /healthz and /readyz"`
	Disabled   []string `flag:"disable-controllers" help:"names of controllers that shall not run: node-group-status, update-approval, node-draining, node-template, node-fencing, fencing-agents, bashible-context, bashible-apiserver-lock, webhooks"`
	Concurrent int      `flag:"max-concurrent-reconciles" default:"1" help:"objects that a controller looks at side by side; approval and fencing never take more than one"`
	CertDir    string   `flag:"webhook-cert-dir" default:"/tmp/k8s-webhook-server/serving-certs" help:"folder of tls.crt and tls.key of the webhooks"`
	Port       int      `flag:"webhook-port" default:"9443" help:"port of the webhooks"`
	Elect      bool     `flag:"leader-elect" default:"true" help:"act only as the leader of all replicas"`
	Agent      string   `flag:"fencing-agent-image" help:"image of fencing-agent; empty means that no group is fenced, whatever it says"`
	AgentPull  []string `flag:"fencing-agent-pull-secrets" help:"names of Secrets to pull that image with"`
	Kubeconfig string   `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the API server; empty means as a pod of the cluster"`
	LogLevel   string   `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
}

// election is the name of the Lease by which the replicas choose.
const election = "node-controller.deckhouse.io"

func main() { run.Main("node-controller", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("NODE_CONTROLLER_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "node-controller")
	if err != nil {
		return err
	}
	ctrl.SetLogger(logr.FromSlogHandler(log.Handler()))
	manager, err := newManager(o)
	if err != nil {
		return err
	}
	now := clock.System{}
	for _, part := range []struct {
		name  string
		setup func() error
	}{
		{"node-group-status", func() error { return groupstatus.Setup(manager, now) }},
		{"update-approval", func() error { return approval.Setup(manager, now) }},
		{"node-draining", func() error { return drain.Setup(ctx, manager, now, metrics.Registry) }},
		{"node-template", func() error { return template.Setup(manager) }},
		{fencing.Name, func() error { return fencing.Setup(manager, now, log) }},
		{fencingagents.Name, func() error {
			return fencingagents.Setup(manager, fencingagents.Image{Name: o.Agent, PullSecrets: o.AgentPull})
		}},
		{bashiblecontext.Name, func() error { return bashiblecontext.Setup(manager, now) }},
		{bashiblelock.Name, func() error { return bashiblelock.Setup(manager, metrics.Registry) }},
		{"webhooks", func() error { return webhook.Setup(manager) }},
	} {
		if slices.Contains(o.Disabled, part.name) {
			continue
		}
		if err := part.setup(); err != nil {
			return err
		}
	}
	log.Info("started", config.Describe(o)...)
	return manager.Start(ctx)
}

func newManager(o options) (ctrl.Manager, error) {
	settings, err := clientcmd.BuildConfigFromFlags("", o.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("find the API server: %w", err)
	}
	// The API server itself shares out what it can do. The client's own limit, five requests a second,
	// would make many nodes wait for each other.
	settings.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme, v1alpha2.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("make kinds known: %w", err)
		}
	}
	manager, err := ctrl.NewManager(settings, ctrl.Options{
		Scheme: scheme, Metrics: kube.Metrics(o.Metrics, "node-controller"), HealthProbeBindAddress: o.Health,
		LeaderElection: o.Elect, LeaderElectionID: election, LeaderElectionNamespace: api.Namespace,
		LeaderElectionReleaseOnCancel: true, // nothing is done after the manager has ended
		Controller:                    ctrlconfig.Controller{MaxConcurrentReconciles: o.Concurrent},
		WebhookServer:                 ctrlwebhook.NewServer(ctrlwebhook.Options{CertDir: o.CertDir, Port: o.Port}),
		// Only those of nodes: a controller need not be able to read all.
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:     {Namespaces: map[string]cache.Config{api.Namespace: {}}},
			&appsv1.DaemonSet{}:  {Namespaces: map[string]cache.Config{api.Namespace: {}}},
			&appsv1.Deployment{}: {Namespaces: map[string]cache.Config{api.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", bashiblelock.Deployment)}}},
		}},
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
