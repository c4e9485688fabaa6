package build

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestMinor(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"": "1.37", "1.37": "1.37", "v1.36": "1.36", "v1.37.2": "1.37", "1.36.9": "1.36",
		"1.20": "", "1": "", "1.37.2.1": "", "newest": "", "1.370": "",
	} {
		if got, err := Minor(version); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: got %q, %v, want %q", version, got, err, want)
		}
	}
}

func TestWhatFits(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"v1.37.0": true, "v1.37.2": true, "1.37.9": true, "v1.36.3": false, "v1.370.1": false} {
		if got := sameMinor(version, "1.37"); got != want {
			t.Errorf("Kubernetes %s for 1.37: got %t, want %t", version, got, want)
		}
	}
	for version, want := range map[string]bool{"3.7.3": true, "3.5.0": true, "3.4.23": false, "2.9.1": false} {
		if got := etcdFits(version); got != want {
			t.Errorf("etcd %s: got %t, want %t", version, got, want)
		}
	}
}

// program writes a script that says a version.
func program(t *testing.T, file, version string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho Kubernetes "+version+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// What the machine has is used if it fits, and only then. The environment is changed, so this
// test runs alone.
func TestEnsurePrefersWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	built := program(t, filepath.Join(dir, "cache", Kubernetes("1.37").Output), "v1.37.2")
	cachedEtcd := program(t, filepath.Join(dir, "cache", Etcd.Output), "3.7.3")
	program(t, filepath.Join(dir, "cache", Kwok.Output), "v0.8.0")
	named := program(t, filepath.Join(dir, "assets", "kube-apiserver"), "v1.37.9")
	program(t, filepath.Join(dir, "assets", "etcd"), "3.4.1") // too old
	onPath := program(t, filepath.Join(dir, "path", "kube-scheduler"), "v1.37.0")
	program(t, filepath.Join(dir, "path", "kube-controller-manager"), "v1.36.0") // another version
	t.Setenv("KUBEBUILDER_ASSETS", filepath.Join(dir, "assets"))
	t.Setenv("PATH", filepath.Join(dir, "path"))

	p, err := Builder{Cache: filepath.Join(dir, "cache"), Source: "nowhere"}.Ensure(t.Context(), "1.37")
	want := Programs{
		Etcd: Program{Path: cachedEtcd}, Kwok: Program{Path: filepath.Join(dir, "cache", "kwok")},
		APIServer: Program{Path: named}, Scheduler: Program{Path: onPath},
		ControllerManager: Program{Path: built, Argv0: "kube-controller-manager"}, Version: "v1.37.9",
	}
	if err != nil || p != want {
		t.Errorf("got %+v, %v, want %+v", p, err, want)
	}
	if to, err := os.Readlink(filepath.Join(filepath.Dir(built), "kubectl")); err != nil || to != "kubernetes" {
		t.Errorf("got link kubectl → %q, %v, want kubernetes", to, err)
	}
}

// tiny is a target that builds in a moment.
func tiny(t *testing.T, source string) (Builder, Target) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"go.mod": "module tiny\n\ngo 1.26.0\n", "main.go": source} {
		if err := os.MkdirAll(filepath.Join(dir, "tiny"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tiny", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Builder{Cache: filepath.Join(dir, "cache"), Source: dir},
		Target{Name: "tiny", Version: "v1.2.3", Module: "tiny", Package: ".", Output: "tiny", Usual: "a moment"}
}

func TestBuildersTakeTurns(t *testing.T) {
	t.Parallel()
	b, target := tiny(t, "package main\n\nfunc main() { println(`x`); print2() }\n\nfunc print2() { _, _ = out.WriteString(`v1.2.3`) }\n")
	if err := os.WriteFile(filepath.Join(b.Source, "tiny", "out.go"), []byte("package main\n\nimport \"os\"\n\nvar out = os.Stdout\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	builds := 0
	b.Log = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.Contains(line, "built in") {
			builds++
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			file, err := b.Build(t.Context(), target)
			if err != nil || !fits(t.Context(), file, target) {
				t.Errorf("got %s, %v, want a file that fits", file, err)
			}
		})
	}
	all.Wait()
	if builds != 1 {
		t.Errorf("got %d builds for three builders, want 1", builds)
	}
	left, err := filepath.Glob(filepath.Join(b.Cache, "tiny.*"))
	if err != nil || len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("got %v, %v left beside the program, want only its lock", left, err)
	}
}

func TestBuildTellsWhatTheCompilerSaid(t *testing.T) {
	t.Parallel()
	b, target := tiny(t, "package main\n\nfunc main() { undefined() }\n")
	_, err := b.Build(t.Context(), target)
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("got %v, want the compiler's complaint", err)
	}
	if _, err := os.Stat(filepath.Join(b.Cache, target.Output)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for the program, want that it does not exist", err)
	}
}

func TestWaitingBuilderCanBeCancelled(t *testing.T) {
	t.Parallel()
	b, target := tiny(t, "")
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := b.lock(t.Context(), file, target)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	b.Log = func(string) { cancel() } // it says that it waits
	if _, err := b.lock(ctx, file, target); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was cancelled", err)
	}
}

func TestSourceThatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := Builder{Cache: t.TempDir(), Source: "nowhere"}.Build(t.Context(), Etcd)
	if err == nil || !strings.Contains(err.Error(), "run this from the root of the source") {
		t.Errorf("got %v, want what to do about it", err)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	var said []string
	b := Builder{Log: func(line string) { said = append(said, line) }}
	out := "go: downloading k8s.io/api v0.37.2\nk8s.io/api/core/v1\nruntime\n# k8s.io/broken\n./main.go:3:1: undefined: x\n"
	began := time.Now().Add(-time.Hour)
	kept := b.follow(Kubernetes("1.37"), bufio.NewScanner(strings.NewReader(out)), 2600, began)
	if len(kept) != 2 || kept[1] != "./main.go:3:1: undefined: x" {
		t.Errorf("got %q kept for the error, want the complaint", kept)
	}
	if want := "1 modules downloaded"; len(said) != 1 || !strings.Contains(said[0], want) {
		t.Errorf("got %q said, want one line with %q and then silence for a while", said, want)
	}
}
