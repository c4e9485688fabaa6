// Command dvp-cloud-data-discoverer tells a cluster which storage classes its DVP has.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"commander/agents/dvp/cloud"
	"commander/agents/dvp/discoverer"
	"commander/agents/dvp/rights"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/guard"
	"commander/internal/run"
	"commander/internal/telemetry"
)

type options struct {
	Period     time.Duration `flag:"discovery-period" default:"1h" help:"from one look at DVP to the next"`
	Classes    bool          `flag:"storage-classes" default:"true" help:"make StorageClasses of the CSI driver for what DVP offers"`
	Excluded   string        `flag:"excluded-storage-classes" help:"names in DVP that are not offered: regular expressions for whole names, separated by commas"`
	Listen     string        `flag:"listen-address" default:"127.0.0.1:8081" help:"address of /healthz"`
	Metrics    string        `flag:"metrics-address" default:":8080" help:"address of /metrics, by TLS for those whom the API server allows"`
	CertFile   string        `flag:"tls-cert-file" help:"certificate in PEM; without one it signs its own"`
	KeyFile    string        `flag:"tls-key-file" help:"its key in PEM"`
	Kubeconfig string        `flag:"kubeconfig" env:"KUBECONFIG" help:"how to reach the cluster's API server; empty means as a pod of it"`
	LogLevel   string        `flag:"log-level" default:"info" oneof:"debug info warn error" help:"lowest level that is logged"`
	DVP        cloud.Credentials
}

// Validate knows what the tags cannot say.
func (o options) Validate() error {
	if o.Period <= 0 {
		return errors.New("discovery-period must be positive")
	}
	return nil
}

// mayRead is what the API server must allow to those who read the metrics.
var mayRead = authorizationv1.ResourceAttributes{
	Group: "apps", Resource: "deployments", Subresource: "prometheus-metrics", Name: "cloud-data-discoverer", Namespace: "d8-cloud-provider-dvp", Verb: "get",
}

func main() { run.Main("dvp-cloud-data-discoverer", start) }

func start(ctx context.Context, args []string) error {
	var o options
	if _, err := config.Load("DVP_CLOUD_DATA_DISCOVERER_", args, &o); err != nil {
		return err
	}
	log, err := telemetry.Logger(os.Stderr, o.LogLevel, "dvp-cloud-data-discoverer")
	if err != nil {
		return err
	}
	klog.SetSlogLogger(log)
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
	registry := telemetry.Registry()
	d := &discoverer.Discoverer{Cloud: dvp, Client: client, Period: o.Period, Pause: discoverer.Pause, Log: log}
	if o.Classes {
		excluded, err := patterns(o.Excluded)
		if err != nil {
			return run.Misuse(err)
		}
		d.Offer = &discoverer.Offer{Client: client, Excluded: excluded, Log: log}
	}
	if err := d.Register(registry); err != nil {
		return err
	}
	var group run.Group
	group.Add("discovery", d.Run)
	if err := serve(&group, o, client, registry); err != nil {
		return err
	}
	log.Info("started", config.Describe(o)...)
	return group.Run(ctx)
}

// serve adds the servers: the metrics guarded, the health for kubelet.
func serve(group *run.Group, o options, client kubernetes.Interface, registry *prometheus.Registry) error {
	tls, err := guard.TLS(o.CertFile, o.KeyFile, "cloud-data-discoverer", clock.System{})
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, address string
		server        *http.Server
	}{
		{"metrics", o.Metrics, &http.Server{Handler: guard.New(client, mayRead, clock.System{}).Handler(telemetry.NewHealth(registry).Handler()), TLSConfig: tls}},
		{"health", o.Listen, &http.Server{Handler: telemetry.NewHealth(nil).Handler()}},
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

// patterns reads regular expressions that stand for whole names.
func patterns(list string) (all []*regexp.Regexp, err error) {
	for _, text := range strings.Split(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		pattern, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			return nil, fmt.Errorf("excluded-storage-classes: %w", err)
		}
		all = append(all, pattern)
	}
	return all, nil
}

// mayWork fails if a right is missing, with all that are. Of an API server that does not answer
// nothing is known yet: the work itself waits for it.
func mayWork(ctx context.Context, log *slog.Logger, o options, settings *rest.Config) error {
	err := errors.Join(o.DVP.CheckRights(ctx), rights.Check(ctx, settings, "in the cluster", rights.Discovery()))
	if err != nil && !errors.Is(err, rights.ErrMissing) {
		log.WarnContext(ctx, "rights are not known", "error", err)
		return nil
	}
	return err
}
