package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFiguresGoBetweenTheirMarks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "README.md")
	const before = "top\n<!-- a -->\nold\n<!-- /a -->\nmiddle\n<!-- b -->\n<!-- /b -->\nend\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeBetween(file, map[string]string{"a": "new\n", "b": "other"}); err != nil {
		t.Fatal(err)
	}
	const want = "top\n<!-- a -->\nnew\n<!-- /a -->\nmiddle\n<!-- b -->\nother\n<!-- /b -->\nend\n"
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if err := writeBetween(file, map[string]string{"a": "newer", "missing": "x"}); err == nil {
		t.Error("figures without marks vanish silently")
	}
	if got, _ := os.ReadFile(file); string(got) != want {
		t.Errorf("a failed writing changed the file:\n%s", got)
	}
}

// The page has a place for each measurement.
func TestReadmeHasAllMarks(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(copied, body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names(), "machine") {
		if err := writeBetween(copied, map[string]string{name: "x"}); err != nil {
			t.Error(err)
		}
	}
}
