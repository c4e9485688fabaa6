package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"commander/internal/postgres"
)

// Variables that steer which server tests get.
const (
	URLVariable           = "COMMANDER_TEST_DATABASE_URL"
	imageVariable         = "COMMANDER_TEST_POSTGRES_IMAGE"
	requireDockerVariable = "COMMANDER_TEST_REQUIRE_DOCKER"
)

// Server is a PostgreSQL for tests.
type Server struct {
	// URL is the address of its administrative database, as a user who may make databases.
	URL string
	// From says where it comes from, for people.
	From string
	stop func() error
}

// Stop ends the server if Start started it.
func (s *Server) Stop() error { return s.stop() }

// Start finds a server in this order: the one that COMMANDER_TEST_DATABASE_URL names; a
// testcontainer if a Docker engine answers; the PostgreSQL binaries of this machine. With
// COMMANDER_TEST_REQUIRE_DOCKER=1 only the first two count. It sets environment variables of
// testcontainers, so it belongs into a process of its own: pgserve or the keeper.
func Start(ctx context.Context) (*Server, error) {
	if given := os.Getenv(URLVariable); given != "" {
		return &Server{URL: given, From: URLVariable, stop: func() error { return nil }}, nil
	}
	server, docker := startContainer(ctx)
	if docker == nil {
		return server, nil
	}
	if os.Getenv(requireDockerVariable) == "1" {
		return nil, fmt.Errorf("%s=1: %w", requireDockerVariable, docker)
	}
	server, local := startLocal(ctx)
	if local == nil {
		return server, nil
	}
	return nil, fmt.Errorf(`tests need PostgreSQL; provide one of these (make test-deps installs the last two on Debian):
  1. %s=postgres://... of a server where databases may be made
  2. a Docker engine with the image %s (or the one that %s names): %w
  3. PostgreSQL binaries on this machine: %w`, URLVariable, defaultImage, imageVariable, docker, local)
}

// startLocal starts the binaries of this machine on data that goes with the server.
func startLocal(ctx context.Context) (*Server, error) {
	bin, err := postgres.Find("")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "commander-test-postgres-")
	if err != nil {
		return nil, fmt.Errorf("make folder for PostgreSQL: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // the account of PostgreSQL passes through it
		return nil, fmt.Errorf("open folder for PostgreSQL: %w", err)
	}
	server, err := postgres.Start(ctx, postgres.Options{Bin: bin, Dir: filepath.Join(dir, "pg")})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Server{
		URL: server.URL("postgres"), From: bin,
		stop: func() error { return errors.Join(server.Stop(), os.RemoveAll(dir)) },
	}, nil
}

// untilClosed blocks until the other end of a pipe is gone.
func untilClosed(pipe io.Reader) { _, _ = io.Copy(io.Discard, pipe) }
