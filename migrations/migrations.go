// Package migrations brings a database to the schema of this program: River's tables first,
// then ours. The files are tern's: what follows the line "create above / drop below" undoes them.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/tern/v2/migrate"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed *.sql
var files embed.FS

// Files holds the migrations, for whoever must know whether they changed.
func Files() embed.FS { return files }

const versionTable = "public.schema_version"

// lock keeps two programs from migrating one database at a time. Tern takes a lock of its own;
// this one covers River's migrations as well. The number is arbitrary and must never change.
const lock int64 = 7_203_114_905

// Up applies what is missing and leaves a current database untouched. It may run in several
// programs at once: the later ones wait and find nothing to do.
func Up(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to migrate: %w", err)
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lock); err != nil {
		return fmt.Errorf("lock migrations: %w", err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", lock) }()

	river, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		return fmt.Errorf("prepare River's migrations: %w", err)
	}
	if _, err := river.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate River's tables: %w", err)
	}
	ours, err := migrator(ctx, conn.Conn())
	if err != nil {
		return err
	}
	if err := ours.Migrate(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return trigrams(ctx, conn.Conn())
}

// ErrPending tells that a database lacks migrations that this program needs.
var ErrPending = errors.New("migrations are pending")

// Pending returns nil when the database is current, ErrPending when it is not yet, and another
// error when it is newer than this program or cannot be asked.
func Pending(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to look at migrations: %w", err)
	}
	defer conn.Release()
	var there bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", versionTable).Scan(&there); err != nil {
		return fmt.Errorf("look for the migrations table: %w", err)
	}
	if !there {
		return ErrPending
	}
	ours, err := migrator(ctx, conn.Conn())
	if err != nil {
		return err
	}
	version, err := ours.GetCurrentVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the database's version: %w", err)
	}
	switch wanted := int32(len(ours.Migrations)); {
	case version < wanted:
		return ErrPending
	case version > wanted:
		return fmt.Errorf("the database has version %d, this program knows %d: run a newer program", version, wanted)
	}
	return nil
}

// Wait returns once the database is current.
func Wait(ctx context.Context, pool *pgxpool.Pool) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		err := Pending(ctx, pool)
		if err == nil || !errors.Is(err, ErrPending) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for migrations: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

func migrator(ctx context.Context, conn *pgx.Conn) (*migrate.Migrator, error) {
	m, err := migrate.NewMigrator(ctx, conn, versionTable)
	if err != nil {
		return nil, fmt.Errorf("prepare migrations: %w", err)
	}
	if err := m.LoadMigrations(files); err != nil {
		return nil, fmt.Errorf("load migrations: %w", err)
	}
	return m, nil
}
