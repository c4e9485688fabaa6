// Package machinetest makes a real node of a bare machine: a container with systemd, and all that
// a cluster has for it.
package machinetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// image is what .ci/machine/build makes.
func image() string {
	if name := os.Getenv("COMMANDER_TEST_MACHINE_IMAGE"); name != "" {
		return name
	}
	return "commander-test-machine"
}

// docker runs a command of the engine and returns what it says.
func docker(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "docker", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return strings.TrimSpace(string(out)), nil
}

// notRun ends a test that lacks what it needs: as not run, or as failed where
// COMMANDER_TEST_REQUIRE_DOCKER=1 says that all is there, as in CI.
func notRun(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("COMMANDER_TEST_REQUIRE_DOCKER") == "1" {
		t.Fatalf("not run: "+format, args...)
	}
	t.Skipf("not run: "+format, args...)
}

// needs reports what is missing for real machines, and gives the address at which they reach this one.
func needs(t *testing.T) (gateway, kubelet string) {
	t.Helper()
	if _, err := docker(t.Context(), "version"); err != nil {
		notRun(t, "no Docker engine answers, so there are no machines: %v", err)
	}
	for _, name := range []string{image(), image() + "-packages"} {
		if _, err := docker(t.Context(), "image", "inspect", name); err != nil {
			notRun(t, "the image %s is missing; `.ci/machine/build %s` makes it", name, image())
		}
	}
	kubelet = os.Getenv("COMMANDER_TEST_KUBELET")
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir) && kubelet == ""; dir = filepath.Dir(dir) {
		if file := filepath.Join(dir, ".cache", "kubelet"); exists(file) {
			kubelet = file
		}
	}
	if kubelet == "" {
		notRun(t, "kubelet is missing; `make kubelet` builds it")
	}
	gateway, err = docker(t.Context(), "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	if err != nil || net.ParseIP(gateway) == nil {
		t.Fatalf("find address of the machines' network: %q, %v", gateway, err)
	}
	return gateway, kubelet
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// machine is a container that boots systemd.
type machine struct {
	t    *testing.T
	name string
}

// newMachine boots a bare one and removes it with the test.
func newMachine(t *testing.T, name string) *machine {
	t.Helper()
	m := &machine{t, fmt.Sprintf("commander-%d-%s", os.Getpid(), name)}
	keepKernelSettings(t)
	// All that a machine may do, short of what the engine itself may not: without SYS_RESOURCE no
	// container can be privileged.
	_, err := docker(t.Context(), "run", "--detach", "--name", m.name, "--hostname", name, "--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined",
		"--cgroupns", "private", "--tmpfs", "/run", "--tmpfs", "/tmp:exec", "--device", "/dev/kmsg", "--device-cgroup-rule", "a *:* rwm", image())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			said, _ := docker(ctx, "exec", m.name, "journalctl", "--no-pager", "-n", "60", "-u", "kubelet", "-u", "containerd", "-u", "bashible")
			t.Logf("log of %s:\n%s", name, said)
		}
		if _, err := docker(ctx, "rm", "--force", "--volumes", m.name); err != nil {
			t.Error(err)
		}
	})
	m.eventually("systemd is up", func(ctx context.Context) bool {
		state, _ := exec.CommandContext(ctx, "docker", "exec", m.name, "systemctl", "is-system-running").Output()
		return strings.Contains(string(state), "running") || strings.Contains(string(state), "degraded")
	})
	// What a machine that is no container has: cgroups to write to, and mounts that spread.
	m.run("", "for m in $(awk '$3 ~ /^cgroup/ {print $2}' /proc/mounts); do mount -o remount,bind,rw $m; done; mount --make-rshared /")
	return m
}

// run executes a shell script in the machine with an input.
func (m *machine) run(input, script string) string {
	m.t.Helper()
	command := exec.CommandContext(m.t.Context(), "docker", "exec", "--interactive", m.name, "/bin/bash", "-c", script)
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	if err != nil {
		m.t.Fatalf("in %s: %v\n%s", m.name, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (m *machine) eventually(what string, so func(context.Context) bool) {
	m.t.Helper()
	eventually(m.t, what, so)
}

// eventually waits for what takes a machine's time.
func eventually(t *testing.T, what string, so func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			t.Fatalf("never so: %s", what)
		case <-tick.C:
		}
	}
}

// keepKernelSettings puts back what a kubelet sets for the whole kernel.
func keepKernelSettings(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "fs/inotify/max_user_instances", "fs/inotify/max_user_watches",
	} {
		file := "/proc/sys/" + name
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := os.WriteFile(file, before, 0o644); err != nil {
				t.Logf("put back %s: %v", name, err)
			}
		})
	}
}

// file is one of a package.
type file struct {
	name    string
	content io.Reader
	size    int64
	mode    int64
	link    string
}

// pack writes a package to a store under its digest, and returns that.
func pack(t *testing.T, store string, files ...file) string {
	t.Helper()
	out, err := os.CreateTemp(store, ".new-")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	packed, err := gzip.NewWriterLevel(io.MultiWriter(out, sum), gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(packed)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: f.size, Typeflag: tar.TypeReg}
		if f.link != "" {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, f.link, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if f.content != nil {
			if _, err := io.Copy(w, f.content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), packed.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if err := os.Rename(out.Name(), filepath.Join(store, digest)); err != nil {
		t.Fatal(err)
	}
	return "sha256:" + digest
}

// text is a small file.
func text(name, content string) file {
	return file{name: name, content: strings.NewReader(content), size: int64(len(content)), mode: 0o755}
}

// program is a file of this machine.
func program(t *testing.T, name, from string) file {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // only read
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return file{name: name, content: f, size: info.Size(), mode: 0o755}
}

// fromImage takes files out of the image of packages, by the beginning of their path.
func fromImage(t *testing.T, paths ...string) []file {
	t.Helper()
	id, err := docker(t.Context(), "create", image()+"-packages", "none")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = docker(context.Background(), "rm", id) }) // never started
	var all []file
	for _, path := range paths {
		out, err := exec.CommandContext(t.Context(), "docker", "cp", "--follow-link", id+":"+path, "-").Output()
		if err != nil {
			t.Fatalf("take %s out of the image: %v", path, err)
		}
		for entries := tar.NewReader(bytes.NewReader(out)); ; {
			h, err := entries.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Typeflag == tar.TypeReg {
				content, err := io.ReadAll(entries)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, file{name: "files/" + filepath.Base(h.Name), content: bytes.NewReader(content), size: h.Size, mode: 0o755})
			}
		}
	}
	return all
}
