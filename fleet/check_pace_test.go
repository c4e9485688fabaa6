package fleet

import (
	"slices"
	"testing"
	"time"

	"commander/store"
)

// TestChecksAreSpreadOverTheirInterval looks after ten thousand clusters that are all due at once:
// within an interval their checks are spread evenly, and each cluster is checked in time.
func TestChecksAreSpreadOverTheirInterval(t *testing.T) {
	t.Parallel()
	const (
		clusters = 10_000
		interval = 5 * time.Minute
		pause    = time.Second
		even     = clusters * int(pause) / int(interval) // a look, if all were spread perfectly
	)
	load := store.CheckLoadRow{PerMinute: clusters / interval.Minutes()}
	due := make([]time.Duration, clusters) // of each cluster, the longest overdue first
	for now := time.Duration(0); now < 4*interval; now += pause {
		ready, _ := slices.BinarySearch(due, now+1)
		started := min(ready, shareOfChecks(load, pause))
		if started > even*4/3 {
			t.Fatalf("at %s: %d checks start at once, want %d or a little more", now, started, even)
		}
		if late := now - due[0]; late > interval {
			t.Fatalf("at %s: a check is %s late", now, late)
		}
		if late := now - due[0]; now > 2*interval && late > 5*pause {
			t.Fatalf("at %s: a check is still %s late", now, late)
		}
		due = due[started:]
		for range started {
			due = append(due, now+interval)
		}
	}
}

// TestChecksSlipWhenManagersAreBusy bounds how many checks wait for a manager.
func TestChecksSlipWhenManagersAreBusy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about   string
		minute  float64
		waiting int
		want    int
	}{
		{"nothing to check", 0, 0, 0},
		{"one cluster an hour", 1.0 / 60, 0, 1},
		{"one cluster an hour, few wait", 1.0 / 60, 9, 1},
		{"one cluster an hour, many wait", 1.0 / 60, 10, 0},
		{"a site", 2000, 0, 625},
		{"a site, some wait", 2000, 625, 625},
		{"a site, many wait", 2000, 1000, 250},
		{"a site, too many wait", 2000, 1250, 0},
		{"a site, far too many wait", 2000, 9000, 0},
	} {
		if got := shareOfChecks(store.CheckLoadRow{PerMinute: c.minute, Waiting: c.waiting}, 15*time.Second); got != c.want {
			t.Errorf("%s: got %d, want %d", c.about, got, c.want)
		}
	}
}
