package postgres_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"commander/internal/postgres"
)

// dir is a folder that the account of RunAs reaches: t.TempDir is closed to other users.
func dir(t *testing.T) string {
	t.Helper()
	d, err := os.MkdirTemp("", "commander-pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(d); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(d, 0o711); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(d, "pg")
}

func binaries(t *testing.T) string {
	t.Helper()
	bin, err := postgres.Find("")
	if err != nil {
		t.Fatalf("%v: `make test-deps` installs them", err)
	}
	return bin
}

func TestKeepsDataAndPassword(t *testing.T) {
	t.Parallel()
	ctx, o := t.Context(), postgres.Options{Bin: binaries(t), Dir: dir(t)}
	start := func() (*postgres.Server, *pgx.Conn) {
		s, err := postgres.Start(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := pgx.Connect(ctx, s.URL("postgres"))
		if err != nil {
			t.Fatal(errors.Join(err, s.Stop()))
		}
		return s, conn
	}
	s, conn := start()
	if _, err := conn.Exec(ctx, "create table kept as select 42 as n"); err != nil {
		t.Error(err)
	}
	if err := errors.Join(conn.Close(ctx), s.Stop()); err != nil {
		t.Fatal(err)
	}
	<-s.Exited()

	s, conn = start()
	var n int
	if err := conn.QueryRow(ctx, "select n from kept").Scan(&n); err != nil || n != 42 {
		t.Errorf("got %d, %v, want 42 from the first run", n, err)
	}
	if _, err := pgx.Connect(ctx, strings.Replace(s.URL("postgres"), ":", ":x", 2)); err == nil {
		t.Error("a wrong password was let in")
	}
	if err := errors.Join(conn.Close(ctx), s.Stop()); err != nil {
		t.Fatal(err)
	}
}

func TestTakesOverFromAnEarlierRun(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Bin: binaries(t), Dir: dir(t)}
	first, err := postgres.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	second, err := postgres.Start(t.Context(), o)
	if err != nil {
		t.Fatal(errors.Join(err, first.Stop()))
	}
	<-first.Exited()
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestRefusesDataOfAnotherVersion(t *testing.T) {
	t.Parallel()
	o := postgres.Options{Bin: binaries(t), Dir: dir(t)}
	if err := os.MkdirAll(filepath.Join(o.Dir, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "data", "PG_VERSION"), []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := postgres.Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "was made by PostgreSQL 7") {
		t.Fatalf("got %v, want one that names both versions", err)
	}
}

func TestReaches(t *testing.T) {
	t.Parallel()
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := &postgres.Account{Name: "stranger", UID: 4242, GID: 4242}
	if stranger.Reaches(filepath.Join(closed, "not", "there")) {
		t.Error("a stranger reaches a closed folder")
	}
	if !stranger.Reaches("/usr/bin") {
		t.Error("a stranger does not reach /usr/bin")
	}
	var ourselves *postgres.Account
	if !ourselves.Reaches(closed) {
		t.Error("we do not reach our own folder")
	}
}
