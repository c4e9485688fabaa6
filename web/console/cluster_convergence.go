package console

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
	"commander/web/respond"
)

// Install starts the installation of a cluster that was saved without it.
func (c *Console) Install(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.InstallCluster)
}

// Converge starts bringing a cluster to its declared configuration.
func (c *Console) Converge(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.Converge)
}

// startTask does what ends in a task, with what a request's id names, and leads to the task.
func startTask(w http.ResponseWriter, r *http.Request, start func(context.Context, fleet.Actor, uuid.UUID) (store.Task, error)) error {
	subject, err := id(r)
	if err != nil {
		return err
	}
	task, err := start(r.Context(), actor(r), subject)
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Task(task.ID.String()))
}
