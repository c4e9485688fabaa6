package build

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Program is something to run: a file, and the name to call it by.
type Program struct {
	Path  string
	Argv0 string // empty if the file's own name will do
}

// Programs are all that a cluster of one Kubernetes version needs.
type Programs struct {
	Etcd, Kwok                              Program
	APIServer, ControllerManager, Scheduler Program
	Version                                 string // of the API server, like v1.37.2
}

// components are the parts of a control plane; kubectl is no part, it is linked for people.
var components = []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler"}

// Ensure finds or builds the programs of a Kubernetes version, like 1.37. A program named by
// KUBEBUILDER_ASSETS or on the PATH is used if its version fits; what is left is built.
func (b Builder) Ensure(ctx context.Context, minor string) (Programs, error) {
	minor, err := Minor(minor)
	if err != nil {
		return Programs{}, err
	}
	var p Programs
	if p.Etcd, err = b.one(ctx, Etcd, "etcd", etcdFits); err != nil {
		return Programs{}, err
	}
	if p.Kwok.Path, err = b.Build(ctx, Kwok); err != nil { // young enough that only the pinned one is trusted
		return Programs{}, err
	}
	target := Kubernetes(minor)
	p.Version = target.Version
	for i, into := range []*Program{&p.APIServer, &p.ControllerManager, &p.Scheduler} {
		said := ""
		*into, err = b.one(ctx, target, components[i], func(version string) bool {
			said = version
			return sameMinor(version, minor)
		})
		if err != nil {
			return Programs{}, err
		}
		if i == 0 && said != "" && into.Argv0 == "" {
			p.Version = said
		}
	}
	return p, b.link(ctx, target)
}

// one provides one program: from outside if its version fits, else built.
func (b Builder) one(ctx context.Context, t Target, name string, fit func(version string) bool) (Program, error) {
	for _, file := range candidates(name) {
		if version, err := versionOf(ctx, file, "--version"); err == nil && fit(version) {
			b.say("%s: using %s (%s)", t.Name, file, version)
			return Program{Path: file}, nil
		}
	}
	file, err := b.Build(ctx, t)
	if err != nil {
		return Program{}, err
	}
	if filepath.Base(file) == name {
		return Program{Path: file}, nil
	}
	return Program{Path: file, Argv0: name}, nil
}

// link puts a link for each name that the built Kubernetes answers to beside it, kubectl too.
func (b Builder) link(ctx context.Context, t Target) error {
	file, err := filepath.Abs(filepath.Join(b.Cache, t.Output))
	if err != nil {
		return fmt.Errorf("find cache: %w", err)
	}
	if !fits(ctx, file, t) {
		return nil // every component came from outside
	}
	for _, name := range append([]string{"kubectl"}, components...) {
		link := filepath.Join(filepath.Dir(file), name)
		if to, err := os.Readlink(link); err == nil && to == filepath.Base(file) {
			continue
		}
		temporary := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err := os.Symlink(filepath.Base(file), temporary); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
		if err := os.Rename(temporary, link); err != nil {
			return fmt.Errorf("link %s: %w", name, err)
		}
	}
	return nil
}

// candidates lists where a program may be already, the explicitly named place first.
func candidates(name string) []string {
	var found []string
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		if file, err := exec.LookPath(filepath.Join(assets, name)); err == nil {
			found = append(found, file)
		}
	}
	if file, err := exec.LookPath(name); err == nil {
		found = append(found, file)
	}
	return found
}

var versionPattern = regexp.MustCompile(`v?\d+\.\d+\.\d+[-+.\w]*`)

// answers remembers what programs said about their version: starting one takes a fifth of a
// second, and a program that was not touched says the same again.
var answers sync.Map // question → string

type question struct {
	file, args string
	size       int64
	modified   time.Time
}

// versionOf asks a program for its version: the first thing that looks like one.
func versionOf(ctx context.Context, file string, args ...string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", file, err)
	}
	q := question{file, strings.Join(args, " "), info.Size(), info.ModTime()}
	if said, ok := answers.Load(q); ok {
		return said.(string), nil
	}
	said, err := ask(ctx, file, args...)
	if err == nil {
		answers.Store(q, said)
	}
	return said, err
}

func ask(ctx context.Context, file string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, args...).Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", file, err)
	}
	version := versionPattern.FindString(string(out))
	if version == "" {
		return "", fmt.Errorf("ask %s for its version: it said %q", file, out)
	}
	return version, nil
}

// sameMinor tells whether a version like v1.37.2 belongs to a minor version like 1.37.
func sameMinor(version, minor string) bool {
	return strings.HasPrefix(strings.TrimPrefix(version, "v"), minor+".")
}

// etcdFits tells whether an etcd is new enough: 3.5 is the oldest that Kubernetes recommends.
func etcdFits(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	minor, err := strconv.Atoi(parts[1])
	return err == nil && parts[0] == "3" && minor >= 5
}
