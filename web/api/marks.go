package api

import (
	"net/http"

	"commander/fleet"
	"commander/store"
)

// noted is the body of a change of what people note about a cluster. What is left out stays.
type noted struct {
	Labels   store.Labels `json:"labels"`
	IsLocked *bool        `json:"is_locked"`
}

// markCluster changes labels and the protection from deletion. Neither is part of the
// configuration: there is no new revision, and nothing is applied.
func (a *api) markCluster(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body noted
	if err := read(w, r, &body); err != nil {
		return err
	}
	who := callerOf(r.Context()).actor
	if body.Labels != nil {
		if _, err := a.fleet.SetLabels(r.Context(), who, id, body.Labels); err != nil {
			return err
		}
	}
	if body.IsLocked != nil {
		if _, err := a.fleet.LockCluster(r.Context(), who, id, *body.IsLocked); err != nil {
			return err
		}
	}
	return a.answer(w, r, http.StatusOK, id)
}

// filterOf reads what the list of clusters is asked for.
func filterOf(r *http.Request) fleet.ClusterFilter {
	query := r.URL.Query()
	text, labels := fleet.Searched(query.Get("search"))
	return fleet.ClusterFilter{
		Archived: query.Get("archived") == "true", Search: text, Labels: labels, Sort: "created", Limit: pageSize,
	}
}
