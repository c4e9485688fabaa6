package dhctl_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/state"
	"commander/agents/dhctl/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = "6c1c2a3e-9f0d-4f8e-8d0c-0a7d4a1b2c3d"

const clusterDoc = `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: World, prefix: blue}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
`

const resourcesDoc = `
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: deckhouse.io/v1alpha1
kind: ModuleConfig
metadata: {name: commander-agent}
spec: {enabled: true, settings: {commanderUrl: "https://localhost:8443", token: secret}}
`

// machines is the provider's document.
func machines(names ...string) string {
	doc := "apiVersion: v1\nkind: WorldConfiguration\nmachines:\n"
	for _, n := range names {
		name, class, _ := strings.Cut(n, "=")
		doc += "  " + name + ": small" + class + "\n"
	}
	return doc
}

// server serves the DHCTL service of a world without any process around it.
func server(t *testing.T, world worldtest.World, silence time.Duration) pb.DHCTLClient {
	t.Helper()
	s := &dhctl.Server{
		Engines: map[string]dhctl.Engine{"World": world}, Connect: world.Connect,
		CacheDir: t.TempDir(), LockDir: world.Dir, LockWait: 100 * time.Millisecond,
		Silence: silence, Log: slog.New(slog.DiscardHandler),
	}
	l := bufconn.Listen(1 << 20)
	g := grpc.NewServer(grpc.WaitForHandlers(true))
	pb.RegisterDHCTLServer(g, s)
	served := make(chan error, 1)
	go func() { served <- g.Serve(l) }()
	conn, err := grpc.NewClient("passthrough:x", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		g.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return pb.NewDHCTLClient(conn)
}

// bootstrap is one conversation by hand.
type bootstrap struct {
	t *testing.T
	pb.DHCTL_BootstrapClient
}

func begin(t *testing.T, c pb.DHCTLClient, start *pb.BootstrapStart) bootstrap {
	t.Helper()
	s, err := c.Bootstrap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := bootstrap{t, s}
	if start != nil {
		b.send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Start{Start: start}})
	}
	return b
}

func (b bootstrap) send(m *pb.BootstrapRequest) {
	b.t.Helper()
	if err := b.Send(m); err != nil {
		b.t.Fatal(err)
	}
}

func (b bootstrap) goOn(kind pb.Continue, text string) {
	b.t.Helper()
	b.send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Continue{Continue: &pb.BootstrapContinue{Continue: kind, Err: text}}})
}

func (b bootstrap) cancel() {
	b.t.Helper()
	b.send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Cancel{Cancel: &pb.BootstrapCancel{}}})
}

// next passes over progress and returns the next message of another kind.
func (b bootstrap) next() *pb.BootstrapResponse {
	b.t.Helper()
	for {
		m, err := b.Recv()
		if err != nil {
			b.t.Fatal(err)
		}
		if m.GetProgress() == nil {
			return m
		}
	}
}

func (b bootstrap) phaseEnd() *pb.BootstrapPhaseEnd {
	b.t.Helper()
	for {
		m := b.next()
		if m.GetPhaseEnd() != nil {
			return m.GetPhaseEnd()
		}
		if m.GetLogs() == nil {
			b.t.Fatalf("got %v, want a phase end", m)
		}
	}
}

// result passes over logs, and closes the conversation properly.
func (b bootstrap) result() *pb.BootstrapResult {
	b.t.Helper()
	for {
		m := b.next()
		if m.GetLogs() != nil {
			continue
		}
		if m.GetResult() == nil {
			b.t.Fatalf("got %v, want a result", m)
		}
		if err := b.CloseSend(); err != nil {
			b.t.Fatal(err)
		}
		if more, err := b.Recv(); !errors.Is(err, io.EOF) {
			b.t.Fatalf("after the result: got %v, %v; want the end", more, err)
		}
		return m.GetResult()
	}
}

// through says go on at every phase end and returns the phases and the result.
func (b bootstrap) through() (walk []string, r *pb.BootstrapResult) {
	b.t.Helper()
	for {
		m := b.next()
		switch {
		case m.GetPhaseEnd() != nil:
			walk = append(walk, m.GetPhaseEnd().GetNextPhase())
			b.goOn(pb.Continue_CONTINUE_NEXT_PHASE, "")
		case m.GetResult() != nil:
			if err := b.CloseSend(); err != nil {
				b.t.Fatal(err)
			}
			if _, err := b.Recv(); !errors.Is(err, io.EOF) {
				b.t.Fatalf("end of the conversation: got %v, want EOF", err)
			}
			return walk, m.GetResult()
		}
	}
}

func start(provider string) *pb.BootstrapStart {
	return &pb.BootstrapStart{
		ClusterConfig: clusterDoc, ProviderSpecificClusterConfig: provider, Resources: resourcesDoc,
		Options: &pb.BootstrapStartOptions{CommanderMode: true, CommanderUuid: id},
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		talk func(b bootstrap)
		err  string // what the result's error has in it; empty for none
	}{
		{"stop at a phase end", func(b bootstrap) {
			b.phaseEnd()
			b.goOn(pb.Continue_CONTINUE_STOP_OPERATION, "")
		}, ""},
		{"the caller's error", func(b bootstrap) {
			b.phaseEnd()
			b.goOn(pb.Continue_CONTINUE_ERROR, "database away")
		}, "database away"},
		{"a continue that says nothing", func(b bootstrap) {
			b.phaseEnd()
			b.goOn(pb.Continue_CONTINUE_UNSPECIFIED, "")
		}, "said nothing"},
		{"cancel while waiting is a stop", func(b bootstrap) {
			b.phaseEnd()
			b.cancel()
		}, ""},
		{"a second start is ignored", func(b bootstrap) {
			b.phaseEnd()
			b.send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Start{Start: start("nonsense")}})
			b.goOn(pb.Continue_CONTINUE_NEXT_PHASE, "")
			b.phaseEnd()
			b.goOn(pb.Continue_CONTINUE_STOP_OPERATION, "")
		}, ""},
		{"signs of life are no answers", func(b bootstrap) {
			b.phaseEnd()
			b.send(&pb.BootstrapRequest{})
			b.goOn(pb.Continue_CONTINUE_STOP_OPERATION, "")
		}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := begin(t, server(t, worldtest.World{Dir: t.TempDir()}, 0), start(machines("a")))
			c.talk(b)
			r := b.result()
			if (c.err == "") != (r.GetErr() == "") || !strings.Contains(r.GetErr(), c.err) {
				t.Errorf("error: got %q, want %q in it", r.GetErr(), c.err)
			}
			entries, err := state.Decode(r.GetState())
			if err != nil || string(entries["uuid"]) != id {
				t.Errorf("state: got %v, %v; want the cluster's id in it", entries, err)
			}
		})
	}
}

func TestContinueBeforeTheStartIsIgnored(t *testing.T) {
	t.Parallel()
	b := begin(t, server(t, worldtest.World{Dir: t.TempDir()}, 0), nil)
	b.goOn(pb.Continue_CONTINUE_ERROR, "too early")
	b.cancel()
	b.send(&pb.BootstrapRequest{Message: &pb.BootstrapRequest_Start{Start: start(machines("a"))}})
	if _, r := b.through(); r.GetErr() != "" {
		t.Errorf("error: got %q, want none", r.GetErr())
	}
}

func TestContinueWhileAPhaseRunsIsIgnored(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	fault(t, world, "EnsureBase", worldtest.Hang)
	b := begin(t, server(t, world, 0), start(machines("a")))
	b.phaseEnd()
	b.goOn(pb.Continue_CONTINUE_NEXT_PHASE, "")
	if m := b.next(); m.GetLogs() == nil {
		t.Fatalf("got %v, want the log of a phase at work", m)
	}
	b.goOn(pb.Continue_CONTINUE_STOP_OPERATION, "")
	b.cancel()
	if r := b.result(); !strings.Contains(r.GetErr(), "cancelled by the caller") || !strings.Contains(r.GetErr(), "BaseInfra") {
		t.Errorf("error: got %q, want a cancellation in BaseInfra", r.GetErr())
	}
}

func TestPanicIsAnErrorBesideTheState(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	fault(t, world, "EnsureMachines", worldtest.Panic)
	_, r := begin(t, server(t, world, 0), start(machines("a"))).through()
	if !strings.Contains(r.GetErr(), "panic: the world is broken") || !strings.Contains(r.GetErr(), "worldtest") {
		t.Errorf("error: got %q, want the panic with its stack", r.GetErr())
	}
	if entries, _ := state.Decode(r.GetState()); !strings.Contains(string(entries["phases.json"]), "InstallDeckhouse") {
		t.Errorf("state: got %v, want the finished phases in it", entries)
	}
}

func TestSilentCallerLosesItsOperation(t *testing.T) {
	t.Parallel()
	world := worldtest.World{Dir: t.TempDir()}
	fault(t, world, "EnsureBase", worldtest.Hang)
	client := server(t, world, 50*time.Millisecond)
	b := begin(t, client, start(machines("a")))
	for {
		m, err := b.Recv()
		if err != nil {
			if status.Code(err) != codes.Canceled || !strings.Contains(err.Error(), "silent") {
				t.Errorf("end of the conversation: got %v, want Canceled for silence", err)
			}
			break
		}
		if m.GetPhaseEnd() != nil {
			b.goOn(pb.Continue_CONTINUE_NEXT_PHASE, "")
		}
		if r := m.GetResult(); r != nil && !strings.Contains(r.GetErr(), "silent") {
			t.Errorf("error: got %q, want silence", r.GetErr())
		}
	}
	fault(t, world, "EnsureBase", "")
	if _, r := begin(t, server(t, world, 0), start(machines("a"))).through(); r.GetErr() != "" {
		t.Errorf("after the silent one: got %q, want a free cluster", r.GetErr())
	}
}

func TestSecondOperationOnAClusterIsBusy(t *testing.T) {
	t.Parallel()
	client := server(t, worldtest.World{Dir: t.TempDir()}, 0)
	first := begin(t, client, start(machines("a")))
	first.phaseEnd()
	second := begin(t, client, start(machines("a"))).result()
	if !strings.HasPrefix(second.GetErr(), pb.BusyPrefix+"Bootstrap in process") {
		t.Errorf("second operation: got %q, want busy with a Bootstrap", second.GetErr())
	}
	first.goOn(pb.Continue_CONTINUE_STOP_OPERATION, "")
	first.result()
}

func fault(t *testing.T, world worldtest.World, method, what string) {
	t.Helper()
	if err := world.Break(method, what); err != nil {
		t.Fatal(err)
	}
}
