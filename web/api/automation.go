package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
)

// automation are the addresses of when changes start by themselves, and of who is told.
func (a *api) automation(r chi.Router) {
	const windows, channels = paths.RouteAPI + "/maintenance_windows", paths.RouteAPI + "/notification_channels"
	r.Get(windows, a.handler(a.listWindows))
	r.Post(windows, a.handler(a.createWindow))
	r.Delete(windows+"/{id}", a.handler(a.deleteWindow))
	r.Get(channels, a.handler(a.listChannels))
	r.Post(channels, a.handler(a.createChannel))
	r.Post(channels+"/{id}/test", a.handler(a.testChannel))
	r.Delete(channels+"/{id}", a.handler(a.deleteChannel))
}

// weekdays are the words for the bits of a window's days, from Monday.
var weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// window is a time in which changes may start by themselves.
type window struct {
	ID        uuid.UUID  `json:"id"`
	ClusterID *uuid.UUID `json:"cluster_id"`
	TimeZone  string     `json:"time_zone"`
	Days      []string   `json:"days"`
	Starts    string     `json:"starts"` // 15:04
	Minutes   int        `json:"minutes"`
	IsOpen    bool       `json:"is_open"`
	CreatedBy string     `json:"created_by"`
	CreatedAt moment     `json:"created_at"`
}

func windowOf(w store.MaintenanceWindow, now time.Time) window {
	out := window{
		ID: w.ID, ClusterID: w.ClusterID, TimeZone: w.TimeZone, Days: []string{}, Starts: fmt.Sprintf("%02d:%02d", w.Starts/60, w.Starts%60),
		Minutes: w.Minutes, IsOpen: fleet.WindowOpen(w, now), CreatedBy: w.CreatedBy, CreatedAt: moment(w.CreatedAt),
	}
	for bit, day := range weekdays {
		if w.Days&(1<<bit) != 0 {
			out.Days = append(out.Days, day)
		}
	}
	return out
}

func (a *api) listWindows(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.Windows(r.Context(), c.actor, c.workspace.ID)
	if err != nil {
		return err
	}
	out := make([]window, 0, len(rows))
	for _, row := range rows {
		out = append(out, windowOf(row, a.fleet.Clock.Now()))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) createWindow(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ClusterID *uuid.UUID `json:"cluster_id"`
		TimeZone  *string    `json:"time_zone"`
		Days      []string   `json:"days"`
		Starts    *string    `json:"starts"`
		Minutes   *int       `json:"minutes"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(
		attribute{"time_zone", body.TimeZone != nil}, attribute{"days", body.Days != nil},
		attribute{"starts", body.Starts != nil}, attribute{"minutes", body.Minutes != nil},
	); err != nil {
		return err
	}
	// What cannot be read is out of bounds, so that the rules say what is allowed.
	wanted := fleet.NewWindow{ClusterID: body.ClusterID, TimeZone: *body.TimeZone, Starts: -1, Minutes: *body.Minutes}
	for _, day := range body.Days {
		bit := slices.Index(weekdays, day)
		if bit < 0 {
			wanted.Days = 0
			break
		}
		wanted.Days |= 1 << bit
	}
	if at, err := time.Parse("15:04", *body.Starts); err == nil {
		wanted.Starts = at.Hour()*60 + at.Minute()
	}
	c := callerOf(r.Context())
	made, err := a.fleet.AddWindow(r.Context(), c.actor, c.workspace.ID, wanted)
	var refused *fault.Error
	if errors.As(err, &refused) && refused.Fields["hours"].Key != "" { // people type hours
		refused.Fields["minutes"] = refused.Fields["hours"]
		delete(refused.Fields, "hours")
	}
	if err != nil {
		return err
	}
	send(w, http.StatusCreated, windowOf(made, a.fleet.Clock.Now()))
	return nil
}

func (a *api) deleteWindow(w http.ResponseWriter, r *http.Request) error {
	return a.without(w, r, a.fleet.RemoveWindow)
}

// without does something in the workspace with what an id names and has nothing to tell of it.
func (a *api) without(w http.ResponseWriter, r *http.Request, do func(context.Context, fleet.Actor, uuid.UUID, uuid.UUID) error) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	c := callerOf(r.Context())
	if err := do(r.Context(), c.actor, c.workspace.ID, id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
