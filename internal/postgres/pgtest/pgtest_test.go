package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

var migrations atomic.Int32

func migrate(ctx context.Context, address string) error {
	migrations.Add(1)
	return execAll(ctx, address, "create table things (id int primary key, name text)", "insert into things values (1, 'from the template')")
}

func key(t *testing.T) string { return fmt.Sprintf("%s %d", t.Name(), os.Getpid()) }

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func TestEachTestHasItsOwnDatabase(t *testing.T) {
	t.Parallel()
	key := key(t)
	t.Run("side by side", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				conn := connect(t, New(t, key, migrate))
				if _, err := conn.Exec(t.Context(), "insert into things values (2, $1)", name); err != nil {
					t.Fatal(err)
				}
				var count int
				if err := conn.QueryRow(t.Context(), "select count(*) from things").Scan(&count); err != nil || count != 2 {
					t.Errorf("got %d rows, %v, want the template's and ours", count, err)
				}
				var zoneName string
				if err := conn.QueryRow(t.Context(), "show timezone").Scan(&zoneName); err != nil || zoneName != zone {
					t.Errorf("time zone = %q, %v, want %q", zoneName, err, zone)
				}
			})
		}
	})
	if got := migrations.Load(); got != 1 {
		t.Errorf("migrated %d times, want 1", got)
	}
}

func TestHalfMadeTemplateIsMadeAgain(t *testing.T) {
	t.Parallel()
	server, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	name := templateName(key(t) + rand.Text())
	broken := errors.New("broken")
	err = makeTemplate(t.Context(), server, name, func(ctx context.Context, address string) error {
		return errors.Join(broken, execAll(ctx, address, "create table half ()"))
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v, want the migration's error", err)
	}
	again := func(ctx context.Context, address string) error { return execAll(ctx, address, "create table half ()") }
	if err := makeTemplate(t.Context(), server, name, again); err != nil {
		t.Fatalf("the second time: %v", err)
	}
	if err := makeTemplate(t.Context(), server, name, func(context.Context, string) error { return broken }); err != nil {
		t.Fatalf("the third time must find it whole: %v", err)
	}
}

func TestDumpShowsRows(t *testing.T) {
	t.Parallel()
	address := New(t, key(t), func(ctx context.Context, address string) error {
		return execAll(ctx, address, "create table things as select n as id from generate_series(1, 30) n", "create table empty ()")
	})
	got := dump(t.Context(), address)
	if !strings.Contains(got, `public.things: {"id": 1}`) || !strings.Contains(got, "and more") || strings.Count(got, "\n") != dumpRows+1 {
		t.Errorf("got:\n%s\nwant %d rows and a hint of more", got, dumpRows)
	}
}
