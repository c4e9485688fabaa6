package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"commander/internal/postgres"
)

const databaseName = "commander"

// startDatabase starts a PostgreSQL of the demo's own and makes the database in it.
func (h *home) startDatabase(ctx context.Context, say func(string, ...any)) (*postgres.Server, error) {
	dir, err := postgres.Place(h.path("postgres"))
	if err != nil {
		return nil, err
	}
	bin, err := h.findDatabase(ctx, dir, say)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("make folder for PostgreSQL: %w", err)
	}
	server, err := postgres.Start(ctx, postgres.Options{Bin: bin, Dir: dir, Durable: true})
	if err != nil {
		return nil, err
	}
	if err := ensureDatabase(ctx, server.URL("postgres")); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// findDatabase finds binaries of the version that made the data, if there is any, on this machine
// or else in what npm ships.
func (h *home) findDatabase(ctx context.Context, dir string, say func(string, ...any)) (string, error) {
	made, err := os.ReadFile(filepath.Join(dir, "data", "PG_VERSION"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read version of the database: %w", err)
	}
	bin, missing := postgres.Find(strings.TrimSpace(string(made)))
	if missing == nil {
		return bin, nil
	}
	shelf, err := postgres.Place(filepath.Join(h.cache, "postgres"))
	if err != nil {
		return "", err
	}
	say("PostgreSQL: none on this machine, using the one that npm ships (25 MB once)")
	bin, err = postgres.Fetch(ctx, shelf)
	if err != nil {
		return "", fmt.Errorf("%w\n%w\nInstall one (Debian: apt-get install postgresql), or name a server by COMMANDER_DATABASE_URL", missing, err)
	}
	return bin, nil
}

func ensureDatabase(ctx context.Context, address string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", databaseName).Scan(&there); err != nil {
		return fmt.Errorf("look for database: %w", err)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, "create database "+databaseName); err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	return nil
}
