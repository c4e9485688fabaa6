package fencing

import (
	"testing"
	"time"
)

func TestQuorum(t *testing.T) {
	t.Parallel()
	for total, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3} {
		if got := Quorum(total); got != want {
			t.Errorf("of %d: got %d, want %d", total, got, want)
		}
	}
}

func TestTickIsNeverZero(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{time.Second: 250 * time.Millisecond, 20 * time.Second: 5 * time.Second, time.Hour: 10 * time.Second} {
		if got := TickOf(timeout); got != want {
			t.Errorf("%s: got %s, want %s", timeout, got, want)
		}
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	well := View{Armed: true, Members: 3, Total: 3, APIReached: true, OwnFresh: true, CanTell: true}
	for _, test := range []struct {
		name   string
		change func(*View)
		want   Action
	}{
		{"all is well", func(*View) {}, Feed},
		{"control plane away, majority alive", func(v *View) { v.APIReached = false }, Feed},
		{"control plane away, bare majority alive", func(v *View) { v.APIReached, v.Members = false, 2 }, Feed},
		{"control plane away, alone", func(v *View) { v.APIReached, v.Members = false, 1 }, Starve},
		{"cut off from peers only", func(v *View) { v.Members = 1 }, Fallback},
		{"even split, this half sees the API", func(v *View) { v.Members, v.Total = 2, 4 }, Fallback},
		{"even split, this half does not", func(v *View) { v.Members, v.Total, v.APIReached = 2, 4, false }, Starve},
		{"cut off from the API only, lease still renewed", func(v *View) { v.APIReached = false }, Feed},
		{"cut off from the API only, peers see its lease stale", func(v *View) { v.APIReached, v.PeersSayLost = false, true }, Starve},
		{"own lease old, others as well", func(v *View) { v.OwnFresh = false }, Feed},
		{"just started, own lease fresh", func(v *View) { v.CanTell = false }, Feed},
		{"just started, own lease old", func(v *View) { v.OwnFresh, v.CanTell = false, false }, Feed},
		{"just started, own lease old, alone", func(v *View) { v.OwnFresh, v.CanTell, v.Members = false, false, 1 }, Starve},
		{"just started, own lease old, told to be lost", func(v *View) { v.OwnFresh, v.CanTell, v.PeersSayLost = false, false, true }, Starve},
		{"kubelet is dead", func(v *View) { v.LeaseLost = true }, Starve},
		{"single node, control plane away", func(v *View) { v.Members, v.Total, v.APIReached = 1, 1, false }, Feed},
		{"single node, stale lease", func(v *View) { v.Members, v.Total, v.LeaseLost = 1, 1, true }, Feed},
		{"not armed", func(v *View) { v.Armed = false }, Feed},
		{"maintenance", func(v *View) { v.Maintenance = true }, Disarm},
		{"maintenance while lost", func(v *View) { v.Maintenance, v.APIReached, v.Members = true, false, 1 }, Disarm},
		{"maintenance from the start", func(v *View) { v.Maintenance, v.Armed = true, false }, Idle},
	} {
		v := well
		test.change(&v)
		if got := Judge(v); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}
