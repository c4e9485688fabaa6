package dhctl_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/state"
	"commander/agents/dhctl/worldtest"
)

// converged is what a Converge said.
type converged struct {
	dhctl.ConvergeResult
	walk  []string // next phases, with "!" when critical
	err   string
	state string // of the result
	held  string // of the last phase end: what remains when the result is lost
}

func convergeTo(t *testing.T, c pb.DHCTLClient, cluster, provider, blob, approved string) converged {
	t.Helper()
	s, err := c.Converge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send := func(m *pb.ConvergeRequest) {
		if err := s.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	send(&pb.ConvergeRequest{Message: &pb.ConvergeRequest_Start{Start: &pb.ConvergeStart{
		ClusterConfig: cluster, ProviderSpecificClusterConfig: provider, State: blob, ApproveDestructionChangeId: approved,
		Options: &pb.ConvergeStartOptions{CommanderMode: true, CommanderUuid: id},
	}}})
	var got converged
	for {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if e := m.GetPhaseEnd(); e != nil {
			mark := ""
			if e.GetNextPhaseCritical() {
				mark = "!"
			}
			got.walk = append(got.walk, e.GetNextPhase()+mark)
			if got.held, err = state.Encode(e.GetCompletedPhaseState()); err != nil {
				t.Fatal(err)
			}
			send(&pb.ConvergeRequest{Message: &pb.ConvergeRequest_Continue{Continue: &pb.ConvergeContinue{Continue: pb.Continue_CONTINUE_NEXT_PHASE}}})
		}
		if r := m.GetResult(); r != nil {
			got.err, got.state = r.GetErr(), r.GetState()
			if r.GetResult() != "" {
				if err := json.Unmarshal([]byte(r.GetResult()), &got.ConvergeResult); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.CloseSend(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Recv(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return got
		}
	}
}

func names(t *testing.T, w worldtest.World) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(cluster(t, w).Machines))
}

func TestConvergeInSyncTouchesNothing(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	before := len(world.Calls())
	got := convergeTo(t, client, clusterDoc, machines("a"), blob, "")
	if got.err != "" || got.Status != dhctl.ConvergeInSync || !slices.Equal(got.walk, []string{"Check", ""}) {
		t.Errorf("got %+v, want in sync after the check", got)
	}
	if calls := world.Calls()[before:]; !slices.Equal(calls, []string{"Observe"}) {
		t.Errorf("calls: got %v, want a look alone", calls)
	}
}

func TestConvergeAddsMachines(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	got := convergeTo(t, client, clusterDoc, machines("a", "b", "c"), blob, "")
	if got.err != "" || got.Status != dhctl.ConvergeConverged {
		t.Fatalf("got %+v, want converged", got)
	}
	if want := []string{"Check", "BaseInfra", "AllNodes", "DeckhouseConfiguration", ""}; !slices.Equal(got.walk, want) {
		t.Errorf("phases: got %v, want %v", got.walk, want)
	}
	if have := names(t, world); !slices.Equal(have, []string{"a", "b", "c"}) {
		t.Errorf("machines: got %v, want three", have)
	}
	if after, _ := checked(t, client, clusterDoc, machines("a", "b", "c"), id); after.Status != dhctl.InSync {
		t.Errorf("check afterwards: got %+v, want in sync", after)
	}
}

// TestWhatSomebodyDidByHandIsUndone takes a machine away behind everybody's back.
func TestWhatSomebodyDidByHandIsUndone(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a", "b")
	there := cluster(t, world)
	delete(there.Machines, "b")
	if err := world.Put(id, there); err != nil {
		t.Fatal(err)
	}
	if found, _ := checked(t, client, clusterDoc, machines("a", "b"), id); found.Status != dhctl.OutOfSync {
		t.Fatalf("check: got %+v, want out of sync", found)
	}
	got := convergeTo(t, client, clusterDoc, machines("a", "b"), blob, "")
	if got.err != "" || got.Status != dhctl.ConvergeConverged {
		t.Errorf("got %+v, want converged", got)
	}
	if have := names(t, world); !slices.Equal(have, []string{"a", "b"}) {
		t.Errorf("machines: got %v, want what was declared", have)
	}
}

func TestConvergeUpgradesKubernetes(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	got := convergeTo(t, client, strings.Replace(clusterDoc, "1.37", "1.38", 1), machines("a"), blob, "")
	if got.err != "" || got.Status != dhctl.ConvergeConverged || got.walk[1] != "BaseInfra!" {
		t.Errorf("got %+v, want converged with a critical BaseInfra", got)
	}
	if v := cluster(t, world).Version; v != "1.38" {
		t.Errorf("version: got %s, want 1.38", v)
	}
}

func TestConvergeRefusesADowngrade(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	got := convergeTo(t, client, strings.Replace(clusterDoc, "1.37", "1.36", 1), machines("a"), blob, "")
	if !strings.Contains(got.err, "cannot be downgraded") || cluster(t, world).Version != "1.37" {
		t.Errorf("got %+v, want a refusal", got)
	}
}

func TestConvergeDestroysOnlyWhatWasApproved(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a", "b", "c")
	asked := convergeTo(t, client, clusterDoc, machines("a", "b"), blob, "")
	if asked.err != "" || asked.Status != dhctl.ConvergeNeedApproval || asked.CheckResult == nil || asked.CheckResult.DestructiveChangeID == "" {
		t.Fatalf("without approval: got %+v, want to be asked for one", asked)
	}
	approval := asked.CheckResult.DestructiveChangeID
	if other := convergeTo(t, client, clusterDoc, machines("a"), blob, approval); other.Status != dhctl.ConvergeNeedApproval {
		t.Errorf("approval of something else: got %+v, want to be asked again", other)
	}
	if have := names(t, world); len(have) != 3 {
		t.Fatalf("machines: got %v, want all three still", have)
	}
	done := convergeTo(t, client, clusterDoc, machines("a", "b"), asked.state, approval)
	if done.err != "" || done.Status != dhctl.ConvergeConverged || !slices.Contains(done.walk, "AllNodes!") {
		t.Errorf("with approval: got %+v, want converged with critical AllNodes", done)
	}
	if have := names(t, world); !slices.Equal(have, []string{"a", "b"}) {
		t.Errorf("machines: got %v, want a and b", have)
	}
}

func TestConvergeGoesOnWithItsApproval(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a", "b", "c")
	approval := convergeTo(t, client, clusterDoc, machines("a"), blob, "").CheckResult.DestructiveChangeID
	fault(t, world, "EnsureMachines", "no space")
	failed := convergeTo(t, client, clusterDoc, machines("a"), blob, approval)
	if !strings.Contains(failed.err, "AllNodes: no space") {
		t.Fatalf("got %+v, want no space in AllNodes", failed)
	}
	fault(t, world, "EnsureMachines", "")
	// One of the two went before the failure, so that a fresh check would have another id.
	c := cluster(t, world)
	delete(c.Machines, "b")
	if err := world.Put(id, c); err != nil {
		t.Fatal(err)
	}
	done := convergeTo(t, client, clusterDoc, machines("a"), failed.held, approval)
	if done.err != "" || done.Status != dhctl.ConvergeConverged || done.walk[0] != "AllNodes!" {
		t.Errorf("second attempt: got %+v, want it to go on with AllNodes", done)
	}
	if have := names(t, world); !slices.Equal(have, []string{"a"}) {
		t.Errorf("machines: got %v, want a", have)
	}
}

func TestConvergeStopsWhenMoreWouldBeDestroyed(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	fault(t, world, "EnsureMachines", "no space")
	failed := convergeTo(t, client, clusterDoc, machines("a", "b"), blob, "")
	fault(t, world, "EnsureMachines", "")
	c := cluster(t, world)
	c.Machines["stranger"] = dhctl.Machine{Group: "worker"}
	if err := world.Put(id, c); err != nil {
		t.Fatal(err)
	}
	got := convergeTo(t, client, clusterDoc, machines("a", "b"), failed.held, "")
	if !strings.Contains(got.err, "node stranger would be destroyed without approval") {
		t.Errorf("got %+v, want a refusal", got)
	}
}
