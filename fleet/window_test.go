package fleet_test

import (
	"testing"
	"time"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func TestWindowsOpenOnTheClockOfTheirZone(t *testing.T) {
	t.Parallel()
	night := store.MaintenanceWindow{TimeZone: "Europe/Berlin", Days: 1, Starts: 22 * 60, Minutes: 4 * 60} // Monday 22:00 to 02:00
	for moment, want := range map[string]bool{
		"2026-06-01T19:59:00Z": false, // 21:59 in Berlin, a Monday in summer
		"2026-06-01T20:00:00Z": true,
		"2026-06-01T23:59:00Z": true, // Tuesday 01:59 there
		"2026-06-02T00:00:00Z": false,
		"2026-06-02T20:30:00Z": false, // Tuesday
		"2026-12-07T20:59:00Z": false, // in winter an hour later
		"2026-12-07T21:00:00Z": true,
	} {
		at, err := time.Parse(time.RFC3339, moment)
		if err != nil {
			t.Fatal(err)
		}
		if got := fleet.WindowOpen(night, at); got != want {
			t.Errorf("%s: got %v, want %v", moment, got, want)
		}
	}
	unknown := night
	unknown.TimeZone = "Mars/Olympus"
	if at, _ := time.Parse(time.RFC3339, "2026-06-01T20:00:00Z"); fleet.WindowOpen(unknown, at) {
		t.Error("a zone that nobody knows opens a window")
	}
}

func TestAutomaticChangesWaitForTheirWindow(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "nightly", nil)
	now := b.Clock.Now()
	for name, wrong := range map[string]fleet.NewWindow{
		"no zone": {Days: 1, Minutes: 60}, "no days": {TimeZone: "UTC", Minutes: 60}, "too long": {TimeZone: "UTC", Days: 1, Minutes: 2000},
	} {
		if _, err := b.AddWindow(t.Context(), b.Admin, b.Workspace.ID, wrong); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := b.AddWindow(t.Context(), b.Viewer, b.Workspace.ID, fleet.NewWindow{TimeZone: "UTC", Days: 127, Minutes: 60}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("by a viewer: got %v", err)
	}
	later := now.Add(2 * time.Hour).UTC()
	window, err := b.AddWindow(t.Context(), b.Admin, b.Workspace.ID, fleet.NewWindow{TimeZone: "UTC", Days: 127, Starts: later.Hour()*60 + later.Minute(), Minutes: 60})
	if err != nil {
		t.Fatal(err)
	}
	drift := func() store.ClusterStatus {
		t.Helper()
		if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour'"); err != nil {
			t.Fatal(err)
		}
		if n, err := b.StartChecks(t.Context(), 10); err != nil || n != 1 {
			t.Fatalf("got %d checks, %v", n, err)
		}
		active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		claim(t, b, active[0])
		if err := b.Finish(t.Context(), delivery(active[0]), fleet.Ending{Status: store.TaskSucceeded, OutOfSync: true}); err != nil {
			t.Fatal(err)
		}
		after, err := b.Store.Cluster(t.Context(), cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		return after.Status
	}
	if got := drift(); got != store.ClusterPendingChanges {
		t.Errorf("outside of the window: got %s, want that it waits", got)
	}
	b.Clock.Advance(2*time.Hour + time.Minute)
	if got := drift(); got != store.ClusterUpdating {
		t.Errorf("in the window: got %s, want that it starts by itself", got)
	}
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, active[0], store.TaskSucceeded)
	b.Clock.Advance(2 * time.Hour)
	if got := drift(); got != store.ClusterPendingChanges {
		t.Errorf("after the window: got %s", got)
	}
	if _, err := b.Converge(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Errorf("a person could not override: %v", err)
	}
	if err := b.RemoveWindow(t.Context(), b.Admin, b.Workspace.ID, window.ID); err != nil {
		t.Error(err)
	}
}
