package fencing

import (
	"sync"
	"time"

	"commander/internal/clock"
)

// maxGap is the longest pause between two looks after which what was seen before still counts.
// After a longer one (the API server was away, or the watcher itself stood still) every Lease
// gets the time to be renewed again.
const maxGap = 30 * time.Second

// Leases remembers when the Leases of nodes were seen to change. It is safe for concurrent use.
type Leases struct {
	clock clock.Clock

	mu      sync.Mutex // protects all below
	seen    map[string]sighting
	last    time.Time // of the last good look
	healthy time.Time // since when looks have been good without a gap
	// others is, by node, since when at each look the Lease of another node was fresh.
	others map[string]time.Time
}

type sighting struct {
	renewed time.Time // as the Lease says, by its writer's clock
	changed time.Time // when that was first seen, by ours
	proven  bool      // it was seen to change, not only found
}

// NewLeases has seen nothing yet.
func NewLeases(c clock.Clock) *Leases {
	return &Leases{clock: c, seen: map[string]sighting{}, others: map[string]time.Time{}}
}

// Observe takes what a good look found: when each node's Lease says it was renewed.
func (l *Leases) Observe(renewed map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	if l.healthy.IsZero() || now.Sub(l.last) > maxGap {
		l.healthy = now
	}
	l.last = now
	for name := range l.seen {
		if _, there := renewed[name]; !there {
			delete(l.seen, name)
		}
	}
	for name, at := range renewed {
		if old, known := l.seen[name]; !known || !old.renewed.Equal(at) {
			l.seen[name] = sighting{renewed: at, changed: now, proven: known}
		}
	}
	l.followOthers(now)
}

// followOthers keeps, for each node, since when others are fresh.
func (l *Leases) followOthers(now time.Time) {
	fresh := 0
	for name := range l.seen {
		if l.fresh(name) {
			fresh++
		}
	}
	for name := range l.others {
		if _, there := l.seen[name]; !there {
			delete(l.others, name)
		}
	}
	for name := range l.seen {
		besides := fresh
		if l.fresh(name) {
			besides--
		}
		if since := l.others[name]; besides == 0 {
			delete(l.others, name)
		} else if since.IsZero() {
			l.others[name] = now
		}
	}
}

// fresh says whether a Lease was seen to be renewed lately.
func (l *Leases) fresh(name string) bool {
	age, known := l.age(name)
	return known && l.seen[name].proven && age < StaleLease
}

// Failed takes note of a look that did not succeed.
func (l *Leases) Failed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.healthy = time.Time{}
}

// Age is for how long a node's Lease was seen without a change; known is false if the node has
// none, or if Leases cannot be seen at the moment.
func (l *Leases) Age(node string) (age time.Duration, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.age(node)
}

func (l *Leases) age(node string) (time.Duration, bool) {
	s, known := l.seen[node]
	if !known || l.healthy.IsZero() {
		return 0, false
	}
	since := s.changed
	if l.healthy.After(since) {
		since = l.healthy
	}
	return l.clock.Now().Sub(since), true
}

// Renewed is what a node's Lease said when it was last seen; known is false if it has none.
func (l *Leases) Renewed(node string) (at time.Time, known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.seen[node]
	return s.renewed, known
}

// LostFor is for how long a node's Lease was not renewed while that of another node was. A Lease that
// nobody could have renewed in its place says nothing of its node.
func (l *Leases) LostFor(node string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	age, known := l.age(node)
	since, others := l.others[node]
	if !known || !others || !l.othersFresh(node) {
		return 0
	}
	return min(age, l.clock.Now().Sub(since))
}

// Healthy is since when Leases have been seen without a gap; never if they are not.
func (l *Leases) Healthy() (since time.Time, healthy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.healthy, !l.healthy.IsZero()
}

// CanTell says whether a lost node would be known as such: Leases have been seen for long enough to
// see others renew, and then this one not.
func (l *Leases) CanTell() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.healthy.IsZero() && l.clock.Now().Sub(l.healthy) >= StaleLease+maxGap
}

// Stale says whether a node's Lease is.
func (l *Leases) Stale(node string) bool {
	age, known := l.Age(node)
	return known && age >= StaleLease
}

// OthersFresh says whether the Lease of any other node was renewed lately, which proves that
// Leases can be renewed at all.
func (l *Leases) OthersFresh(node string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.othersFresh(node)
}

func (l *Leases) othersFresh(node string) bool {
	for name := range l.seen {
		if name != node && l.fresh(name) {
			return true
		}
	}
	return false
}
