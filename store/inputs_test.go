package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const inputsFile = "inputs_gen.txt"

// TestGeneratedCodeIsCurrent finds a forgotten run of sqlc without sqlc: make generate writes the
// hash of what sqlc read (COMMANDER_GENERATE=1), and here it is computed again.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	t.Parallel()
	files := []string{"../sqlc.yaml"}
	for _, pattern := range []string{"../migrations/*.sql", "river/*.sql", "queries/*.sql"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("find %s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	hash := sha256.New()
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.ToSlash(name), len(body), body)
	}
	got := hex.EncodeToString(hash.Sum(nil)) + "\n"
	if os.Getenv("COMMANDER_GENERATE") != "" {
		if err := os.WriteFile(inputsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(inputsFile)
	if err != nil || got != string(want) {
		t.Errorf("queries or migrations changed after sqlc ran (%v): run make generate", err)
	}
}
