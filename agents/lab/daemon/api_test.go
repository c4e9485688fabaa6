package daemon_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/daemon"
)

// inProcess runs a daemon that has no programs and no source to build them from.
func inProcess(t *testing.T) (*lab.Client, daemon.Config) {
	t.Helper()
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		t.Fatal(err)
	}
	config := daemon.Config{
		Dir: filepath.Join(dir, "c"), Socket: filepath.Join(dir, "s"), Log: slog.New(slog.DiscardHandler),
		Builder: build.Builder{Cache: filepath.Join(dir, "cache"), Source: filepath.Join(dir, "nowhere")},
	}
	d, err := daemon.New(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.Run(ctx) }()
	client := lab.NewClient(config.Socket)
	t.Cleanup(func() {
		client.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	eventually(t, "daemon answers", func() error { return client.Ping(t.Context()) })
	return client, config
}

func TestRequestsThatCannotBe(t *testing.T) {
	t.Parallel()
	client, _ := inProcess(t)
	ctx, id := t.Context(), uuid.NewString()
	newest := want
	newest.KubernetesVersion = "1.99"
	for _, c := range []struct {
		name string
		err  error
		code lab.Code
	}{
		{"version that no lab has", client.EnsureControlPlane(ctx, id, newest, nil), lab.Invalid},
		{"id that leads out of the directory", client.EnsureControlPlane(ctx, "../"+id, want, nil), lab.Invalid},
		{"id in another spelling", client.EnsureControlPlane(ctx, "{"+id+"}", want, nil), lab.Invalid},
		{"nodes of nothing", client.EnsureNodes(ctx, id, lab.Nodes{}, nil), lab.NotFound},
		{"agent of nothing", client.EnsureAgent(ctx, id, lab.Agent{CommanderURL: "https://c", Token: "t"}, nil), lab.NotFound},
		{"agent without a token", client.EnsureAgent(ctx, id, lab.Agent{CommanderURL: "https://c"}, nil), lab.Invalid},
		{"no agent of nothing", client.StopAgent(ctx, id), lab.NotFound},
	} {
		if !errors.Is(c.err, &lab.Problem{Code: c.code}) {
			t.Errorf("%s: got %v, want %s", c.name, c.err, c.code)
		}
	}
	if _, err := client.Kubeconfig(ctx, id); !errors.Is(err, &lab.Problem{Code: lab.NotFound}) {
		t.Errorf("kubeconfig of nothing: got %v, want %s", err, lab.NotFound)
	}
	if err := client.Delete(ctx, id, nil); err != nil {
		t.Errorf("delete nothing: got %v, want nil", err)
	}
}

func TestFailedBuildLeavesNoCluster(t *testing.T) {
	t.Setenv("PATH", "/usr/sbin") // no etcd of the machine; Go is not asked for before the source is there
	t.Setenv("KUBEBUILDER_ASSETS", "")
	client, config := inProcess(t)
	id := uuid.NewString()
	err := client.EnsureControlPlane(t.Context(), id, want, nil)
	if err == nil || !strings.Contains(err.Error(), "run this from the root of the source") {
		t.Fatalf("got %v, want what to do about the missing source", err)
	}
	if s, err := client.State(t.Context(), id); err != nil || s.Exists {
		t.Errorf("got %+v, %v, want nothing", s, err)
	}
	if ids, err := client.List(t.Context()); err != nil || len(ids) > 0 {
		t.Errorf("got clusters %v, %v, want none", ids, err)
	}
	if _, err := os.Stat(filepath.Join(config.Dir, id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v for the cluster's directory, want that it does not exist", err)
	}
}

func TestOneDaemonADirectory(t *testing.T) {
	t.Parallel()
	_, config := inProcess(t)
	config.Socket += "2"
	second, err := daemon.New(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another lab daemon owns") {
		t.Errorf("got %v, want that another daemon owns the directory", err)
	}
	info, err := os.Stat(strings.TrimSuffix(config.Socket, "2"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v for the socket, want 0600", info.Mode(), err)
	}
}

func TestPathsAreShortEnoughForSockets(t *testing.T) {
	t.Parallel()
	_, err := daemon.New(daemon.Config{Dir: "/" + strings.Repeat("a", 100), Socket: "/s"})
	if err == nil || !strings.Contains(err.Error(), "bytes shorter") {
		t.Errorf("got %v, want by how much to shorten the path", err)
	}
}
