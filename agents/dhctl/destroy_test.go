package dhctl_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/worldtest"
)

// stream is what the streams of all operations can do.
type stream[Req, Resp any] interface {
	Send(*Req) error
	Recv() (*Resp, error)
	CloseSend() error
}

// ask starts an operation and answers each phase end with go on, until its result is there.
func ask[Req, Resp any](t *testing.T, s stream[Req, Resp], start, goOn *Req, ended func(*Resp) (next string, phaseEnd, result bool)) ([]string, *Resp) {
	t.Helper()
	if err := s.Send(start); err != nil {
		t.Fatal(err)
	}
	var walk []string
	for {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		next, phaseEnd, result := ended(m)
		switch {
		case phaseEnd:
			walk = append(walk, next)
			if err := s.Send(goOn); err != nil {
				t.Fatal(err)
			}
		case result:
			if err := s.CloseSend(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Recv(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return walk, m
		}
	}
}

func destroy(t *testing.T, c pb.DHCTLClient, cluster, blob string) ([]string, *pb.DestroyResult) {
	t.Helper()
	s, err := c.Destroy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	walk, m := ask(t, s,
		&pb.DestroyRequest{Message: &pb.DestroyRequest_Start{Start: &pb.DestroyStart{
			ClusterConfig: cluster, State: blob, Options: &pb.DestroyStartOptions{CommanderMode: true, CommanderUuid: id},
		}}},
		&pb.DestroyRequest{Message: &pb.DestroyRequest_Continue{Continue: &pb.DestroyContinue{Continue: pb.Continue_CONTINUE_NEXT_PHASE}}},
		func(m *pb.DestroyResponse) (string, bool, bool) {
			return m.GetPhaseEnd().GetNextPhase(), m.GetPhaseEnd() != nil, m.GetResult() != nil
		})
	return walk, m.GetResult()
}

func TestDestroyLeavesNothing(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a", "b")
	walk, r := destroy(t, client, clusterDoc, blob)
	if want := []string{"DeleteResources", "AllNodes", "BaseInfra", ""}; r.GetErr() != "" || !slices.Equal(walk, want) {
		t.Errorf("got %q after %v, want success after %v", r.GetErr(), walk, want)
	}
	if c := cluster(t, world); c != nil {
		t.Errorf("cluster: got %+v, want none", c)
	}
	if _, again := destroy(t, client, clusterDoc, r.GetState()); again.GetErr() != "" {
		t.Errorf("once more: got %q, want success", again.GetErr())
	}
}

func TestDestroyEndsWhenTheClusterIsBroken(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Observe", "Release"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			world, client, blob := made(t, "a")
			fault(t, world, method, "the API server is away")
			// Documents of an older product must not stand in the way either.
			if _, r := destroy(t, client, clusterDoc+"colour: red\n", blob); r.GetErr() != "" || cluster(t, world) != nil {
				t.Errorf("got %q and %+v, want nothing left", r.GetErr(), cluster(t, world))
			}
		})
	}
}

func TestDestroyGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	world, client, blob := made(t, "a")
	fault(t, world, "DeleteBase", "no power")
	_, failed := destroy(t, client, clusterDoc, blob)
	if !strings.Contains(failed.GetErr(), "BaseInfra: no power") {
		t.Fatalf("got %q, want a failure in BaseInfra", failed.GetErr())
	}
	fault(t, world, "DeleteBase", "")
	walk, r := destroy(t, client, clusterDoc, failed.GetState())
	if r.GetErr() != "" || !slices.Equal(walk, []string{"BaseInfra", ""}) {
		t.Errorf("second attempt: got %q after %v, want BaseInfra alone", r.GetErr(), walk)
	}
}

func TestAbortDeletesAHalfMadeCluster(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	fault(t, world, "EnsureMachines", "no space")
	client := server(t, world, 0)
	_, half := begin(t, client, start(machines("a"))).through()
	s, err := client.Abort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	walk, m := ask(t, s,
		&pb.AbortRequest{Message: &pb.AbortRequest_Start{Start: &pb.AbortStart{
			ClusterConfig: clusterDoc, State: half.GetState(), Options: &pb.AbortStartOptions{CommanderMode: true, CommanderUuid: id},
		}}},
		&pb.AbortRequest{Message: &pb.AbortRequest_Continue{Continue: &pb.AbortContinue{Continue: pb.Continue_CONTINUE_NEXT_PHASE}}},
		func(m *pb.AbortResponse) (string, bool, bool) {
			return m.GetPhaseEnd().GetNextPhase(), m.GetPhaseEnd() != nil, m.GetResult() != nil
		})
	if m.GetResult().GetErr() != "" || !slices.Equal(walk, []string{"AllNodes", "BaseInfra", ""}) || cluster(t, world) != nil {
		t.Errorf("got %q after %v with %+v left, want nothing left", m.GetResult().GetErr(), walk, cluster(t, world))
	}
}
