package simulation

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"commander/fleet"
	"commander/store"
)

// memory is the database of most runs: versions of rows. What breaks a rule is found at the commit.
type memory struct {
	mu    sync.Mutex // protects rows and spare
	rows  *rows
	spare *rows // a version that nobody has, for whoever is next; nil when there is none
	watch func(before, after *rows)
}

func (m *memory) run(_ context.Context, now time.Time, fn func(pgx.Tx, store.Querier) error) ([]delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := m.spare
	if m.spare = nil; next == nil {
		next = &rows{}
	}
	m.rows.continues(next, now)
	if err := fn(transaction{rows: next}, next); err != nil || !next.written() {
		m.spare = next
		return nil, err
	}
	before := m.rows
	m.rows = next
	if m.watch != nil {
		m.watch(before, next)
	}
	var made []delivery
	for _, job := range next.jobs.rows[len(before.jobs.rows):] {
		made = append(made, *job)
	}
	return made, nil
}

func (m *memory) settled(_ context.Context, now time.Time, id int64, state string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next := &rows{}
	m.rows.continues(next, now)
	if job := next.jobs.change(jobOf(id)); job != nil {
		if job.state = state; state == "running" {
			job.attempted = now
		}
	}
	m.rows = next
	return nil
}

// transaction stands for the one that a job is put into, with the task that it delivers.
type transaction struct {
	pgx.Tx // nil
	rows   *rows
}

// queue is River as the rules see it: a job appears when the transaction around it is committed.
type queue struct{}

func (queue) InsertTx(_ context.Context, tx pgx.Tx, args river.JobArgs, _ *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	r := tx.(transaction).rows
	id := int64(len(r.jobs.rows) + 1)
	if carried, is := args.(interface{ Of() fleet.Delivery }); is {
		d := carried.Of()
		r.jobs.insert(delivery{id: id, task: d.TaskID, attempt: d.Attempt, state: "available"})
	}
	return &rivertype.JobInsertResult{Job: &rivertype.JobRow{ID: id}}, nil
}

func (q queue) InsertManyTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error) {
	return oneByOne(ctx, q, tx, params)
}

// oneByOne inserts several jobs as if each had been asked for by itself.
func oneByOne(ctx context.Context, q fleet.Queue, tx pgx.Tx, params []river.InsertManyParams) ([]*rivertype.JobInsertResult, error) {
	var all []*rivertype.JobInsertResult
	for _, p := range params {
		made, err := q.InsertTx(ctx, tx, p.Args, p.InsertOpts)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}
