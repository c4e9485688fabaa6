package fencing

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"commander/agents/node/fencing/fencingpb"
	"commander/internal/clock"
)

// quick is gossip over loopback.
var quick = Gossip{
	ProbeInterval: 100 * time.Millisecond, ProbeTimeout: 50 * time.Millisecond, SuspicionMult: 2, IndirectChecks: 3,
	GossipInterval: 20 * time.Millisecond, RetransmitMult: 4, GossipToTheDeadTime: 2 * time.Second,
}

func member(t *testing.T, name, group string, onChange func(Change)) *Peers {
	t.Helper()
	p, err := NewPeers(quick, name, group, "127.0.0.1", onChange, clock.System{}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.list.Shutdown() })
	return p
}

func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			t.Fatalf("never so: %s", what)
		case <-tick.C:
		}
	}
}

func TestPeersLearnFromEachOther(t *testing.T) {
	t.Parallel()
	a, b, c := member(t, "a", "worker", nil), member(t, "b", "worker", nil), member(t, "c", "worker", nil)
	a.Counted(3)
	for _, p := range []*Peers{b, c} {
		if err := p.Join([]string{a.Address()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*Peers{a, b, c} {
		eventually(t, "all three know each other and the count", func() bool { return p.Members() == 3 && p.Total() == 3 })
	}
	b.Counted(4)
	eventually(t, "the newest count wins", func() bool { return a.Total() == 4 && c.Total() == 4 })

	b.TellLost([]string{"c"})
	eventually(t, "c hears that its lease is lost", c.SaidLost)
	if a.SaidLost() {
		t.Error("a took the word about c for itself")
	}
	b.TellLost(nil)
	eventually(t, "c hears that it is not any more", func() bool { return !c.SaidLost() })
	b.TellLost([]string{"c"})
	eventually(t, "c hears it again", c.SaidLost)
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the word of a member that is gone does not count", func() bool { return !c.SaidLost() })
}

func TestGroupsStayApart(t *testing.T) {
	t.Parallel()
	a, b := member(t, "a", "worker", nil), member(t, "b", "front", nil)
	if err := b.Join([]string{a.Address()}); err == nil {
		t.Error("a member of another group was let in")
	}
	if a.Members() != 1 || b.Members() != 1 {
		t.Errorf("got %d and %d members, want each alone", a.Members(), b.Members())
	}
}

func TestLeavingIsNotDying(t *testing.T) {
	t.Parallel()
	changes := make(chan Change, 16)
	a := member(t, "a", "worker", func(c Change) { changes <- c })
	for _, test := range []struct {
		name     string
		graceful bool
		end      func(*Peers) error
	}{
		{"leaves", true, (*Peers).Leave},
		{"dies", false, func(p *Peers) error { return p.list.Shutdown() }},
	} {
		p := member(t, test.name, "worker", nil)
		if err := p.Join([]string{a.Address()}); err != nil {
			t.Fatal(err)
		}
		if c := <-changes; c.Name != test.name || !c.Joined {
			t.Errorf("got %+v, want that it joined", c)
		}
		if err := test.end(p); err != nil {
			t.Fatal(err)
		}
		if c := <-changes; c.Name != test.name || c.Joined || c.Graceful != test.graceful {
			t.Errorf("got %+v, want that it %s", c, test.name)
		}
	}
}

func TestProgramsOfTheNodeAreTold(t *testing.T) {
	t.Parallel()
	hub := NewHub(time.Millisecond, clock.System{})
	a := member(t, "a", "worker", hub.Publish)
	server := &Server{Node: "a", Alive: a.Alive, Hub: hub, Clock: clock.System{}}
	socket := filepath.Join(t.TempDir(), "f.sock")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, socket) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client := fencingpb.NewFencingClient(connection)
	events, err := client.StreamEvents(ctx, &fencingpb.Empty{}, grpc.WaitForReady(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := events.Header(); err != nil {
		t.Fatal(err)
	}
	b := member(t, "b", "worker", nil)
	if err := b.Join([]string{a.Address()}); err != nil {
		t.Fatal(err)
	}
	expect := func(want fencingpb.EventType) {
		t.Helper()
		e, err := events.Recv()
		if err != nil || e.GetType() != want || e.GetNode().GetName() != "b" || e.GetSourceName() != "a" {
			t.Fatalf("got %v, %v, want %s of b", e, err, want)
		}
	}
	expect(fencingpb.EventType_JOIN)
	all, err := client.GetAll(ctx, &fencingpb.Empty{})
	if err != nil || len(all.GetNodes()) != 2 || all.GetNodes()[1].GetAddresses()["InternalIP"] != "127.0.0.1" {
		t.Fatalf("got %v, %v, want both with addresses", all, err)
	}
	if err := b.Leave(); err != nil {
		t.Fatal(err)
	}
	expect(fencingpb.EventType_LEFT)
	again := member(t, "b", "worker", nil)
	if err := again.Join([]string{a.Address()}); err != nil {
		t.Fatal(err)
	}
	expect(fencingpb.EventType_JOIN)
	// A farewell that is still on its way may throw b out once more until b objects.
	eventually(t, "b is back, and it is known when it was gone", func() bool {
		all, err := client.GetAll(ctx, &fencingpb.Empty{})
		return err == nil && len(all.GetNodes()) == 2 && all.GetNodes()[1].GetPrevDisconnectTime() != nil
	})
}

func TestEventsOfOneMemberKeepTheirDistance(t *testing.T) {
	t.Parallel()
	c := clock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	hub := NewHub(600*time.Millisecond, c)
	l := hub.listen()
	change := func(joined bool) { hub.Publish(Change{Peer: Peer{Name: "b"}, Joined: joined}) }
	change(true)
	if now, _ := hub.due(l); len(now) != 1 || !now[0].Joined {
		t.Fatalf("got %v, want the first at once", now)
	}
	change(false)
	change(true)
	change(false)
	if now, again := hub.due(l); len(now) != 0 || again != 600*time.Millisecond {
		t.Errorf("got %v and %s, want to wait", now, again)
	}
	c.Advance(600 * time.Millisecond)
	if now, again := hub.due(l); len(now) != 1 || now[0].Joined || again != 0 {
		t.Errorf("got %v and %s, want the last state only", now, again)
	}
}
