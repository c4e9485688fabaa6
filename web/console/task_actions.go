package console

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/tasks"
)

// Retry queues another attempt of a task.
func (c *Console) Retry(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.Retry)
}

// Stop asks a running task to stop, and cancels one that waits.
func (c *Console) Stop(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.StopTask)
}

// GiveUp closes a lost task as failed.
func (c *Console) GiveUp(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.GiveUp)
}

// Approve lets a task go on with exactly the destructive changes that the page showed.
func (c *Console) Approve(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	return startTask(w, r, func(ctx context.Context, who fleet.Actor, task uuid.UUID) (store.Task, error) {
		return c.Fleet.Approve(ctx, who, task, r.PostForm.Get(tasks.FieldChange))
	})
}
