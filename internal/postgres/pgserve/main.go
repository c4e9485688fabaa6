// Command pgserve starts PostgreSQL for tests, runs a command that finds it in
// COMMANDER_TEST_DATABASE_URL, and stops it: all packages of one `go test` share one server.
//
//	go run ./internal/postgres/pgserve -- go test ./...
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"commander/internal/postgres/pgtest"
	"commander/internal/run"
)

func main() { run.Main("pgserve", serve) }

func serve(ctx context.Context, args []string) (err error) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return run.Misuse(errors.New("usage: pgserve -- command arguments"))
	}
	server, err := pgtest.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	fmt.Fprintf(os.Stderr, "tests use PostgreSQL from %s\n", server.From)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), pgtest.URLVariable+"="+server.URL)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	return nil
}
