package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ErrMissing says that this machine has no PostgreSQL that we could start.
var ErrMissing = errors.New("no PostgreSQL binaries found (looked for /usr/lib/postgresql/*/bin and for initdb and postgres on the PATH)")

// Find looks for a folder with initdb and postgres: where Debian puts them, then the PATH. The
// newest major version wins, unless one is asked for ("17"; empty means any).
func Find(major string) (string, error) {
	candidates, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", fmt.Errorf("look for PostgreSQL: %w", err)
	}
	slices.SortFunc(candidates, func(a, b string) int { return debianMajor(b) - debianMajor(a) })
	if initdb, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(initdb); err == nil {
			candidates = append(candidates, filepath.Dir(real))
		}
	}
	for _, dir := range candidates {
		if !complete(dir) {
			continue
		}
		if found, err := Major(dir); err == nil && (major == "" || major == found) {
			return dir, nil
		}
	}
	return "", ErrMissing
}

func debianMajor(dir string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return 0
	}
	return n
}

func complete(dir string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode()&0o111 == 0 {
			return false
		}
	}
	return true
}

// Major is the major version of the binaries in a folder, such as "17".
func Major(dir string) (string, error) {
	// initdb is asked because postgres answers nothing to root.
	out, err := exec.Command(filepath.Join(dir, "initdb"), "--version").Output()
	if err != nil {
		return "", fmt.Errorf("ask %s/initdb for its version: %w", dir, err)
	}
	for word := range strings.FieldsSeq(string(out)) {
		if number, _, _ := strings.Cut(word, "."); number != "" && strings.Trim(number, "0123456789") == "" {
			return number, nil
		}
	}
	return "", fmt.Errorf("read version of %s/initdb: %q", dir, out)
}
