package dhctl_test

import (
	"strings"
	"testing"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/worldtest"
)

// TestEveryStepOfADeletionEnds lets every step of a deletion fail in every way: the operation ends
// in time, says what is left, and ends with nothing left once the fault is gone.
func TestEveryStepOfADeletionEnds(t *testing.T) {
	t.Parallel()
	states := map[string]func(t *testing.T) (worldtest.World, pb.DHCTLClient, string){
		"a whole cluster": func(t *testing.T) (worldtest.World, pb.DHCTLClient, string) {
			t.Helper()
			return made(t, "a", "b")
		},
		"half made": func(t *testing.T) (worldtest.World, pb.DHCTLClient, string) {
			t.Helper()
			world := worldtest.World{Dir: t.TempDir()}
			fault(t, world, "EnsureMachines", "no space")
			client := server(t, world, 0)
			_, half := begin(t, client, start(machines("a"))).through()
			fault(t, world, "EnsureMachines", "")
			return world, client, half.GetState()
		},
		"without a state": func(t *testing.T) (worldtest.World, pb.DHCTLClient, string) {
			t.Helper()
			world, client, _ := made(t, "a")
			return world, client, ""
		},
		"with a broken state": func(t *testing.T) (worldtest.World, pb.DHCTLClient, string) {
			t.Helper()
			world, client, _ := made(t, "a")
			return world, client, "{broken"
		},
		"gone already": func(t *testing.T) (worldtest.World, pb.DHCTLClient, string) {
			t.Helper()
			world, client, blob := made(t, "a")
			if _, r := destroy(t, client, clusterDoc, blob); r.GetErr() != "" {
				t.Fatal(r.GetErr())
			}
			return world, client, blob
		},
	}
	for about, prepare := range states {
		for _, method := range []string{"Observe", "Release", "DeleteMachines", "DeleteBase"} {
			for _, how := range []string{"it is away", worldtest.Hang, worldtest.Panic} {
				t.Run(strings.Join([]string{about, method, how}, ", "), func(t *testing.T) {
					t.Parallel()
					world, client, blob := prepare(t)
					fault(t, world, method, how)
					first := destroyInTime(t, client, blob)
					mayFail := how == worldtest.Panic || method == "DeleteBase"
					if first.GetErr() != "" && !mayFail {
						t.Errorf("got %q: this step must not stand in the way", first.GetErr())
					}
					if first.GetErr() == "" && method != "DeleteBase" && cluster(t, world) != nil {
						t.Errorf("a success left %+v", cluster(t, world))
					}
					fault(t, world, method, "")
					if again := destroyInTime(t, client, first.GetState()); again.GetErr() != "" || cluster(t, world) != nil {
						t.Errorf("without the fault: got %q and %+v, want nothing left", again.GetErr(), cluster(t, world))
					}
				})
			}
		}
	}
}

// destroyInTime deletes a cluster with short limits for its steps.
func destroyInTime(t *testing.T, c pb.DHCTLClient, blob string) *pb.DestroyResult {
	t.Helper()
	s, err := c.Destroy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, m := ask(t, s,
		&pb.DestroyRequest{Message: &pb.DestroyRequest_Start{Start: &pb.DestroyStart{
			ClusterConfig: clusterDoc, State: blob,
			Options: &pb.DestroyStartOptions{CommanderMode: true, CommanderUuid: id, ResourcesTimeout: "100ms", DeckhouseTimeout: "100ms"},
		}}},
		&pb.DestroyRequest{Message: &pb.DestroyRequest_Continue{Continue: &pb.DestroyContinue{Continue: pb.Continue_CONTINUE_NEXT_PHASE}}},
		func(m *pb.DestroyResponse) (string, bool, bool) {
			return m.GetPhaseEnd().GetNextPhase(), m.GetPhaseEnd() != nil, m.GetResult() != nil
		})
	return m.GetResult()
}
