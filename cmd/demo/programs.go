package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"commander/agents/lab/build"
)

// ourPrograms are those of this source tree that the demo starts, itself or through others.
var ourPrograms = []string{"commander", "commander-agent", "ampg-connector", "dhctl", "lab"}

// foreignPrograms are those that are not ours.
type foreignPrograms struct{ dex, kubectl string }

// needOurs fails if one of our programs was not built.
func (h *home) needOurs() error {
	for _, name := range ourPrograms {
		if _, err := os.Stat(filepath.Join(h.bin, name)); err != nil {
			return fmt.Errorf("%s is not in %s: `make build` builds it", name, h.bin)
		}
	}
	return nil
}

// foreign finds or builds what is not ours, telling how far it is.
func (h *home) foreign(ctx context.Context, say func(string, ...any)) (foreignPrograms, error) {
	tell := func(line string) { say("%s", line) }
	target, err := dexTarget(h.demoSource)
	if err != nil {
		return foreignPrograms{}, err
	}
	if err := h.needSpaceToBuild(target); err != nil {
		return foreignPrograms{}, err
	}
	var p foreignPrograms
	if p.dex, err = (build.Builder{Cache: h.cache, Source: h.demoSource, Log: tell}).Build(ctx, target); err != nil {
		return p, err
	}
	lab := build.Builder{Cache: h.cache, Source: h.labSource, Log: tell}
	minor := build.Minors()[0]
	if _, err := lab.Ensure(ctx, minor); err != nil {
		return p, err
	}
	p.kubectl, err = h.kubectl(ctx, lab, build.Kubernetes(minor))
	return p, err
}

// needSpaceToBuild looks at free space only if something has to be built.
func (h *home) needSpaceToBuild(dex build.Target) error {
	for _, output := range []string{dex.Output, build.Etcd.Output, build.Kwok.Output, build.Kubernetes(build.Minors()[0]).Output} {
		if _, err := os.Stat(filepath.Join(h.cache, output)); errors.Is(err, os.ErrNotExist) {
			dir, err := goCache()
			if err != nil {
				return err
			}
			return needSpace(dir, spaceToBuild, "building Kubernetes")
		}
	}
	return nil
}

// kubectl finds the one that belongs to the lab's Kubernetes, and builds it if the rest of
// Kubernetes came from elsewhere without one.
func (h *home) kubectl(ctx context.Context, lab build.Builder, target build.Target) (string, error) {
	built := filepath.Join(h.cache, filepath.Dir(target.Output), "kubectl")
	if _, err := os.Stat(built); err == nil {
		return built, nil
	}
	for _, name := range []string{filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kubectl"} {
		if file, err := exec.LookPath(name); err == nil {
			return filepath.Abs(file)
		}
	}
	file, err := lab.Build(ctx, target)
	if err != nil {
		return "", err
	}
	// One binary is all components, by the name it is called by.
	if err := os.Symlink(filepath.Base(file), built); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("link kubectl: %w", err)
	}
	return built, nil
}

// link makes .demo/bin/<name> lead to a file.
func (h *home) link(name, to string) error {
	link := h.path("bin", name)
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("link %s: %w", name, err)
	}
	if err := os.Symlink(to, link); err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	return nil
}
