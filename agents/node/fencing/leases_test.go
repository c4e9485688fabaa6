package fencing

import (
	"testing"
	"time"

	"commander/internal/clock"
)

func TestLeasesCountOnlyTimeInWhichTheyCouldBeSeen(t *testing.T) {
	t.Parallel()
	c := clock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	l := NewLeases(c)
	written := map[string]time.Time{"a": c.Now().Add(-time.Hour)} // its writer's clock is an hour late
	look := func(d time.Duration) {
		for range d / (10 * time.Second) {
			c.Advance(10 * time.Second)
			l.Observe(written)
		}
	}
	l.Observe(written)
	if l.Stale("a") || l.OthersFresh("b") {
		t.Error("a lease that was only found proves nothing yet")
	}
	look(30 * time.Second)
	if l.Stale("a") {
		t.Error("stale after 30 seconds")
	}
	look(10 * time.Second)
	if !l.Stale("a") {
		t.Error("not stale after 40 seconds")
	}
	l.Failed()
	if l.Stale("a") {
		t.Error("stale while nothing can be seen")
	}
	c.Advance(time.Hour)
	look(30 * time.Second)
	if l.Stale("a") {
		t.Error("stale right after an outage: nobody could renew")
	}
	c.Advance(time.Hour) // the watcher itself stood still
	l.Observe(written)
	if l.Stale("a") {
		t.Error("stale right after a standstill")
	}
	written["a"] = written["a"].Add(10 * time.Second)
	look(10 * time.Second)
	if !l.OthersFresh("b") || l.OthersFresh("a") {
		t.Error("a renewed lease proves that others could renew, not the own")
	}
	delete(written, "a")
	look(10 * time.Second)
	if _, known := l.Age("a"); known {
		t.Error("a lease that is gone is still known")
	}
}
