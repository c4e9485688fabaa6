package simulation

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"commander/store"
)

// memory is the database of most runs: versions of rows. What breaks a rule is found at the commit.
type memory struct {
	mu    sync.Mutex // protects rows
	rows  *rows
	watch func(before, after *rows)
}

func (m *memory) run(_ context.Context, now time.Time, fn func(pgx.Tx, store.Querier) error) ([]delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.rows.copied()
	next.now = now
	if err := fn(transaction{rows: next}, next); err != nil {
		return nil, err
	}
	before := m.rows
	m.rows = next
	if m.watch != nil {
		m.watch(before, next)
	}
	return next.jobs[len(before.jobs):], nil
}

func (m *memory) settled(_ context.Context, now time.Time, id int64, state string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if job := m.rows.job(id); job != nil {
		if job.state = state; state == "running" {
			job.attempted = now
		}
	}
	return nil
}

// transaction stands for the one that a job is put into, with the task that it delivers.
type transaction struct {
	pgx.Tx // nil
	rows   *rows
}
