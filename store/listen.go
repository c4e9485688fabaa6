package store

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Topics name what live pages show. A notice carries names, never data.

// ClusterTopic is about one cluster.
func ClusterTopic(id uuid.UUID) string { return "cluster:" + id.String() }

// TaskTopic is about one task, its log included.
func TaskTopic(id uuid.UUID) string { return "task:" + id.String() }

// WorkspaceClustersTopic is about which clusters a workspace has and how each stands.
func WorkspaceClustersTopic(id uuid.UUID) string { return "workspace:" + id.String() + ":clusters" }

// WorkspaceTasksTopic is about the tasks of a workspace.
func WorkspaceTasksTopic(id uuid.UUID) string { return "workspace:" + id.String() + ":tasks" }

// SwitchTopic is about a move of many clusters and how far it is.
func SwitchTopic(id uuid.UUID) string { return "switch:" + id.String() }

// Everything is published when notices may have been lost.
const Everything = "*"

const (
	channel = "commander_topics"
	// perSecond bounds how often a process notifies: NOTIFY takes a lock of the whole database at commit.
	flushEvery = 40 * time.Millisecond
	// longestPayload stays below PostgreSQL's limit of 8,000 bytes.
	longestPayload = 7_600
	sweepEvery     = 5 * time.Second
	sweepBack      = longestTransaction + 2*sweepEvery
)

// topics collects what changed until the announcer sends it.
type topics struct {
	mu      sync.Mutex
	waiting map[string]struct{}
}

// Publish marks topics as changed. It costs no database access: Announce sends what is marked.
func (t *topics) Publish(names ...string) {
	if len(names) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting == nil {
		t.waiting = map[string]struct{}{}
	}
	for _, name := range names {
		t.waiting[name] = struct{}{}
	}
}

func (t *topics) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	names := make([]string, 0, len(t.waiting))
	for name := range t.waiting {
		names = append(names, name)
	}
	t.waiting = nil
	return names
}

// Announce sends the topics that this process marked, in batches a few dozen times a second at
// most, until the context ends. Topics that could not be sent are kept for the next batch.
func (s *Store) Announce(ctx context.Context) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			s.flush(last)
			return nil
		case <-tick.C:
			s.flush(ctx)
		}
	}
}

func (s *Store) flush(ctx context.Context) {
	names := s.take()
	for len(names) > 0 {
		payload, rest := pack(names)
		if _, err := s.Pool.Exec(ctx, "select pg_notify($1, $2)", channel, payload); err != nil {
			s.Publish(names...) // the database is away: the sweep would find them too, this is faster
			return
		}
		names = rest
	}
}

// pack joins as many names as fit into one payload.
func pack(names []string) (payload string, rest []string) {
	size := 0
	for i, name := range names {
		if size += len(name) + 1; size > longestPayload && i > 0 {
			return strings.Join(names[:i], " "), names[i:]
		}
	}
	return strings.Join(names, " "), nil
}

// Listen calls heard with topics that any process changed, until the context ends. When the
// connection was lost it says Everything, and a sweep over changed_at finds what a crash swallowed.
func (s *Store) Listen(ctx context.Context, log *slog.Logger, heard func(topics ...string)) error {
	for ctx.Err() == nil {
		err := s.listen(ctx, heard)
		if ctx.Err() != nil {
			return nil
		}
		log.Warn("listen for changes", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
	return nil
}

func (s *Store) listen(ctx context.Context, heard func(topics ...string)) error {
	conn, err := pgx.ConnectConfig(ctx, s.Pool.Config().ConnConfig.Copy())
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	heard(Everything)
	sweep := time.Now().Add(sweepEvery)
	for {
		wait, cancel := context.WithDeadline(ctx, sweep)
		notice, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			heard(strings.Fields(notice.Payload)...)
		case ctx.Err() != nil:
			return nil
		case wait.Err() != nil:
			sweep = time.Now().Add(sweepEvery)
			if err := s.sweep(ctx, heard); err != nil {
				return err
			}
		default:
			return fmt.Errorf("wait for a notice: %w", err)
		}
	}
}

func (s *Store) sweep(ctx context.Context, heard func(topics ...string)) error {
	clusters, err := s.ChangedClusters(ctx, sweepBack)
	if err != nil {
		return fmt.Errorf("sweep clusters: %w", err)
	}
	tasks, err := s.ChangedTasks(ctx, sweepBack)
	if err != nil {
		return fmt.Errorf("sweep tasks: %w", err)
	}
	switches, err := s.ChangedBulkSwitches(ctx, sweepBack)
	if err != nil {
		return fmt.Errorf("sweep moves: %w", err)
	}
	var names []string
	for _, id := range switches {
		names = append(names, SwitchTopic(id))
	}
	for _, c := range clusters {
		names = append(names, ClusterTopic(c.ID), WorkspaceClustersTopic(c.WorkspaceID))
	}
	for _, t := range tasks {
		names = append(names, TaskTopic(t.ID), ClusterTopic(t.ClusterID), WorkspaceTasksTopic(t.WorkspaceID))
	}
	heard(names...)
	return nil
}
