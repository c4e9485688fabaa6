package e2e

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestADhctlThatIsKilled takes the process of an operation away in the middle of an installation:
// its task becomes lost, and a retry from the page goes on to Ready. It runs alone, so that the
// process is certainly the one of its cluster.
func TestADhctlThatIsKilled(t *testing.T) {
	before := shared.processes("dhctl", "_server")
	made := create(t, "orphaned", nil)
	var victims []int
	await(t, "an operation of the cluster runs", time.Minute, func(context.Context) (bool, error) {
		if len(shared.processes(made.ID, "etcd")) == 0 {
			return false, nil // it has not begun with the machines
		}
		victims = slices.DeleteFunc(shared.processes("dhctl", "_server"), func(pid int) bool { return slices.Contains(before, pid) })
		return len(victims) > 0, nil
	})
	for _, pid := range victims {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Logf("kill %d: %v", pid, err)
		}
	}
	awaitStatus(t, made.ID, "creation_failed", quietLimit*5)

	b := newBrowser(t, 4*time.Minute)
	b.signIn("admin@example.com", shared.admin)
	b.open(shared.url + "/clusters/" + made.ID + "/tasks")
	b.press("Install")
	b.ends("Lost")
	b.picture("task-lost")
	b.press("Retry")
	b.ends("Succeeded")
	awaitStatus(t, made.ID, "in_sync", time.Minute)
}

// TestAnAgentThatIsKilled looks at what people see without the agent, and that it comes back.
func TestAnAgentThatIsKilled(t *testing.T) {
	t.Parallel()
	made := create(t, "silent", nil)
	awaitStatus(t, made.ID, "in_sync", 3*time.Minute)
	configured := func(ctx context.Context) (bool, error) {
		var now cluster
		_, err := call(ctx, shared.readToken, "GET", "/clusters/"+made.ID, nil, &now)
		if err == nil && now.Sync != "configured" {
			err = fmt.Errorf("its resources are %q", now.Sync)
		}
		return err == nil, err
	}
	await(t, "the agent has reported", time.Minute, configured)
	agents := shared.processes("commander-agent", made.ID)
	if len(agents) != 1 {
		t.Fatalf("got agents %v, want one", agents)
	}
	if err := syscall.Kill(agents[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "another agent runs", time.Minute, func(context.Context) (bool, error) {
		now := shared.processes("commander-agent", made.ID)
		return len(now) == 1 && now[0] != agents[0], fmt.Errorf("agents %v", now)
	})
	k := newKubectl(t, made.ID, shared.token)
	await(t, "kubectl works again", time.Minute, func(context.Context) (bool, error) {
		out, err := k.try("", "get", "nodes")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err == nil, err
	})
}
