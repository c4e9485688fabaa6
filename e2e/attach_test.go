package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"commander/agents/lab"
)

// TestAttachAClusterThatCommanderDidNotMake starts a control plane with the lab by hand, attaches
// it by its kubeconfig, lets it go, and finds it running and nobody's.
func TestAttachAClusterThatCommanderDidNotMake(t *testing.T) {
	t.Parallel()
	client := lab.NewClient(labSocket(t))
	t.Cleanup(client.Close)
	byHand := uuid.NewString()
	t.Cleanup(func() {
		if err := client.Delete(context.WithoutCancel(t.Context()), byHand, nil); err != nil {
			t.Error(err)
		}
	})
	if err := client.EnsureControlPlane(t.Context(), byHand, lab.ControlPlane{
		KubernetesVersion: "1.37", PodSubnet: "10.61.0.0/16", ServiceSubnet: "10.62.0.0/16", Domain: "cluster.local",
	}, nil); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := client.Kubeconfig(t.Context(), byHand)
	if err != nil {
		t.Fatal(err)
	}
	attach := func(name string) cluster {
		t.Helper()
		var made cluster
		if _, err := call(t.Context(), shared.token, "POST", "/clusters/attach", map[string]any{"name": name, "kubeconfig": string(kubeconfig)}, &made); err != nil {
			t.Fatal(err)
		}
		if made.Status != "ready_to_join" {
			t.Fatalf("got %s, want ready_to_join", made.Status)
		}
		if _, err := call(t.Context(), shared.token, "POST", "/clusters/"+made.ID+"/join", nil, nil); err != nil {
			t.Fatal(err)
		}
		return awaitStatus(t, made.ID, "in_sync", 2*time.Minute)
	}
	first := attach("guest")
	await(t, "the agent of the guest has reported", time.Minute, func(ctx context.Context) (bool, error) {
		var now cluster
		_, err := call(ctx, shared.readToken, "GET", "/clusters/"+first.ID, nil, &now)
		return err == nil && now.Sync == "configured", err
	})
	k := newKubectl(t, first.ID, shared.token)
	if mark := k.must("", "get", "configmap", "-n", "kube-system", "d8-commander-uuid", "-o", "jsonpath={.data.commander-uuid}"); strings.TrimSpace(mark) != first.ID {
		t.Errorf("mark: got %q, want %s", mark, first.ID)
	}
	if code, err := call(t.Context(), shared.token, "POST", "/clusters/attach", map[string]any{"name": "thief", "kubeconfig": string(kubeconfig)}, nil); code != 422 {
		t.Errorf("a second attachment: got %d, %v", code, err)
	}
	if _, err := call(t.Context(), shared.token, "POST", "/clusters/"+first.ID+"/detach", nil, nil); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, first.ID, "detached", 2*time.Minute)
	if s, err := client.State(t.Context(), byHand); err != nil || !s.Ready {
		t.Errorf("the control plane after the detachment: got %+v, %v, want that it runs on", s, err)
	}
	if left := shared.processes("commander-agent", first.ID); len(left) > 0 {
		t.Errorf("agents %v are left", left)
	}
	second := attach("guest")
	if _, err := call(t.Context(), shared.token, "POST", "/clusters/"+second.ID+"/detach", nil, nil); err != nil {
		t.Fatal(err)
	}
	awaitStatus(t, second.ID, "detached", 2*time.Minute)
}

// labSocket is where the demo's lab listens, as its command line says.
func labSocket(t *testing.T) string {
	t.Helper()
	for _, pid := range shared.processes("lab", "serve", "--socket=") {
		for word := range strings.FieldsSeq(commandOf(pid)) {
			if socket, is := strings.CutPrefix(word, "--socket="); is {
				return socket
			}
		}
	}
	t.Fatal("the lab does not run")
	return ""
}
