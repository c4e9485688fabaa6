package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ChangeRequest asks for the approval of one set of destructive changes.
type ChangeRequest struct {
	// ID names the set, not the task: another set has another id, so that an approval is void when
	// what would be destroyed has changed.
	ID     uuid.UUID
	Task   store.Task
	Status ChangeRequestStatus
}

// ChangeRequestStatus is where a request stands.
type ChangeRequestStatus string

// The statuses, in the words of the API.
const (
	ChangePending   ChangeRequestStatus = "pending"
	ChangeApproved  ChangeRequestStatus = "approved"
	ChangeCompleted ChangeRequestStatus = "completed" // carried out, failed or given up
)

// shownRequests is how many requests are listed and known, the newest of a workspace.
const shownRequests = 1000

func requestOf(task store.Task) ChangeRequest {
	r := ChangeRequest{ID: uuid.NewSHA1(task.ID, []byte(task.ChangeID)), Task: task, Status: ChangeCompleted}
	switch task.Status {
	case store.TaskWaitingApproval:
		r.Status = ChangePending
	case store.TaskQueued, store.TaskRunning:
		r.Status = ChangeApproved
	}
	return r
}

// ChangeRequests lists what asked for approval in a workspace, of one cluster or of all, the
// newest first.
func (f *Fleet) ChangeRequests(ctx context.Context, actor Actor, workspaceID uuid.UUID, clusterID *uuid.UUID) ([]ChangeRequest, error) {
	if err := Allowed(actor, TasksView, workspaceID); err != nil {
		return nil, err
	}
	tasks, err := f.Store.ChangeRequests(ctx, store.ChangeRequestsParams{WorkspaceID: workspaceID, ClusterID: clusterID, PageSize: shownRequests})
	if err != nil {
		return nil, store.AsFault(err)
	}
	out := make([]ChangeRequest, 0, len(tasks))
	for _, task := range tasks {
		out = append(out, requestOf(task))
	}
	return out, nil
}

// ApproveChangeRequest lets the change go on that a request is about. It fails with Conflict when
// that was done before, or when the cluster cannot be changed any more, and with NotFound when
// there is no such set of changes now.
func (f *Fleet) ApproveChangeRequest(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) (ChangeRequest, error) {
	requests, err := f.ChangeRequests(ctx, actor, workspaceID, nil)
	if err != nil {
		return ChangeRequest{}, err
	}
	for _, r := range requests {
		if r.ID != id {
			continue
		}
		switch r.Status {
		case ChangeApproved:
			return r, fault.New(fault.Conflict, "change_request.already_approved")
		case ChangeCompleted:
			return r, fault.New(fault.Conflict, "change_request.already_completed")
		}
		cluster, err := f.Store.Cluster(ctx, r.Task.ClusterID)
		if err != nil {
			return r, store.AsFault(err)
		}
		if cluster.ArchivedAt != nil || !ClusterCanBecome(cluster.Status, store.ClusterUpdating) {
			return r, fault.New(fault.Conflict, "change_request.cluster_cannot_be_converged", cluster.Name)
		}
		task, err := f.Approve(ctx, actor, r.Task.ID, r.Task.ChangeID)
		if err != nil {
			return r, err
		}
		return requestOf(task), nil
	}
	return ChangeRequest{}, fault.New(fault.NotFound, "fault.not_found")
}
