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

// WindowOpen reports whether a window is open at a moment. A window may reach into the next day; on
// the days on which clocks change it begins when the clock on the wall shows its time.
func WindowOpen(w store.MaintenanceWindow, now time.Time) bool {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		return false // a zone that is not known any more opens nothing
	}
	here := now.In(zone)
	for _, back := range []int{0, 1} {
		day := here.AddDate(0, 0, -back)
		bit := 1 << ((int(day.Weekday()) + 6) % 7)
		if w.Days&bit == 0 {
			continue
		}
		begin := time.Date(day.Year(), day.Month(), day.Day(), 0, w.Starts, 0, 0, zone)
		if !now.Before(begin) && now.Before(begin.Add(time.Duration(w.Minutes)*time.Minute)) {
			return true
		}
	}
	return false
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
			Starts: wanted.Starts, Minutes: wanted.Minutes, CreatedBy: actor.Name,
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
