package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"commander/fleet"
	"commander/internal/clock"
	"commander/internal/config"
	"commander/internal/run"
	"commander/internal/telemetry"
	"commander/jobs"
	"commander/store"
)

// program is one process of the control plane while it starts.
type program struct {
	options
	log      *slog.Logger
	metrics  *prometheus.Registry
	health   *telemetry.Health
	store    *store.Store
	fleet    *fleet.Fleet
	caBundle string
	actors   run.Group
}

// serve runs the chosen roles until the context ends.
func serve(ctx context.Context, args []string) error {
	p := &program{metrics: telemetry.Registry()}
	rest, err := load(args, &p.options)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return run.Misuse(fmt.Errorf("unknown argument %q", rest[0]))
	}
	if p.log, err = p.logger(); err != nil {
		return err
	}
	p.log.Info("starting", config.Describe(&p.options)...)
	p.health = telemetry.NewHealth(p.metrics)
	if err := p.open(ctx); err != nil {
		return err
	}
	defer p.store.Pool.Close()
	if err := p.addRoles(ctx); err != nil {
		return err
	}
	return p.actors.Run(ctx)
}

func (p *program) open(ctx context.Context) error {
	pool, err := p.pool(ctx, p.DatabaseConns)
	if err != nil {
		return err
	}
	if p.TelemetryListen != "" {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.TelemetryListen)
		if err != nil {
			return fmt.Errorf("listen for telemetry: %w", err)
		}
		p.actors.Add("telemetry", run.Serve(&http.Server{Handler: p.health.Handler(), ReadHeaderTimeout: 10 * time.Second}, listener))
	}
	if p.store, err = p.database.store(ctx, pool, p.log); err != nil {
		return err
	}
	p.health.Add("database", pool.Ping)
	if p.caBundle, err = readOptional(p.CAFile); err != nil {
		return err
	}
	queue, err := jobs.Insert(pool, p.log)
	if err != nil {
		return err
	}
	p.fleet = &fleet.Fleet{
		Store: p.store, Queue: queue, Clock: clock.System{}, Log: p.log,
		Settings: fleet.Settings{PublicURL: p.PublicURL, CABundle: p.caBundle, QuietLimit: p.QuietLimit, FirstAdmin: p.FirstAdmin},
	}
	p.actors.Add("announce changes", p.store.Announce)
	return nil
}

func (p *program) addRoles(ctx context.Context) error {
	if p.has(roleTaskChecker) {
		checker := &jobs.TaskChecker{Fleet: p.fleet, Log: p.log, Every: max(p.QuietLimit/12, 200*time.Millisecond)}
		p.actors.Add(roleTaskChecker, checker.Run)
	}
	if p.has(roleClusterChecker) {
		checker := &jobs.ClusterChecker{Fleet: p.fleet, Log: p.log, Every: p.CheckLooks}
		p.actors.Add(roleClusterChecker, checker.Run)
	}
	if p.has(roleWorker) || p.has(roleClusterManager) {
		if err := p.addJobs(); err != nil {
			return err
		}
	}
	if p.has(roleWeb) || p.has(roleLive) {
		return p.addWeb(ctx)
	}
	return nil
}

// addJobs runs River for the queues of this process's roles.
func (p *program) addJobs() error {
	deps := jobs.Deps{Pool: p.store.Pool, Fleet: p.fleet, Log: p.log, Housekeeping: p.has(roleWorker), ClusterWorkers: p.ClusterWorkers}
	password, err := readOptional(p.SMTPPasswordFile)
	if err != nil {
		return err
	}
	deps.Mail = jobs.Mail{Server: p.SMTPServer, From: p.SMTPFrom, User: p.SMTPUser, Password: strings.TrimSpace(password), Plain: p.SMTPPlain}
	if authority, err := readOptional(p.SMTPCAFile); err != nil {
		return err
	} else if authority != "" {
		deps.Mail.Roots = x509.NewCertPool()
		if !deps.Mail.Roots.AppendCertsFromPEM([]byte(authority)) {
			return fmt.Errorf("read %s: there is no certificate in PEM", p.SMTPCAFile)
		}
	}
	for _, text := range p.WebhookNetworks {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return fmt.Errorf("read --webhook-networks: %w; want networks such as 10.0.0.0/8", err)
		}
		deps.WebhookNetworks = append(deps.WebhookNetworks, network)
	}
	var manager *clusterManager
	if p.has(roleClusterManager) {
		if manager, err = p.newClusterManager(); err != nil {
			return err
		}
		deps.Clusters = manager
	}
	client, err := jobs.New(deps)
	if err != nil {
		return err
	}
	p.actors.Add("jobs", func(ctx context.Context) error {
		// River's own context goes on until its jobs have ended.
		if err := client.Start(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("start jobs: %w", err)
		}
		parts, within := errgroup.WithContext(ctx)
		if manager != nil {
			parts.Go(func() error { return manager.connectors.Run(within) })
		}
		parts.Go(func() error {
			<-within.Done()
			return nil
		})
		err := parts.Wait()
		return p.stopJobs(ctx, client, manager, err)
	})
	return nil
}

// Bounds of an orderly end: together they stay below the group's.
const (
	drainBound = 12 * time.Second
	abortBound = 6 * time.Second
)

type stopper interface {
	Stop(ctx context.Context) error
	StopAndCancel(ctx context.Context) error
}

// stopJobs lets every task reach the end of its phase and go back to the queue. What takes longer
// is cancelled: its task is found silent and can be tried again.
func (p *program) stopJobs(ctx context.Context, client stopper, manager *clusterManager, cause error) error {
	if manager != nil {
		manager.Drain()
	}
	ctx = context.WithoutCancel(ctx)
	drain, cancel := context.WithTimeout(ctx, drainBound)
	defer cancel()
	err := client.Stop(drain)
	if err != nil {
		abort, cancel := context.WithTimeout(ctx, abortBound)
		defer cancel()
		err = client.StopAndCancel(abort)
	}
	if manager != nil {
		manager.close(ctx)
	}
	if cause != nil {
		return cause
	}
	if err != nil {
		p.log.Warn("stop jobs", "error", err)
	}
	return nil
}

// runFolder makes a private folder below the run folder.
func (p *program) runFolder(name string) (string, error) {
	dir := filepath.Join(p.RunDir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for sockets: %w", err)
	}
	return dir, nil
}
