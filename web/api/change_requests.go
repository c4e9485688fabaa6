package api

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
)

// changeRequest asks for the approval of one set of destructive changes.
type changeRequest struct {
	ID                  uuid.UUID                 `json:"id"`
	ClusterID           uuid.UUID                 `json:"cluster_id"`
	TaskID              uuid.UUID                 `json:"task_id"`
	Status              fleet.ChangeRequestStatus `json:"status"`
	DestructiveChangeID string                    `json:"destructive_change_id"`
	// Details are the installer's statistics of what differs; null when it told none.
	Details   json.RawMessage `json:"status_details"`
	CreatedAt moment          `json:"created_at"`
	UpdatedAt moment          `json:"updated_at"`
}

func changeRequestOf(r fleet.ChangeRequest) changeRequest {
	var result struct {
		CheckResult struct {
			Details json.RawMessage `json:"status_details"`
		} `json:"check_result"`
	}
	// A result that cannot be read has no details to tell.
	_ = json.Unmarshal(r.Task.Result, &result)
	return changeRequest{
		ID: r.ID, ClusterID: r.Task.ClusterID, TaskID: r.Task.ID, Status: r.Status, DestructiveChangeID: r.Task.ChangeID,
		Details: result.CheckResult.Details, CreatedAt: moment(r.Task.CreatedAt), UpdatedAt: moment(r.Task.ChangedAt),
	}
}

func (a *api) listChangeRequests(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	var cluster *uuid.UUID
	if text := r.URL.Query().Get("cluster_id"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return &badRequest{http.StatusBadRequest, problem{
				Error: "malformed", Message: "An attribute has the wrong type.", Details: map[string]string{"cluster_id": "must be a UUID"},
			}}
		}
		cluster = &id
	}
	found, err := a.fleet.ChangeRequests(r.Context(), c.actor, c.workspace.ID, cluster)
	if err != nil {
		return err
	}
	out := make([]changeRequest, 0, len(found))
	for _, request := range found {
		out = append(out, changeRequestOf(request))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) approveChangeRequest(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	c := callerOf(r.Context())
	approved, err := a.fleet.ApproveChangeRequest(r.Context(), c.actor, c.workspace.ID, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, changeRequestOf(approved))
	return nil
}
