package fencing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

// world is a cluster and a group as one agent meets them; the test changes it.
type world struct {
	clock       *clock.Fake
	apiAway     bool
	maintenance bool
	unseen      bool
	unanswered  bool
	renewing    map[string]bool // whose kubelet renews
	renewed     map[string]time.Time
	alive       int
	lostByPeers bool
	total       int
	labeled     int // the number of nodes that the label says
	vouched     int
	nodes       []Member
	told        []string
	log         []string // what the agent did, in order
	*MemoryWatchdog
}

var errAway = errors.New("connection refused")

func (w *world) Members(context.Context) ([]Member, error) {
	if w.apiAway {
		return nil, errAway
	}
	return w.nodes, nil
}

func (w *world) Renewals(context.Context) (map[string]time.Time, error) { return w.renewed, nil }

func (w *world) Vouch(context.Context) error { w.vouched++; return nil }

func (w *world) Label(_ context.Context, _ v1.FencingMode, _ time.Duration, total int) error {
	if w.apiAway {
		return errAway
	}
	w.log = append(w.log, "label")
	w.labeled = total
	if w.unanswered {
		return errAway // the label is there, but the agent does not know
	}
	return nil
}

func (w *world) Unlabel(context.Context) error {
	if w.apiAway {
		return errAway
	}
	w.log = append(w.log, "unlabel")
	return nil
}

func (w *world) InMaintenance() (bool, error) {
	if w.unseen {
		return false, errUnseen
	}
	return w.maintenance, nil
}

func (w *world) Arm() error { w.log = append(w.log, "arm"); return w.MemoryWatchdog.Arm() }

func (w *world) Disarm() error {
	w.log = append(w.log, "disarm")
	return w.MemoryWatchdog.Disarm()
}

// peers are the group's side of the world; a type of its own because both sides have Members.
type peers struct{ *world }

func (p peers) Members() int           { return p.alive }
func (p peers) Total() int             { return p.total }
func (p peers) Counted(n int)          { p.total = n }
func (p peers) TellLost(lost []string) { p.told = lost }
func (p peers) SaidLost() bool         { return p.lostByPeers }

const timeout = 60 * time.Second

func newWorld() (*world, *Agent) {
	c := clock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	w := &world{
		clock: c, alive: 3, nodes: []Member{{Name: "a"}, {Name: "b"}, {Name: "c"}}, MemoryWatchdog: NewMemoryWatchdog(timeout, c),
		renewing: map[string]bool{"a": true, "b": true, "c": true}, renewed: map[string]time.Time{},
	}
	return w, &Agent{
		Node: "a", Timeout: timeout, APIBound: time.Second, Cluster: w, Peers: peers{w}, Watchdog: w,
		Clock: c, Log: slog.New(slog.DiscardHandler),
	}
}

// pass lets time go by, a tick at a time, with kubelets that renew.
func (w *world) pass(t *testing.T, a *Agent, by time.Duration) {
	t.Helper()
	for range by / TickOf(timeout) {
		for name, renewing := range w.renewing {
			if renewing && !w.apiAway {
				w.renewed[name] = w.clock.Now()
			}
		}
		if err := a.Tick(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(TickOf(timeout))
	}
}

func TestLostNodesOnlyAreReset(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*world)
		reset  bool
	}{
		{"nothing", func(*world) {}, false},
		{"control plane away", func(w *world) { w.apiAway = true }, false},
		{"control plane away and alone", func(w *world) { w.apiAway, w.alive = true, 1 }, true},
		{"cut off from peers", func(w *world) { w.alive = 1 }, false},
		{"kubelet dead", func(w *world) { w.renewing["a"] = false }, true},
		{"nobody can renew", func(w *world) { w.renewing = nil }, false},
		{"cut off from the API, peers see the lease stale", func(w *world) { w.apiAway, w.lostByPeers = true, true }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w, a := newWorld()
			w.pass(t, a, 2*time.Minute)
			if !w.Armed() || w.Expired() {
				t.Fatalf("armed %t, expired %t before anything happened", w.Armed(), w.Expired())
			}
			test.change(w)
			w.pass(t, a, 10*time.Minute)
			if w.Expired() != test.reset {
				t.Errorf("got reset %t, want %t; the agent did %v", w.Expired(), test.reset, w.log)
			}
		})
	}
}

// What the controller relies on: a node whose kubelet is dead is reset before its pods are released.
func TestResetComesBeforeRelease(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, 2*time.Minute)
	w.renewing["a"] = false
	died := w.clock.Now()
	for !w.Expired() {
		w.pass(t, a, TickOf(timeout))
	}
	if took := w.clock.Now().Sub(died); took >= ReleaseAfter(timeout) {
		t.Errorf("reset after %s, released after %s", took, ReleaseAfter(timeout))
	}
}

func TestAgentTellsWhoIsLost(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, time.Minute)
	w.renewing["b"] = false
	w.pass(t, a, 2*time.Minute)
	if !slices.Equal(w.told, []string{"b"}) {
		t.Errorf("told %v, want b", w.told)
	}
	w.renewing["b"] = true
	w.pass(t, a, time.Minute)
	if len(w.told) != 0 {
		t.Errorf("told %v, want nobody any more", w.told)
	}
}

func TestMaintenanceDisarmsAndItsEndArms(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, time.Minute)
	w.maintenance = true
	w.pass(t, a, time.Minute)
	w.maintenance = false
	w.pass(t, a, time.Minute)
	if want := []string{"arm", "label", "unlabel", "disarm", "arm", "label"}; !slices.Equal(w.log, want) {
		t.Errorf("got %v, want %v", w.log, want)
	}
}

// A node that is being worked on is never reset, even if the watchdog or the label is stuck.
func TestStuckWatchdogIsFedInMaintenance(t *testing.T) {
	t.Parallel()
	for name, stick := range map[string]func(*world){
		"watchdog": func(w *world) { w.Stick(errors.New("input/output error")) },
		"label":    func(w *world) { w.apiAway, w.alive = true, 1 },
	} {
		w, a := newWorld()
		w.pass(t, a, time.Minute)
		w.maintenance = true
		stick(w)
		w.pass(t, a, 10*time.Minute)
		if !w.Armed() || w.Expired() {
			t.Errorf("%s: armed %t, expired %t, want armed and fed", name, w.Armed(), w.Expired())
		}
	}
}

func TestStartInMaintenanceDoesNotArm(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.maintenance = true
	w.pass(t, a, time.Minute)
	if len(w.log) != 0 {
		t.Errorf("the agent did %v, want nothing", w.log)
	}
}

func TestUnknownMaintenanceDoesNotArm(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.unseen = true
	w.pass(t, a, time.Minute)
	if w.Armed() {
		t.Error("armed before the node was read")
	}
}

func TestEndOfTheAgentUnlabelsAndDisarms(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	w.pass(t, a, TickOf(timeout))
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if want := []string{"arm", "label", "unlabel", "disarm"}; !slices.Equal(w.log, want) || w.Armed() {
		t.Errorf("got %v, want %v", w.log, want)
	}
}

// TestALabelWithoutAnAnswerIsTakenBack ends the agent after the API server took the label but its
// answer was lost: the label must not stay on a node that nobody watches over.
func TestALabelWithoutAnAnswerIsTakenBack(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.unanswered = true
	w.pass(t, a, TickOf(timeout))
	if err := a.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.log[len(w.log)-2:]; got[0] != "unlabel" || got[1] != "disarm" {
		t.Errorf("got %v at the end", w.log)
	}
}

// A label that is left promises a reset, so the watchdog stays armed with it.
func TestEndWithoutTheAPILeavesTheWatchdogArmed(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, time.Minute)
	w.apiAway = true
	if err := a.stop(t.Context()); err == nil || !w.Armed() {
		t.Errorf("got %v, armed %t, want an error and an armed watchdog", err, w.Armed())
	}
}

// An agent counts by no fewer nodes than stand on its node, by which the controller counts.
func TestAgentCountsAsItWroteDown(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, time.Minute)
	if w.labeled != 3 {
		t.Errorf("the node says %d, want 3", w.labeled)
	}
	// It hears of two nodes only, from whoever counted so, and is cut off with one more.
	w.apiAway, w.total, w.alive = true, 2, 1
	w.pass(t, a, 5*time.Minute)
	if !w.Expired() {
		t.Error("alone of three the node goes on")
	}
	w, a = newWorld()
	w.nodes[0].Counted = 5 // as an agent before this one wrote
	w.pass(t, a, TickOf(timeout))
	if a.floor != 3 || w.labeled != 3 {
		t.Errorf("floor %d, the node says %d, want 3 once that is written", a.floor, w.labeled)
	}
}

// An agent that can tell says so after it told; one that has just started does not.
func TestAgentVouchesOnceItCanTell(t *testing.T) {
	t.Parallel()
	w, a := newWorld()
	w.pass(t, a, StaleLease)
	if w.vouched != 0 {
		t.Error("vouched before a stale lease could be known")
	}
	w.pass(t, a, time.Minute)
	if w.vouched == 0 {
		t.Error("never vouched")
	}
}
