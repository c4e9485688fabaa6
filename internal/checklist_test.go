package internal

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheChecklistNamesTestsThatExist keeps docs/checklist.md from promising what nobody looks at.
func TestTheChecklistNamesTestsThatExist(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../docs/checklist.md")
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err = filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".cache" || entry.Name() == ".git"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		body, err := os.ReadFile(path)
		for _, found := range function.FindAllStringSubmatch(string(body), -1) {
			declared[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(list)) {
		if !regexp.MustCompile(`^\| \d+ \|`).MatchString(line) {
			continue
		}
		rows++
		names := regexp.MustCompile(`\b(?:Test|Fuzz)\w+`).FindAllString(line, -1)
		if len(names) == 0 && !strings.Contains(line, "open: ") {
			t.Errorf("names no test and nothing that is open: %s", line)
		}
		for _, name := range names {
			if !declared[name] {
				t.Errorf("names %s, which is no test: %s", name, line)
			}
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows were found", rows)
	}
}
