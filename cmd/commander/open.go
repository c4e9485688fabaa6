package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"commander/fleet"
	"commander/internal/clock"
	"commander/internal/telemetry"
	"commander/jobs"
	"commander/migrations"
	"commander/store"
)

func (d *database) logger() (*slog.Logger, error) {
	return telemetry.Logger(os.Stderr, d.LogLevel, "commander")
}

func (d *database) pool(ctx context.Context, conns int) (*pgxpool.Pool, error) {
	return store.Connect(ctx, d.DatabaseURL, conns)
}

// store opens a migrated database with the configured keys. While the database is away or its
// migrations are pending it waits and says so.
func (d *database) store(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) (*store.Store, error) {
	keys, err := store.LoadKeys(d.KeysDir)
	if err != nil {
		return nil, err
	}
	if err := reach(ctx, pool, log); err != nil {
		return nil, err
	}
	if err := migrations.Wait(ctx, pool); err != nil {
		return nil, err
	}
	return store.Open(ctx, pool, keys)
}

// reach waits until the database answers.
func reach(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	for {
		err := pool.Ping(ctx)
		if err == nil || !store.Away(err) {
			return err
		}
		log.Warn("the database is away", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// rules opens the fleet for a command that runs to an end.
func (d *database) rules(ctx context.Context) (*fleet.Fleet, *slog.Logger, error) {
	log, err := d.logger()
	if err != nil {
		return nil, nil, err
	}
	pool, err := d.pool(ctx, 2)
	if err != nil {
		return nil, nil, err
	}
	s, err := d.store(ctx, pool, log)
	if err != nil {
		return nil, nil, err
	}
	queue, err := jobs.Insert(pool, log)
	return &fleet.Fleet{Store: s, Queue: queue, Clock: clock.System{}, Log: log}, log, err
}
