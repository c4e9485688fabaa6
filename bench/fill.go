package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"commander/fleet"
	"commander/internal/clock"
	"commander/store"
)

// fill puts installed clusters into the list and signs an administrator in, by the rules of the
// fleet; only what a lab would have done is written past them. It returns the session's secret.
func (s *site) fill(ctx context.Context, clusters int) (string, error) {
	if s.secret != "" {
		return s.secret, nil // an earlier measurement has filled it
	}
	keys, err := store.LoadKeys(s.path("keys"))
	if err != nil {
		return "", err
	}
	pool, err := store.Connect(ctx, s.url, 4)
	if err != nil {
		return "", err
	}
	defer pool.Close()
	opened, err := store.Open(ctx, pool, keys)
	if err != nil {
		return "", err
	}
	const admin = "admin@example.com"
	f := &fleet.Fleet{
		Store: opened, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		Settings: fleet.Settings{PublicURL: "https://localhost", FirstAdmin: admin},
	}
	secret, _, err := f.SignIn(ctx, fleet.Identity{Issuer: "bench", Subject: "admin", Email: admin, EmailVerified: true, Name: "Admin"}, "127.0.0.1")
	if err != nil {
		return "", err
	}
	person, err := f.PersonOf(ctx, secret)
	if err != nil {
		return "", err
	}
	place, version, err := labTemplate(ctx, f, person.Actor)
	if err != nil {
		return "", err
	}
	for n := range clusters {
		if _, _, err := f.CreateCluster(ctx, person.Actor, fleet.NewCluster{
			WorkspaceID: place, Name: fmt.Sprintf("cluster-%04d", n), TemplateVersionID: version,
		}); err != nil {
			return "", fmt.Errorf("create cluster %d: %w", n, err)
		}
	}
	s.secret = secret
	return secret, install(ctx, pool)
}

func labTemplate(ctx context.Context, f *fleet.Fleet, actor fleet.Actor) (place, version uuid.UUID, err error) {
	found, err := f.Workspace(ctx, actor, workspace)
	if err != nil {
		return place, version, err
	}
	templates, err := f.Templates(ctx, actor, found.ID, false)
	if err != nil {
		return place, version, err
	}
	for _, row := range templates {
		if row.ClusterTemplate.Preset == "lab" && row.ClusterTemplate.CurrentVersionID != nil {
			return found.ID, *row.ClusterTemplate.CurrentVersionID, nil
		}
	}
	return place, version, fmt.Errorf("there is no template of the lab among %d", len(templates))
}

// installed is what installation, a check and an agent would have left. The next check is far
// away, since there is no lab to answer it.
var installed = []string{
	`update clusters set status = 'in_sync', was_created = true, kubernetes_version = 'v1.37.2', node_count = 3, applied_revision = revision,
	    applied_at = now(), checked_at = now(), check_interval_minutes = 100000`,
	`insert into tasks (workspace_id, cluster_id, kind, status, revision, created_by, started_at, heartbeat_at, finished_at)
	 select workspace_id, id, 'bootstrap', 'succeeded', revision, 'Admin', now(), now(), now() from clusters`,
	`insert into agent_reports (cluster_id, reported_at, first_reported_at, agent_version, kubernetes_version, config_etag,
	    sync_state, cpu_cores, memory_gib, root_disk_gib, pvc_gib, node_count, nodes, objects, fingerprint)
	 select id, now(), now(), '1.0.0', 'v1.37.2', '1', 'configured', 6, 12, 60, 10, 3, '[]', '[]', '\x00' from clusters`,
	`analyze`,
}

func install(ctx context.Context, pool *pgxpool.Pool) error {
	for _, statement := range installed {
		if _, err := pool.Exec(ctx, statement); err != nil {
			return fmt.Errorf("write what installation leaves: %w", err)
		}
	}
	return nil
}
