package model

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"commander/agents/node/fencing"
)

// state is how one victim and one helper are cut off. Another member is always well, so that a Lease
// is fresh, but it is only heard if the cut leaves it.
type state struct {
	kubelet bool // of the victim
	victim  reach
	helper  reach
	cut     string // between victim, helper and the third
	growth  bool   // two more join on the side of the third
	restart bool   // the agent of the helper starts anew
}

// states are all of them.
func states() []state {
	var all []state
	for _, kubelet := range []bool{true, false} {
		for _, victim := range []reach{yes, no, flap, still} {
			for _, helper := range []reach{yes, no, flap} {
				for _, cut := range []string{"", "vh|t", "v|h|t"} {
					for _, extra := range []int{0, 1, 2} {
						all = append(all, state{kubelet, victim, helper, cut, extra == 1, extra == 2})
					}
				}
			}
		}
	}
	return all
}

// enter makes a world be so.
func (s state) enter(w *world) {
	victim, helper := w.machines[0], w.machines[1]
	victim.kubelet, victim.agent, helper.agent = s.kubelet, s.victim, s.helper
	if s.growth && len(w.machines) == 3 {
		w.add()
		w.add()
	}
	if s.restart && !helper.dead {
		helper.boot()
	}
	clear(w.cut)
	for third := 2; third < len(w.machines); third++ {
		switch s.cut {
		case "vh|t":
			w.cut[[2]int{0, third}], w.cut[[2]int{1, third}] = true, true
		case "v|h|t":
			w.cut[[2]int{0, third}], w.cut[[2]int{1, third}] = true, true
		}
	}
	if s.cut == "v|h|t" {
		w.cut[[2]int{0, 1}] = true
	}
}

// explore walks through every pair of states and then stays.
func explore(f faults) (paths, releases int, err error) {
	const timeout = 40 * time.Second
	all := states()
	for i, first := range all {
		for j, second := range all {
			w := newWorld(3, timeout, 10*time.Second)
			w.faults = f
			paths++
			stay := []time.Duration{20 * time.Second, 50 * time.Second}[(i+j)%2]
			err := w.pass(time.Minute)
			for _, s := range []state{first, second} {
				if err == nil {
					s.enter(w)
					err = w.pass(stay)
				}
			}
			if err == nil {
				err = w.pass(fencing.ReleaseAfter(timeout) + 30*time.Second)
			}
			if err != nil {
				return paths, releases, fmt.Errorf("state %d %+v for %s, then %d %+v: %w", i, first, stay, j, second, err)
			}
			releases += len(w.released)
		}
	}
	return paths, releases, nil
}

// Every pair of states, in three nodes that may become five: a node is always reset before it is released.
func TestNeverTwoOwners(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the paths are too many for the race detector; `make test` runs them without it")
	}
	paths, releases, err := explore(faults{})
	if err != nil {
		t.Fatal(err)
	}
	if releases == 0 {
		t.Error("no node was ever released: the model shows nothing")
	}
	t.Logf("%d paths, %d nodes released", paths, releases)
}

// Each planted fault makes the model find two owners.
func TestPlantedFaultsAreFound(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("the paths are too many for the race detector; `make test` runs them without it")
	}
	for name, f := range map[string]faults{
		"released too early": {early: 80 * time.Second}, "deaf agents": {deaf: true}, "blind agents are not counted": {trusting: true},
		"a group that grew behind a cut": {grown: true},
	} {
		if paths, _, err := explore(f); err == nil {
			t.Errorf("%s: not found in %d paths", name, paths)
		} else {
			t.Logf("%s: found after %d paths: %v", name, paths, err)
		}
	}
}

// Thousands of invented histories of five nodes whose clocks are off, with faults of every kind.
func TestNeverTwoOwnersInManyHistories(t *testing.T) {
	t.Parallel()
	histories := 2500
	if raceEnabled {
		histories = 200
	}
	releases := 0
	for seed := range uint64(histories) {
		w, err := history(seed, faults{})
		if err != nil {
			t.Fatalf("history %d: %v", seed, err)
		}
		releases += len(w.released)
	}
	if releases == 0 {
		t.Error("no node was ever released: the histories show nothing")
	}
	t.Logf("%d histories, %d nodes released", histories, releases)
}

func history(seed uint64, f faults) (*world, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	timeout := []time.Duration{4 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute}[random.IntN(4)]
	w := newWorld(2+random.IntN(4), timeout, min(fencing.TickOf(timeout), 5*time.Second))
	w.faults = f
	for _, m := range w.machines {
		m.clock.Advance(time.Duration(random.IntN(7200)-3600) * time.Second)
		m.renewed = m.clock.Now()
		m.speed = time.Duration(995 + random.IntN(11)) // a clock loses or gains half a percent at most
	}
	if err := w.pass(2 * time.Minute); err != nil {
		return w, err
	}
	for range 6 + random.IntN(6) {
		w.disturb(random)
		if err := w.pass(time.Duration(5+random.IntN(120)) * time.Second); err != nil {
			return w, err
		}
	}
	return w, w.pass(fencing.ReleaseAfter(timeout) + time.Minute)
}

// disturb changes something.
func (w *world) disturb(random *rand.Rand) {
	m := w.machines[random.IntN(len(w.machines))]
	other := random.IntN(len(w.machines))
	switch random.IntN(10) {
	case 0, 1:
		m.kubelet = !m.kubelet
	case 2, 3, 4:
		m.agent = []reach{yes, no, flap, still}[random.IntN(4)]
	case 5, 6:
		if i := m.index(); i != other {
			pair := [2]int{min(i, other), max(i, other)}
			w.cut[pair] = !w.cut[pair]
		}
	case 7:
		if !m.dead && m.agent == yes && !w.away {
			m.boot()
		}
	case 8:
		w.away, w.blocked = random.IntN(3) == 0, random.IntN(4) == 0
	case 9:
		if len(w.machines) < 7 {
			w.add()
		}
	}
}

// Ten thousand outages of the whole API server, of any length, fence nobody; if the group can still
// hear itself nobody is reset either, however long they last.
func TestOutagesFenceNobody(t *testing.T) {
	t.Parallel()
	outages := 10000
	if raceEnabled {
		outages = 300
	}
	for seed := range uint64(outages) {
		random := rand.New(rand.NewPCG(seed, 2))
		timeout := []time.Duration{4 * time.Second, 20 * time.Second, time.Minute}[random.IntN(3)]
		w := newWorld(2+random.IntN(4), timeout, 5*time.Second)
		if timeout < 20*time.Second {
			w.step = time.Second
		}
		for _, m := range w.machines {
			m.clock.Advance(time.Duration(random.IntN(7200)-3600) * time.Second)
			m.renewed = m.clock.Now()
		}
		phases := []time.Duration{time.Minute + time.Duration(random.IntN(60))*time.Second}
		for range 1 + random.IntN(3) {
			phases = append(phases, time.Duration(1+random.IntN(400))*time.Second, time.Duration(1+random.IntN(100))*time.Second)
		}
		phases = append(phases, 3*time.Minute)
		for i, phase := range phases {
			w.away = i%2 == 1
			if err := w.pass(phase); err != nil {
				t.Fatalf("outage %d: %v", seed, err)
			}
		}
		if w.resets() > 0 || len(w.released) > 0 {
			t.Fatalf("outage %d (%v): %d of %d nodes were reset and %v released", seed, phases, w.resets(), len(w.machines), w.released)
		}
	}
}
