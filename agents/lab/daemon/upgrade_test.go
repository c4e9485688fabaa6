package daemon_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"commander/agents/lab"
)

// TestUpgrade brings a cluster from one Kubernetes version to the next with its data. It needs
// the older version as well, which takes minutes to build where it is not in the cache yet.
func TestUpgrade(t *testing.T) {
	if os.Getenv("LAB_TEST_UPGRADE") == "" {
		t.Skip("set LAB_TEST_UPGRADE=1 to upgrade a real cluster; the first time this builds an older Kubernetes")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	t.Cleanup(func() { endAll(t, dir) })
	d, id, ctx := startDaemon(t, dir), uuid.NewString(), t.Context()
	say := func(line string) { t.Log(line) }

	older := want
	older.KubernetesVersion = "1.36"
	if err := d.client.EnsureControlPlane(ctx, id, older, say); err != nil {
		t.Fatal(err)
	}
	nodes := wantNodes(t, 1)
	for i := range nodes {
		nodes[i].KubernetesVersion = "1.36"
	}
	if err := d.client.EnsureNodes(ctx, id, lab.Nodes{Nodes: nodes}, say); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := d.client.Kubeconfig(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	programs, err := builder().Ensure(ctx, "1.37")
	if err != nil {
		t.Fatal(err)
	}
	k := kubectl{t, programs, filepath.Join(dir, "kubeconfig")}
	if err := os.WriteFile(k.config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	k.run("create", "deployment", "web", "--image=nowhere/web")
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	if out := k.run("version"); !strings.Contains(out, "Server Version: v1.36.") {
		t.Errorf("got %q, want a server of v1.36", out)
	}

	if err := d.client.EnsureControlPlane(ctx, id, want, say); err != nil {
		t.Fatal(err)
	}
	if out := k.run("version"); !strings.Contains(out, "Server Version: v1.37.") {
		t.Errorf("got %q after the upgrade, want a server of v1.37", out)
	}
	s, err := d.client.State(ctx, id)
	if err != nil || !s.Ready || s.ControlPlane != want || s.Nodes[1].KubernetesVersion != "1.36" {
		t.Errorf("got %+v, %v, want the new control plane with old kubelets", s, err)
	}
	if err := d.client.EnsureNodes(ctx, id, lab.Nodes{Nodes: wantNodes(t, 1)}, say); err != nil {
		t.Fatal(err)
	}
	if s, err = d.client.State(ctx, id); err != nil || s.Nodes[1].KubernetesVersion != "1.37" {
		t.Errorf("got %+v, %v, want new kubelets", s, err)
	}
	k.run("scale", "deployment/web", "--replicas=2")
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	if err := d.client.EnsureControlPlane(ctx, id, older, say); !errors.Is(err, &lab.Problem{Code: lab.Conflict}) {
		t.Errorf("back to v1.36: got %v, want a conflict", err)
	}
	if err := d.client.Delete(ctx, id, say); err != nil {
		t.Fatal(err)
	}
}
