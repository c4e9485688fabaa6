package fleet

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // a server without zone files knows the zones too

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// NewWindow is a maintenance window as a person wants it.
type NewWindow struct {
	// ClusterID is the cluster that it is for; nil for all of the workspace without windows of their own.
	ClusterID *uuid.UUID
	TimeZone  string
	// Days are bits from Monday, 1, to Sunday, 64, on which it begins.
	Days int
	// Starts is the minute of the day, Minutes how long it lasts.
	Starts, Minutes int
}

const (
	everyDay   = 127
	minutesDay = 24 * 60
)

func (w NewWindow) check() error {
	problems := map[string]fault.Message{}
	if _, err := time.LoadLocation(w.TimeZone); err != nil || w.TimeZone == "" || w.TimeZone == "Local" {
		problems["time_zone"] = fault.Message{Key: "window.time_zone"}
	}
	if w.Days < 1 || w.Days > everyDay {
		problems["days"] = fault.Message{Key: "window.days"}
	}
	if w.Starts < 0 || w.Starts >= minutesDay {
		problems["starts"] = fault.Message{Key: "window.starts"}
	}
	if w.Minutes < 1 || w.Minutes > minutesDay {
		problems["hours"] = fault.Message{Key: "window.hours"}
	}
	if len(problems) > 0 {
		return fault.Fields(problems)
	}
	return nil
}

// WindowOpen reports whether a window is open at a moment: whether the clock on the wall of its zone
// shows a time in it. Where clocks are put back, such a time comes twice, and is in the window twice;
// a window that falls whole into the time that is left out where clocks are put forward opens for its
// length right after that.
func WindowOpen(w store.MaintenanceWindow, now time.Time) bool {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		return false // a zone that is not known any more opens nothing
	}
	here := wall(now.In(zone))
	today := here.Truncate(minutesDay * time.Minute)
	for _, day := range []time.Time{today, today.AddDate(0, 0, -1)} { // it may have begun yesterday
		if begin, end, on := occurrence(w, day); on && !here.Before(begin) && here.Before(end) {
			return true
		}
	}
	length := time.Duration(w.Minutes) * time.Minute
	for at := now.In(zone); ; {
		forward, _ := at.ZoneBounds()
		if forward.IsZero() || now.Sub(forward) >= length {
			return false
		}
		before := forward.Add(-1).In(zone)
		_, offset := before.Zone()
		_, later := forward.Zone()
		gapEnd := wall(forward)
		gap := gapEnd.Add(-time.Duration(later-offset) * time.Second)
		first := gap.Truncate(minutesDay * time.Minute)
		for day := first; day.Before(gapEnd); day = day.AddDate(0, 0, 1) {
			if begin, end, on := occurrence(w, day); on && !begin.Before(gap) && !end.After(gapEnd) {
				return true
			}
		}
		at = before
	}
}

// wall is what a clock on the wall shows, as a time that knows of no zones.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// occurrence is when a window begins and ends that is due on a day, as the clock on the wall shows.
func occurrence(w store.MaintenanceWindow, day time.Time) (begin, end time.Time, on bool) {
	bit := 1 << ((int(day.Weekday()) + 6) % 7)
	begin = day.Add(time.Duration(w.Starts) * time.Minute)
	return begin, begin.Add(time.Duration(w.Minutes) * time.Minute), w.Days&bit != 0
}

// mayStart reports whether a change may start by itself now: there are no windows, or one is open.
func (f *Fleet) mayStart(ctx context.Context, tx *store.Tx, clusterID uuid.UUID) (bool, error) {
	windows, err := tx.MaintenanceWindowsFor(ctx, clusterID)
	if err != nil || len(windows) == 0 {
		return true, err
	}
	now := f.Clock.Now()
	for _, w := range windows {
		if WindowOpen(w, now) {
			return true, nil
		}
	}
	return false, nil
}

// Windows lists the maintenance windows of a workspace and of its clusters.
func (f *Fleet) Windows(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.MaintenanceWindow, error) {
	if err := Allowed(actor, WorkspacesView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.MaintenanceWindows(ctx, workspaceID)
	return rows, store.AsFault(err)
}

// AddWindow makes a maintenance window. It fails with Invalid when it makes no sense.
func (f *Fleet) AddWindow(ctx context.Context, actor Actor, workspaceID uuid.UUID, wanted NewWindow) (store.MaintenanceWindow, error) {
	var window store.MaintenanceWindow
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return window, err
	}
	if err := wanted.check(); err != nil {
		return window, err
	}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		if wanted.ClusterID != nil {
			cluster, _, err := clusterForUpdate(ctx, tx, actor, ClustersEdit, *wanted.ClusterID)
			if err != nil {
				return err
			}
			if cluster.WorkspaceID != workspaceID {
				return fault.New(fault.NotFound, "fault.not_found")
			}
		}
		if window, err = tx.InsertMaintenanceWindow(ctx, store.InsertMaintenanceWindowParams{
			WorkspaceID: workspaceID, ClusterID: wanted.ClusterID, TimeZone: wanted.TimeZone, Days: wanted.Days,
			Starts: wanted.Starts, Minutes: wanted.Minutes, CreatedBy: actor.Signature(),
		}); err != nil {
			return fmt.Errorf("write a maintenance window: %w", err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "window.create", ObjectType: "MaintenanceWindow", ObjectID: window.ID, Workspace: workspace,
			Changes: map[string]any{"time_zone": window.TimeZone, "days": window.Days, "starts": window.Starts, "minutes": window.Minutes},
		})
	})
	return window, store.AsFault(err)
}

// RemoveWindow deletes a maintenance window.
func (f *Fleet) RemoveWindow(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) error {
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return err
	}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		if _, err := tx.DeleteMaintenanceWindow(ctx, store.DeleteMaintenanceWindowParams{ID: id, WorkspaceID: workspaceID}); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{Action: "window.delete", ObjectType: "MaintenanceWindow", ObjectID: id, Workspace: workspace})
	})
	return store.AsFault(err)
}
