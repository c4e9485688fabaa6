package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"golang.org/x/sync/errgroup"

	"commander/fleet"
	"commander/internal/clock"
	"commander/jobs"
	"commander/jobs/clustermanager"
	"commander/jobs/clustermanager/dhctl"
	"commander/store"
)

// crew is Commander's work on clusters within this process, over a database of its own: the rules,
// River's workers and both checkers, as cmd/commander puts them together. Only what each managed
// cluster has beside Commander, a connector for its agent, is left out.
type crew struct {
	site           *site
	pool           *pgxpool.Pool
	fleet          *fleet.Fleet
	actor          fleet.Actor
	place, version uuid.UUID // workspace and template
}

const quietLimit = 2 * time.Minute

// crewOf makes a database and whoever works over it.
func (s *site) crewOf(ctx context.Context, name string) (*crew, error) {
	own := &site{bench: s.bench, database: s.database, url: s.database.URL(name)}
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what it did is known
	if _, err := conn.Exec(ctx, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return nil, fmt.Errorf("make database: %w", err)
	}
	if err := errors.Join(own.command(ctx, "migrate"), own.command(ctx, "seed", "--workspace="+workspace, "--name=Demo")); err != nil {
		return nil, err
	}
	keys, err := store.LoadKeys(s.path("keys"))
	if err != nil {
		return nil, err
	}
	c := &crew{site: own}
	if c.pool, err = store.Connect(ctx, own.url, 30); err != nil { // as many as commander has
		return nil, err
	}
	opened, err := store.Open(ctx, c.pool, keys)
	if err != nil {
		return c, err
	}
	queue, err := jobs.Insert(c.pool, silent)
	if err != nil {
		return c, err
	}
	c.fleet = &fleet.Fleet{
		Store: opened, Queue: queue, Clock: clock.System{}, Log: silent,
		Settings: fleet.Settings{PublicURL: "https://localhost", QuietLimit: quietLimit},
	}
	c.actor = fleet.Actor{Type: fleet.ActorUser, Name: "bench", Everywhere: store.RoleFull}
	c.place, c.version, err = labTemplate(ctx, c.fleet, c.actor)
	return c, err
}

var silent = slog.New(slog.DiscardHandler)

func (c *crew) close() {
	if c != nil && c.pool != nil {
		c.pool.Close()
	}
}

// client works on tasks with an installer.
func (c *crew) client(installer clustermanager.Installer, workers int) (*river.Client[pgx.Tx], error) {
	m := &clustermanager.Manager{Tasks: c.fleet, Installer: installer, Log: silent, Worker: "bench", PublicURL: "https://localhost"}
	return jobs.New(jobs.Deps{Pool: c.pool, Fleet: c.fleet, Log: silent, Clusters: m, ClusterWorkers: workers, Housekeeping: true})
}

// dhctl is production's driver of an engine that is played by a script.
func (c *crew) dhctl(ctx context.Context, step time.Duration) (*clustermanager.Dhctl, func() error, error) {
	b := c.site.bench
	binary := filepath.Join(b.dir, "scripted")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./scripted")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("build the scripted engine: %w: %s", err, out)
	}
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		return nil, nil, fmt.Errorf("make folder for sockets: %w", err)
	}
	servers := &dhctl.Servers{Dir: dir, Args: []string{"--step=" + step.String()}, Output: io.Discard, Log: silent}
	d := &clustermanager.Dhctl{Servers: servers, Binary: binary, Version: "scripted", BeatEvery: quietLimit / 12}
	return d, func() error { return errors.Join(servers.Close(context.WithoutCancel(ctx)), os.RemoveAll(dir)) }, nil
}

// during lets workers and checkers run while something is done.
func (c *crew) during(ctx context.Context, client *river.Client[pgx.Tx], something func(context.Context) error) error {
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	within, end := context.WithCancel(ctx)
	var checkers errgroup.Group
	checkers.Go(func() error {
		return (&jobs.TaskChecker{Fleet: c.fleet, Log: silent, Every: quietLimit / 12}).Run(within)
	})
	checkers.Go(func() error {
		return (&jobs.ClusterChecker{Fleet: c.fleet, Log: silent, Every: 15 * time.Second}).Run(within)
	})
	err := something(within)
	end()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return errors.Join(err, checkers.Wait(), client.Stop(stop))
}

// create makes clusters, several at a time as people do, and returns their ids.
func (c *crew) create(ctx context.Context, count int, install bool) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, count)
	makers, within := errgroup.WithContext(ctx)
	makers.SetLimit(4)
	for n := range count {
		makers.Go(func() error {
			cluster, _, err := c.fleet.CreateCluster(within, c.actor, fleet.NewCluster{
				WorkspaceID: c.place, Name: fmt.Sprintf("c-%05d", n), TemplateVersionID: c.version, Install: install,
			})
			if err != nil {
				return fmt.Errorf("create cluster %d: %w", n, err)
			}
			ids[n] = cluster.ID
			return nil
		})
	}
	return ids, makers.Wait()
}

// installed makes clusters that are as an installation and a check leave them, with checks after an interval of
// minutes and due at moments that are spread over it.
func (c *crew) installed(ctx context.Context, count, minutes int) ([]uuid.UUID, error) {
	ids, err := c.create(ctx, count, false)
	if err != nil {
		return nil, err
	}
	_, err = c.pool.Exec(ctx, `update clusters set status = 'in_sync', was_created = true, applied_revision = revision, applied_at = now(),
		check_interval_minutes = $1::integer, checked_at = now() - random() * make_interval(mins => $1::integer)`, minutes)
	if err == nil {
		_, err = c.pool.Exec(ctx, `insert into tasks (workspace_id, cluster_id, kind, status, revision, created_by, started_at, heartbeat_at, finished_at)
			select workspace_id, id, 'check', 'succeeded', revision, 'Commander', now(), now(), now() from clusters`)
	}
	if err == nil {
		_, err = c.pool.Exec(ctx, "vacuum analyze")
	}
	if err != nil {
		return nil, fmt.Errorf("write what installation leaves: %w", err)
	}
	return ids, nil
}

// count answers a question whose answer is a number.
func (c *crew) count(ctx context.Context, question string) (n int64, err error) {
	if err := c.pool.QueryRow(ctx, question).Scan(&n); err != nil {
		return 0, fmt.Errorf("count: %w", err)
	}
	return n, nil
}
