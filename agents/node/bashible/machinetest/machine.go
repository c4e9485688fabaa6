// Package machinetest gives tests bare machines, which are containers with systemd, and a cluster
// that has all that makes nodes of them.
package machinetest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Image is what .ci/machine/build makes.
func Image() string {
	if name := os.Getenv("COMMANDER_TEST_MACHINE_IMAGE"); name != "" {
		return name
	}
	return "commander-test-machine"
}

// Docker runs a command of the engine and returns what it says.
func Docker(ctx context.Context, args ...string) (string, error) {
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

// Needs reports what is missing for real machines of a kind of image ("" for bare ones), and gives the
// address at which they reach this one, and kubelet.
func Needs(t *testing.T, kind string) (gateway, kubelet string) {
	t.Helper()
	if _, err := Docker(t.Context(), "version"); err != nil {
		notRun(t, "no Docker engine answers, so there are no machines: %v", err)
	}
	for _, name := range []string{Image() + kind, Image() + "-packages"} {
		if _, err := Docker(t.Context(), "image", "inspect", name); err != nil {
			notRun(t, "the image %s is missing; `.ci/machine/build %s` makes it", name, Image())
		}
	}
	kubelet = os.Getenv("COMMANDER_TEST_KUBELET")
	if kubelet == "" {
		kubelet = filepath.Join(root(t), ".cache", "kubelet")
	}
	if !exists(kubelet) {
		notRun(t, "kubelet is missing; `make kubelet` builds it")
	}
	gateway, err := Docker(t.Context(), "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
	if err != nil || net.ParseIP(gateway) == nil {
		t.Fatalf("find address of the machines' network: %q, %v", gateway, err)
	}
	return gateway, kubelet
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no folder above has a go.mod")
		}
		dir = filepath.Dir(dir)
	}
	return dir
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
	KeepKernelSettings(t)
	// All that a machine may do, short of what the engine itself may not: without SYS_RESOURCE no
	// container can be privileged.
	_, err := Docker(t.Context(), "run", "--detach", "--name", m.name, "--hostname", name, "--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE",
		"--security-opt", "seccomp=unconfined", "--security-opt", "apparmor=unconfined", "--security-opt", "systempaths=unconfined",
		"--cgroupns", "private", "--tmpfs", "/run", "--tmpfs", "/tmp:exec", "--device", "/dev/kmsg", "--device-cgroup-rule", "a *:* rwm", Image())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			said, _ := Docker(ctx, "exec", m.name, "journalctl", "--no-pager", "-n", "60", "-u", "kubelet", "-u", "containerd", "-u", "bashible")
			t.Logf("log of %s:\n%s", name, said)
		}
		if _, err := Docker(ctx, "rm", "--force", "--volumes", m.name); err != nil {
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
	Eventually(m.t, what, so)
}

// Eventually waits for what takes a machine's time.
func Eventually(t *testing.T, what string, so func(context.Context) bool) {
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

// KeepKernelSettings puts back what a kubelet sets for the whole kernel.
func KeepKernelSettings(t *testing.T) {
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
