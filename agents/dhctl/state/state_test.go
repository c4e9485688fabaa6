package state_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/agents/dhctl/state"
)

func TestBlobSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	first, err := state.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]byte{"uuid": []byte("1"), "nodes/worker 1": {0, 255}, "..": []byte("x")}
	for name, value := range want {
		if err := first.Write(name, value); err != nil {
			t.Fatal(err)
		}
	}
	blob, err := first.Blob()
	if err != nil {
		t.Fatal(err)
	}
	second, err := state.Open(filepath.Join(t.TempDir(), "other"), blob)
	if err != nil {
		t.Fatal(err)
	}
	got, err := second.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries after a round trip (-want +got):\n%s", diff)
	}
}

func TestOpenForgetsWhatTheFolderHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := state.Open(dir, `{"old":"b2xk"}`)
	if err != nil {
		t.Fatal(err)
	}
	if value, err := first.Read("old"); err != nil || string(value) != "old" {
		t.Fatalf("entry old: got %q, %v; want old", value, err)
	}
	second, err := state.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if value, err := second.Read("old"); err != nil || value != nil {
		t.Errorf("entry old after a fresh start: got %q, %v; want none", value, err)
	}
	if err := second.Delete("old"); err != nil {
		t.Errorf("delete what is not there: %v", err)
	}
}

func TestOpenRefusesABrokenBlob(t *testing.T) {
	t.Parallel()
	if _, err := state.Open(t.TempDir(), "{"); err == nil {
		t.Error("a broken blob was accepted")
	}
}
