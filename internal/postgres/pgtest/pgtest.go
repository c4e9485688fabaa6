// Package pgtest gives each test a PostgreSQL database of its own, cloned in a moment from a
// template that was migrated once.
package pgtest

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// zone is half an hour off all the others and has summer time, so that whoever mixes up local
// time and UTC is found out. It is Canada/Newfoundland by its present name.
const zone = "America/St_Johns"

// bound is how long the making of a database may take, a cold image and migrations included.
const bound = 3 * time.Minute

// New makes a database for one test and returns its address. The first test with a key makes the
// template by calling migrate with the address of an empty database; the key must change whenever
// what migrate does changes (a hash of the migrations). The database goes with the test; if the
// test failed, its rows are logged before.
func New(t testing.TB, key string, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), bound)
	defer cancel()
	server, err := sharedServer()
	if err != nil {
		t.Fatal(err)
	}
	template := templateName(key)
	if err := ensureTemplate(ctx, server, template, migrate); err != nil {
		t.Fatalf("make template database: %v", err)
	}
	name := "test_" + strings.ToLower(rand.Text())[:12]
	if err := execAll(ctx, server,
		"create database "+name+" template "+template,
		"alter database "+name+" set timezone to '"+zone+"'",
	); err != nil {
		t.Fatalf("make test database: %v", err)
	}
	address := withDatabase(server, name)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), bound)
		defer cancel()
		if t.Failed() {
			t.Logf("rows of the test's database:\n%s", dump(ctx, address))
		}
		if err := execAll(ctx, server, "drop database "+name+" with (force)"); err != nil {
			t.Errorf("drop test database: %v", err)
		}
	})
	return address
}

func templateName(key string) string {
	hash := sha256.Sum256([]byte(key))
	return "template_" + hex.EncodeToString(hash[:8])
}

// templates makes a process ask for each template only once.
var templates sync.Map // template name → func() error

func ensureTemplate(ctx context.Context, server, name string, migrate func(context.Context, string) error) error {
	once, _ := templates.LoadOrStore(server+name, sync.OnceValue(func() error { return makeTemplate(ctx, server, name, migrate) }))
	return once.(func() error)()
}

// makeTemplate makes the template unless it is there. Test binaries run side by side on one
// server, so all of it happens under a lock; the mark "is a template" comes last and says that the
// database is whole.
func makeTemplate(ctx context.Context, server, name string, migrate func(context.Context, string) error) (err error) {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }() // and with it the lock
	hash := sha256.Sum256([]byte(name))
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(binary.BigEndian.Uint64(hash[:8]))); err != nil {
		return fmt.Errorf("take lock: %w", err)
	}
	var whole bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1 and datistemplate)", name).Scan(&whole); err != nil {
		return fmt.Errorf("look for template: %w", err)
	}
	if whole {
		return nil
	}
	for _, statement := range []string{
		"drop database if exists " + name + " with (force)",
		"create database " + name + " template template0",
		"alter database " + name + " set timezone to '" + zone + "'",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	if err := migrate(ctx, withDatabase(server, name)); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	// A pool of the migration that is still closing must not keep the template from being cloned.
	for _, statement := range []string{
		"alter database " + name + " allow_connections false",
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = '" + name + "'",
		"alter database " + name + " is_template true",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// execAll runs statements on a connection of their own.
func execAll(ctx context.Context, address string, statements ...string) (err error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func withDatabase(server, name string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server // sharedServer has parsed it before
	}
	u.Path = "/" + name
	return u.String()
}
