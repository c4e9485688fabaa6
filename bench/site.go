package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"

	"commander/internal/postgres"
)

// workspace is where the clusters of the list are.
const workspace = "demo"

// site is Commander alone: a migrated database, keys, a certificate, and no lab. The processes
// that use it are started by the measurements.
type site struct {
	bench    *bench
	database *postgres.Server
	url      string // of the database
	secret   string // of the session of whoever filled it; empty before
	client   *http.Client
}

// theSite makes the site when it is first needed and ends the demo, if that runs.
func (b *bench) theSite(ctx context.Context) (*site, error) {
	if b.site != nil {
		return b.site, nil
	}
	if err := b.closeDemo(); err != nil {
		return nil, err
	}
	s := &site{bench: b}
	b.site = s // whatever was started is stopped at the end
	if err := os.Mkdir(s.path(), 0o711); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if err := os.Mkdir(s.path("run"), 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	if err := s.certify(); err != nil {
		return nil, err
	}
	if err := s.startDatabase(ctx); err != nil {
		return nil, err
	}
	if err := s.command(ctx, "migrate"); err != nil {
		return nil, err
	}
	return s, s.command(ctx, "seed", "--workspace="+workspace, "--name=Demo")
}

func (s *site) path(names ...string) string {
	return filepath.Join(append([]string{s.bench.dir, "site"}, names...)...)
}

// startDatabase starts a PostgreSQL as careful with its data as the demo's.
func (s *site) startDatabase(ctx context.Context) error {
	dir, err := postgres.Place(s.path("postgres"))
	if err != nil {
		return err
	}
	bin, err := postgres.Find("")
	if err != nil {
		shelf, problem := postgres.Place(filepath.Join(s.bench.Cache, "postgres"))
		if problem != nil {
			return problem
		}
		if bin, problem = postgres.Fetch(ctx, shelf); problem != nil {
			return errors.Join(err, problem)
		}
	}
	if s.database, err = postgres.Start(ctx, postgres.Options{Bin: bin, Dir: dir, Durable: true}); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, s.database.URL("postgres"))
	if err != nil {
		return fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what it did is known
	if _, err := conn.Exec(ctx, "create database commander"); err != nil {
		return fmt.Errorf("make database: %w", err)
	}
	s.url = s.database.URL("commander")
	return nil
}

// command runs a command of Commander to its end.
func (s *site) command(ctx context.Context, words ...string) error {
	cmd := exec.CommandContext(ctx, s.bench.program("commander"), append(words, "--keys-dir="+s.path("keys"))...)
	cmd.Env = append(os.Environ(), s.environment()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("commander %s: %w: %s", words[0], err, out)
	}
	return nil
}

func (s *site) environment() []string { return []string{"COMMANDER_DATABASE_URL=" + s.url} }

// commander starts some roles; nobody signs in by the issuer.
func (s *site) commander(port int, more ...string) (*child, error) {
	return s.bench.spawn("commander", s.environment(), s.bench.program("commander"), append([]string{
		"--keys-dir=" + s.path("keys"), "--listen=" + on(port),
		"--public-url=https://localhost:" + strconv.Itoa(port),
		"--tls-cert=" + s.path("server.crt"), "--tls-key=" + s.path("server.key"), "--ca-file=" + s.path("server.crt"),
		"--oidc-issuer=https://localhost:" + strconv.Itoa(port) + "/none", "--oidc-client-id=bench",
		"--run-dir=" + s.path("run"), "--dhctl-binary=" + s.bench.program("dhctl"),
		"--connector-binary=" + s.bench.program("ampg-connector"), "--lab-socket=" + s.path("run", "lab.sock"),
	}, more...)...)
}

// floor starts the bare server with the bytes that it answers with.
func (s *site) floor(port int, body []byte) (*child, error) {
	file := s.path("body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return nil, fmt.Errorf("write the answer of the floor: %w", err)
	}
	return s.bench.spawn("bare", nil, s.bench.bare(),
		"--listen="+on(port), "--tls-cert="+s.path("server.crt"), "--tls-key="+s.path("server.key"), "--body="+file)
}

func (b *bench) closeSite() error {
	s := b.site
	b.site = nil
	if s == nil || s.database == nil {
		return nil
	}
	err := s.database.Stop()
	if dir, problem := postgres.Place(s.path("postgres")); problem == nil && !strings.HasPrefix(dir, s.path()) {
		err = errors.Join(err, os.RemoveAll(dir)) // it could not be in the folder of the run
	}
	return err
}

// end stops a process of the site; how it stops is not measured.
func end(c *child, err *error) { *err = errors.Join(*err, c.stop(syscall.SIGTERM)) }
