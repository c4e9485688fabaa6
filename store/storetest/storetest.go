// Package storetest gives tests a migrated database of their own and rows to begin with.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"commander/internal/postgres/pgtest"
	"commander/migrations"
	"commander/store"
)

// New opens a store over an empty, migrated database that goes with the test.
func New(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), Pool(t), Keys(t))
	if err != nil {
		t.Fatalf("open the store: %v", err)
	}
	return s
}

// Pool opens an empty, migrated database that goes with the test.
func Pool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool, err := store.Connect(t.Context(), URL(t), 8)
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// URL is the address of an empty, migrated database that goes with the test.
func URL(t testing.TB) string {
	t.Helper()
	return pgtest.New(t, schemaKey(t), func(ctx context.Context, url string) error {
		pool, err := pgxpool.New(ctx, url)
		if err != nil {
			return err
		}
		defer pool.Close()
		return migrations.Up(ctx, pool)
	})
}

// schemaKey changes with the migrations, so that a template made before is not used.
func schemaKey(t testing.TB) string {
	hash := sha256.New()
	err := fs.WalkDir(migrations.Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(migrations.Files(), path)
		fmt.Fprintf(hash, "%s %d\n", path, len(body))
		hash.Write(body)
		return err
	})
	if err != nil {
		t.Fatalf("read the migrations: %v", err)
	}
	return hex.EncodeToString(hash.Sum(nil))[:16]
}

// Keys are the same in every test, so that two stores over one database fit together.
func Keys(t testing.TB) *store.Keyring {
	t.Helper()
	keys, err := store.NewKeyring("test", map[string][]byte{"test": bytes.Repeat([]byte{7}, store.KeySize)})
	if err != nil {
		t.Fatalf("make keys: %v", err)
	}
	return keys
}
