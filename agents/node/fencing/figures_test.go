package fencing

import (
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"commander/internal/clock"
	"commander/internal/kubetest"
)

func cpuUsed(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// A hundred members on loopback, with the settings that agents have: what it costs to stay a group,
// and how long it takes until all others know of one that is gone without a word.
func TestFigureOfAHundredMembers(t *testing.T) {
	kubetest.Figures(t)
	const count = 100
	gossip := Gossip{
		ProbeInterval: 200 * time.Millisecond, ProbeTimeout: 100 * time.Millisecond, SuspicionMult: 2, IndirectChecks: 3,
		GossipInterval: 100 * time.Millisecond, RetransmitMult: 4, GossipToTheDeadTime: 2 * time.Second,
	}
	var mu sync.Mutex
	known := map[string]map[string]time.Time{} // by who is gone, by who found out
	var all []*Peers
	for i := range count {
		name := fmt.Sprint("m", i)
		p, err := NewPeers(gossip, name, "figures", "127.0.0.1", func(c Change) {
			if c.Joined {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if known[c.Name] == nil {
				known[c.Name] = map[string]time.Time{}
			}
			known[c.Name][name] = time.Now()
		}, clock.System{}, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.list.Shutdown() })
		if i > 0 {
			if err := p.Join([]string{all[0].Address()}); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, p)
	}
	for _, p := range all {
		eventually(t, "all are known", func() bool {
			if p.Members() < count {
				_ = p.Join([]string{all[0].Address()}) // as agents do; it is tried again
			}
			return p.Members() == count
		})
	}
	before, began := cpuUsed(t), time.Now()
	time.Sleep(20 * time.Second) // what a second costs
	share := float64(cpuUsed(t)-before) / float64(time.Since(began)) / count * 100
	var first, last []time.Duration
	for i := range 10 {
		gone := all[count-1-i]
		at := time.Now()
		if err := gone.list.Shutdown(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all others know", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(known[gone.name]) >= count-1-i
		})
		mu.Lock()
		var took []time.Duration
		for _, when := range known[gone.name] {
			took = append(took, when.Sub(at))
		}
		mu.Unlock()
		first, last = append(first, kubetest.At(took, 0)), append(last, kubetest.At(took, 1))
	}
	t.Logf("CPU %.2f %% of a core a member; first knows after median %s, all after median %s, at most %s",
		share, kubetest.At(first, 0.5).Round(time.Millisecond), kubetest.At(last, 0.5).Round(time.Millisecond), kubetest.At(last, 1).Round(time.Millisecond))
}
