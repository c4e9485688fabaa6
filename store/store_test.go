package store_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
	"commander/store/storetest"
)

func TestSealedValuesCannotBeMovedOrChanged(t *testing.T) {
	t.Parallel()
	keys := storetest.Keys(t)
	row := uuid.New()
	sealed, key := keys.Seal("clusters", "ssh_private_key", row, []byte("secret"))
	if bytes.Contains(sealed, []byte("secret")) {
		t.Fatal("the sealed value shows what it hides")
	}
	changed := slices.Clone(sealed)
	changed[len(changed)-1] ^= 1
	cases := []struct {
		name, table, column string
		row                 uuid.UUID
		sealed              []byte
		key                 string
		opens               bool
	}{
		{"in its place", "clusters", "ssh_private_key", row, sealed, key, true},
		{"another row", "clusters", "ssh_private_key", uuid.New(), sealed, key, false},
		{"another column", "clusters", "name", row, sealed, key, false},
		{"another table", "tasks", "ssh_private_key", row, sealed, key, false},
		{"another key", "clusters", "ssh_private_key", row, sealed, "other", false},
		{"changed", "clusters", "ssh_private_key", row, changed, key, false},
		{"cut off", "clusters", "ssh_private_key", row, sealed[:5], key, false},
	}
	for _, c := range cases {
		got, err := keys.Unseal(c.table, c.column, c.row, c.sealed, c.key)
		if (err == nil) != c.opens {
			t.Errorf("%s: got %q, %v; want opens = %v", c.name, got, err, c.opens)
		}
	}
}

func TestKeysThatDoNotFitStopTheStart(t *testing.T) {
	t.Parallel()
	pool := storetest.Pool(t)
	if _, err := store.Open(t.Context(), pool, storetest.Keys(t)); err != nil {
		t.Fatal(err)
	}
	other, err := store.NewKeyring("test", map[string][]byte{"test": bytes.Repeat([]byte{8}, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), pool, other); err == nil || !strings.Contains(err.Error(), "restore the original key file") {
		t.Errorf("another key under the same id: got %v", err)
	}
	missing, err := store.NewKeyring("new", map[string][]byte{"new": bytes.Repeat([]byte{9}, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), pool, missing); err == nil || !strings.Contains(err.Error(), `"test"`) {
		t.Errorf("a key that the database needs is missing: got %v", err)
	}
}

func TestKeyFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	if err := store.EnsureKeys(dir); err != nil {
		t.Fatal(err)
	}
	first, err := store.LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.EnsureKeys(dir); err != nil {
		t.Fatal(err)
	}
	sealed, key := first.Seal("t", "c", uuid.Nil, []byte("x"))
	again, err := store.LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Unseal("t", "c", uuid.Nil, sealed, key); err != nil {
		t.Errorf("a second start must keep the key: %v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "0001.key"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := store.LoadKeys(dir); err == nil {
		t.Error("a key that others can read was taken")
	}
}

func TestChangedTopicsAreHeardAfterTheCommitOnly(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan string, 100)
	ended := make(chan error, 2)
	go func() { ended <- s.Announce(ctx) }()
	go func() {
		ended <- s.Listen(ctx, slog.New(slog.DiscardHandler), func(topics ...string) {
			for _, topic := range topics {
				heard <- topic
			}
		})
	}()
	if got := <-heard; got != store.Everything {
		t.Fatalf("got %q first, want everything: notices may have been missed before", got)
	}
	refused := errors.New("refused")
	if err := s.InTx(t.Context(), func(tx *store.Tx) error { tx.Changed("lost"); return refused }); !errors.Is(err, refused) {
		t.Fatalf("got %v", err)
	}
	if err := s.InTx(t.Context(), func(tx *store.Tx) error { tx.Changed("kept"); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "kept" {
		t.Errorf("got topic %q, want only that of the committed transaction", got)
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestADatabaseThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	pool, err := store.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s := store.On(pool, storetest.Keys(t))
	_, err = s.Workspace(ctx, uuid.New())
	if got := fault.KindOf(store.AsFault(err)); got != fault.Unavailable {
		t.Errorf("got %q of %v, want unavailable", got, err)
	}
	err = s.InTx(ctx, func(*store.Tx) error { return nil })
	if got := fault.KindOf(err); got != fault.Unavailable {
		t.Errorf("got %q of %v, want unavailable", got, err)
	}
}

// TestTextThatCannotBeStored is told to whoever sent it, as no fault of ours.
func TestTextThatCannotBeStored(t *testing.T) {
	t.Parallel()
	pool := storetest.Pool(t)
	for name, ask := range map[string]struct{ query, text string }{
		"a zero":             {"select $1::text", "a\x00b"},
		"no UTF-8":           {"select $1::text", "a\xffb"},
		"a zero within JSON": {"select $1::jsonb", `{"a": "\u0000"}`},
	} {
		var got any
		err := store.AsFault(pool.QueryRow(t.Context(), ask.query, ask.text).Scan(&got))
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}
