package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"commander/internal/run"
)

// Package is a named archive that is known by its content: a packed tar with a script install and,
// if it can be undone, a script uninstall.
type Package struct {
	Name   string
	Digest string // sha256:<hexadecimal>
}

var packagePattern = regexp.MustCompile(`^([a-z0-9][a-z0-9._-]*):(sha256:[0-9a-f]{64})$`)

// ParsePackage reads NAME:sha256:HEX.
func ParsePackage(text string) (Package, error) {
	found := packagePattern.FindStringSubmatch(text)
	if found == nil {
		return Package{}, fmt.Errorf("%q is no package: want name:sha256:<64 hexadecimal digits>", text)
	}
	return Package{found[1], found[2]}, nil
}

// errDigest means that what came is not what was asked for.
var errDigest = errors.New("its content has another digest")

// packages installs from the servers that the settings name.
type packages struct {
	*Settings
	client *http.Client
}

func packageCommand(ctx context.Context, s *Settings, args []string) error {
	if len(args) < 2 {
		return run.Misuse(errors.New("package needs install, fetch or remove, and packages"))
	}
	p := &packages{Settings: s}
	var do func(context.Context, Package) error
	switch args[0] {
	case "install":
		do = p.install
	case "fetch":
		do = p.fetch
	case "remove":
		for _, name := range args[1:] {
			if err := p.remove(ctx, name); err != nil {
				return err
			}
		}
		return nil
	default:
		return run.Misuse(fmt.Errorf("package cannot %s", args[0]))
	}
	for _, text := range args[1:] {
		pkg, err := ParsePackage(text)
		if err != nil {
			return run.Misuse(err)
		}
		if err := do(ctx, pkg); err != nil {
			return err
		}
	}
	return nil
}

func (p *packages) dir(name string) string { return filepath.Join(p.PackagesDir, name) }
func (p *packages) archive(pkg Package) string {
	return filepath.Join(p.PackagesDir, pkg.Name+"."+strings.TrimPrefix(pkg.Digest, "sha256:")+".tar.gz")
}

func (p *packages) installed(name string) string {
	digest, err := os.ReadFile(filepath.Join(p.dir(name), "digest"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(digest))
}

// install does nothing if exactly this is installed. An archive that turns out to be damaged is
// removed, so that the next try fetches it again.
func (p *packages) install(ctx context.Context, pkg Package) error {
	if p.installed(pkg.Name) == pkg.Digest {
		return nil
	}
	if err := p.fetch(ctx, pkg); err != nil {
		return err
	}
	work, err := os.MkdirTemp(p.PackagesDir, ".unpack-")
	if err != nil {
		return fmt.Errorf("unpack %s: %w", pkg.Name, err)
	}
	defer os.RemoveAll(work)
	if err := unpack(p.archive(pkg), work); err != nil {
		return errors.Join(fmt.Errorf("unpack %s: %w", pkg.Name, err), os.Remove(p.archive(pkg)))
	}
	if err := script(ctx, work, "install"); err != nil {
		return fmt.Errorf("install %s: %w", pkg.Name, err)
	}
	if err := p.record(pkg, work); err != nil {
		return fmt.Errorf("record %s: %w", pkg.Name, err)
	}
	return os.Remove(p.archive(pkg)) // installed: the archive is not needed again
}

// record keeps the scripts, and the digest last: without it the package counts as not installed.
func (p *packages) record(pkg Package, work string) error {
	if err := errors.Join(os.RemoveAll(p.dir(pkg.Name)), os.MkdirAll(p.dir(pkg.Name), 0o700)); err != nil {
		return err
	}
	for _, name := range []string{"install", "uninstall"} {
		err := os.Rename(filepath.Join(work, name), filepath.Join(p.dir(pkg.Name), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.WriteFile(filepath.Join(p.dir(pkg.Name), "digest"), []byte(pkg.Digest+"\n"), 0o600)
}

func (p *packages) remove(ctx context.Context, name string) error {
	if p.installed(name) == "" {
		return nil
	}
	if err := script(ctx, p.dir(name), "uninstall"); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return os.RemoveAll(p.dir(name))
}

// script runs one of a package's; one that it does not have is nothing to do.
func script(ctx context.Context, dir, name string) error {
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	command := exec.CommandContext(ctx, "/bin/bash", file)
	command.Dir, command.Stdout, command.Stderr = dir, os.Stdout, os.Stderr
	return command.Run()
}

// fetch downloads what is not there, from any server that has it.
func (p *packages) fetch(ctx context.Context, pkg Package) error {
	if err := os.MkdirAll(p.PackagesDir, 0o700); err != nil {
		return fmt.Errorf("make folder of packages: %w", err)
	}
	if sum, err := digestOf(p.archive(pkg)); err == nil && sum == pkg.Digest {
		return nil
	}
	if len(p.Packages) == 0 {
		return errors.New("no package server is known: --packages-proxy-addresses is empty")
	}
	if err := p.connect(); err != nil {
		return err
	}
	var failed []error
	for _, i := range rand.Perm(len(p.Packages)) {
		err := p.download(ctx, p.Packages[i], pkg)
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return fmt.Errorf("fetch %s: %w", pkg.Name, errors.Join(failed...))
}
