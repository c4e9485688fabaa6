package api

import (
	"maps"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
)

// movePlan is what goes along with a cluster to another workspace, by labels and slugs.
type movePlan struct {
	WorkspaceID  uuid.UUID `json:"workspace_id"`
	Moved        []string  `json:"moved_records"`
	Copied       []string  `json:"copied_records"`
	MadeCatalogs []string  `json:"made_catalogs"`
}

// destination reads where a cluster is to go. A token is for one workspace, so a move takes two:
// that of the request, and in the body one of the workspace that the cluster goes to.
func (a *api) destination(w http.ResponseWriter, r *http.Request) (cluster uuid.UUID, actor fleet.Actor, to uuid.UUID, err error) {
	if cluster, err = idOf(r); err != nil {
		return cluster, actor, to, err
	}
	var body struct {
		TargetToken *string `json:"target_token"`
	}
	if err := read(w, r, &body); err != nil {
		return cluster, actor, to, err
	}
	if err := require(attribute{"target_token", body.TargetToken != nil}); err != nil {
		return cluster, actor, to, err
	}
	there, workspace, err := a.fleet.TokenActor(r.Context(), *body.TargetToken)
	if fault.Is(err, fault.Unauthenticated) {
		return cluster, actor, to, fault.Fields(map[string]fault.Message{"target_token": {Key: "fault.token"}})
	}
	actor = callerOf(r.Context()).actor
	actor.Roles = maps.Clone(actor.Roles)
	for id, role := range there.Roles {
		if _, here := actor.Roles[id]; !here {
			actor.Roles[id] = role
		}
	}
	return cluster, actor, workspace.ID, err
}

func (a *api) previewMove(w http.ResponseWriter, r *http.Request) error {
	id, actor, to, err := a.destination(w, r)
	if err != nil {
		return err
	}
	plan, err := a.fleet.PlanMove(r.Context(), actor, id, to)
	if err != nil {
		return err
	}
	some := func(names []string) []string { return append([]string{}, names...) }
	send(w, http.StatusOK, movePlan{to, some(plan.Moved), some(plan.Copied), some(plan.Made)})
	return nil
}

// moveCluster takes a cluster to another workspace, where the token of the request does not reach:
// the answer is the last that it sees of it.
func (a *api) moveCluster(w http.ResponseWriter, r *http.Request) error {
	id, actor, to, err := a.destination(w, r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.MoveCluster(r.Context(), actor, id, to); err != nil {
		return err
	}
	view, err := a.fleet.Cluster(r.Context(), actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, a.clusterOf(r.Context(), view))
	return nil
}
