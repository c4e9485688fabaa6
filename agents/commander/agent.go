package commander

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"

	"commander/agents/agentapi"
	"commander/agents/tunnel"
	"commander/internal/run"
	"commander/internal/telemetry"
)

// Options are what an agent needs to work.
type Options struct {
	Commander *agentapi.Client
	// Cluster is how to reach the API server. The tunnel acts with these credentials, too.
	Cluster *rest.Config
	// Namespace holds the agent's own objects; DefaultNamespace by default.
	Namespace string
	Version   string
	Log       *slog.Logger
	// Listen serves health and metrics; nil means nowhere.
	Listen net.Listener
	// Registry takes the agent's metrics.
	Registry *prometheus.Registry

	// ReportEvery overrides what Commander says; zero means that Commander decides.
	ReportEvery time.Duration
	// ResyncEvery is after how long drift in the cluster is looked for; 20 s by default, so that a
	// deleted object is back within a minute even if one round fails.
	ResyncEvery time.Duration
	// RetryAfter is the first pause after a failure, which then doubles; 1 s by default.
	RetryAfter time.Duration
	Tunnel     tunnel.Options
}

// agent is the running agent.
type agent struct {
	Options
	kube      *kube
	inspector *inspector
	state     *state
	metrics   *metrics
}

// Run works until the context ends. Troubles with Commander or the API server are logged and
// tried again; errors of Run are mistakes in the options.
func Run(ctx context.Context, o Options) error {
	if o.ResyncEvery <= 0 {
		o.ResyncEvery = 20 * time.Second
	}
	if o.RetryAfter <= 0 {
		o.RetryAfter = time.Second
	}
	if o.Namespace == "" {
		o.Namespace = DefaultNamespace
	}
	k, err := newKube(o.Cluster, o.Namespace)
	if err != nil {
		return fmt.Errorf("prepare access to the API server: %w", err)
	}
	defer k.close()
	proxy, err := newProxy(o.Cluster, o.Log)
	if err != nil {
		return fmt.Errorf("prepare proxy to the API server: %w", err)
	}
	defer proxy.close()
	defer o.Commander.Close()
	a := &agent{Options: o, kube: k, inspector: &inspector{kube: k}, state: newState(), metrics: newMetrics(o.Registry)}
	var group run.Group
	group.Add("configuration", a.pullConfig)
	group.Add("resources", a.syncResources)
	group.Add("report", a.reportState)
	group.Add("tunnel", func(ctx context.Context) error { return a.keepTunnel(ctx, proxy) })
	group.Add("publish", a.publishInfo)
	if o.Listen != nil {
		health := telemetry.NewHealth(o.Registry)
		health.Add("api-server", func(ctx context.Context) error { _, err := k.version(ctx); return err })
		group.Add("health", run.Serve(&http.Server{Handler: health.Handler()}, o.Listen))
	}
	return group.Run(ctx)
}
