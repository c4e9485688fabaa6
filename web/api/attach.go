package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// attachCluster tests the connection to a cluster that was not made here and saves it as ready to join.
func (a *api) attachCluster(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name       *string `json:"name"`
		Kubeconfig *string `json:"kubeconfig"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"name", body.Name != nil}, attribute{"kubeconfig", body.Kubeconfig != nil}); err != nil {
		return err
	}
	c := callerOf(r.Context())
	made, err := a.fleet.AttachCluster(r.Context(), c.actor, c.workspace.ID, *body.Name, *body.Kubeconfig, nil)
	if err != nil {
		return err
	}
	return a.answer(w, r, http.StatusCreated, made.ID)
}

func (a *api) joinCluster(w http.ResponseWriter, r *http.Request) error {
	return a.start(w, r, a.fleet.JoinCluster)
}

func (a *api) detachCluster(w http.ResponseWriter, r *http.Request) error {
	return a.start(w, r, a.fleet.DetachCluster)
}

// start does what starts a task on the cluster in the address, and answers with the cluster.
func (a *api) start(w http.ResponseWriter, r *http.Request, begin func(context.Context, fleet.Actor, uuid.UUID) (store.Task, error)) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := begin(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}

func (a *api) installCluster(w http.ResponseWriter, r *http.Request) error {
	return a.start(w, r, a.fleet.InstallCluster)
}

func (a *api) convergeCluster(w http.ResponseWriter, r *http.Request) error {
	return a.start(w, r, a.fleet.Converge)
}

// archiveCluster forgets a cluster and leaves all that was made for it running.
func (a *api) archiveCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.ArchiveCluster(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.answer(w, r, http.StatusOK, id)
}
