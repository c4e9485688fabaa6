package simulation

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/store"
)

// The queries of store/queries/tasks.sql, over rows. That they mean the same is shown by running
// the same seeds on PostgreSQL.

func (r *rows) InsertTask(_ context.Context, p store.InsertTaskParams) (store.Task, error) {
	return r.insertTask(store.Task{
		ID: uuid.New(), WorkspaceID: p.WorkspaceID, ClusterID: p.ClusterID, Kind: p.Kind, Priority: p.Priority, Revision: p.Revision,
		ChangeID: p.ChangeID, CreatedBy: p.CreatedBy,
	}), nil
}

// insertTask gives a task what the table does.
func (r *rows) insertTask(task store.Task) store.Task {
	task.Status, task.Attempt, task.Phases, task.Result = store.TaskQueued, 1, store.Phases{}, json.RawMessage("{}")
	task.CreatedAt, task.ChangedAt = r.now, r.now
	r.tasks.insert(task)
	return task
}

func (r *rows) SetTaskDelivery(_ context.Context, p store.SetTaskDeliveryParams) error {
	r.tasks.change(taskOf(p.ID)).Delivery = p.Delivery
	return nil
}

func (r *rows) Task(_ context.Context, id uuid.UUID) (store.TaskRow, error) {
	task := r.task(id)
	if task == nil {
		return store.TaskRow{}, pgx.ErrNoRows
	}
	return store.TaskRow{Task: *task, ClusterName: r.cluster(task.ClusterID).Name}, nil
}

func (r *rows) TaskForUpdate(_ context.Context, id uuid.UUID) (store.Task, error) {
	return read(r.task(id))
}

// read is the row that was found, or that there is none.
func read[R any](row *R) (found R, err error) {
	if row == nil {
		return found, pgx.ErrNoRows
	}
	return *row, nil
}

func (r *rows) ActiveTasks(_ context.Context, cluster uuid.UUID) ([]store.Task, error) {
	found := r.where(func(t *store.Task) bool { return t.ClusterID == cluster && is(t.Status, active...) })
	all := make([]store.Task, 0, len(found))
	for _, task := range found {
		if task.Status == store.TaskRunning {
			all = append(all, *task)
		}
	}
	for _, task := range found {
		if task.Status != store.TaskRunning {
			all = append(all, *task)
		}
	}
	return all, nil
}

func (r *rows) NextQueuedTask(_ context.Context, cluster uuid.UUID) (store.Task, error) {
	found := r.where(func(t *store.Task) bool { return t.ClusterID == cluster && t.Status == store.TaskQueued })
	if len(found) == 0 {
		return store.Task{}, pgx.ErrNoRows
	}
	return *found[0], nil
}

// held is the row of an attempt that may write; nil when it may not.
func (r *rows) held(id uuid.UUID, attempt int, status store.TaskStatus) *store.Task {
	return r.tasks.change(func(t *store.Task) bool { return t.ID == id && t.Status == status && t.Attempt == attempt })
}

func (r *rows) ClaimTask(_ context.Context, p store.ClaimTaskParams) (store.Task, error) {
	task := r.held(p.ID, p.Attempt, store.TaskQueued)
	if task == nil {
		return store.Task{}, pgx.ErrNoRows
	}
	now := r.now
	task.Status, task.Worker, task.Revision, task.HeartbeatAt, task.FinishedAt, task.Error, task.ChangedAt = store.TaskRunning, p.Worker, p.Revision, &now, nil, "", now
	if task.StartedAt == nil {
		task.StartedAt = &now
	}
	return *task, nil
}

func (r *rows) BeatTask(_ context.Context, p store.BeatTaskParams) (bool, error) {
	task := r.held(p.ID, p.Attempt, store.TaskRunning)
	if task == nil {
		return false, pgx.ErrNoRows
	}
	now := r.now
	task.HeartbeatAt = &now
	return task.StopRequested, nil
}

func (r *rows) SetTaskProgress(_ context.Context, p store.SetTaskProgressParams) (int64, error) {
	task := r.held(p.ID, p.Attempt, store.TaskRunning)
	if task == nil {
		return 0, nil
	}
	now := r.now
	task.Phase, task.SubPhase, task.Progress = p.Phase, p.SubPhase, max(task.Progress, min(p.Progress, 0.99))
	task.Phases, task.HeartbeatAt, task.ChangedAt = p.Phases, &now, now
	return 1, nil
}

func (r *rows) SetTaskPhaseEnd(_ context.Context, p store.SetTaskPhaseEndParams) (int64, error) {
	task := r.held(p.ID, p.Attempt, store.TaskRunning)
	if task == nil {
		return 0, nil
	}
	now := r.now
	task.Phase, task.SubPhase, task.PhaseCritical, task.Phases, task.HeartbeatAt, task.ChangedAt = p.NextPhase, "", p.Critical, p.Phases, &now, now
	return 1, nil
}

func (r *rows) FinishTask(_ context.Context, p store.FinishTaskParams) (store.Task, error) {
	task := r.held(p.ID, p.Attempt, store.TaskRunning)
	if task == nil {
		return store.Task{}, pgx.ErrNoRows
	}
	now := r.now
	task.Status, task.Error, task.Phases, task.Result, task.FinishedAt, task.ChangedAt = p.Status, p.Error, p.Phases, p.Result, &now, now
	if p.ChangeID != "" {
		task.ChangeID = p.ChangeID
	}
	if p.Status == store.TaskSucceeded {
		task.Progress = 1
	}
	return *task, nil
}

func (r *rows) RequeueTask(_ context.Context, p store.RequeueTaskParams) (store.Task, error) {
	task := r.tasks.change(taskOf(p.ID))
	task.Status, task.Worker, task.Delivery, task.HeartbeatAt, task.FinishedAt, task.StopRequested = store.TaskQueued, "", nil, nil, nil, false
	task.Error, task.Phases, task.ChangeID, task.ChangedAt = "", p.Phases, p.ChangeID, r.now
	task.Attempt++
	return *task, nil
}

func (r *rows) SetTaskStatus(_ context.Context, p store.SetTaskStatusParams) (store.Task, error) {
	task := r.tasks.change(taskOf(p.ID))
	task.Status, task.Error, task.Phases, task.ChangedAt = p.Status, p.Error, p.Phases, r.now
	if is(p.Status, store.TaskSucceeded, store.TaskFailed, store.TaskCancelled, store.TaskLost, store.TaskLostInCritical) {
		now := r.now
		task.FinishedAt = &now
	}
	return *task, nil
}

func (r *rows) RequestTaskStop(_ context.Context, id uuid.UUID) error {
	task := r.tasks.change(taskOf(id))
	task.StopRequested, task.ChangedAt = true, r.now
	return nil
}

func (r *rows) Now(context.Context) (time.Time, error) { return r.now, nil }

func (r *rows) quiet(limit time.Duration) func(*store.Task) bool {
	return func(t *store.Task) bool {
		return t.Status == store.TaskRunning && t.HeartbeatAt.Before(r.now.Add(-limit))
	}
}

func (r *rows) QuietTasks(_ context.Context, limit time.Duration) ([]uuid.UUID, error) {
	found := r.where(r.quiet(limit))
	slices.SortStableFunc(found, func(a, b *store.Task) int { return a.HeartbeatAt.Compare(*b.HeartbeatAt) })
	return idsOf(found), nil
}

func (r *rows) QuietTaskForUpdate(_ context.Context, p store.QuietTaskForUpdateParams) (store.Task, error) {
	task := r.task(p.ID)
	if task == nil || !r.quiet(p.QuietLimit)(task) {
		return store.Task{}, pgx.ErrNoRows
	}
	return *task, nil
}

func (r *rows) UndeliveredTasks(_ context.Context, grace time.Duration) ([]uuid.UUID, error) {
	return idsOf(r.where(func(t *store.Task) bool {
		return t.Status == store.TaskQueued && t.ChangedAt.Before(r.now.Add(-grace)) && !r.waitsForAnother(t) && !r.underWay(t, grace)
	})), nil
}

func (r *rows) waitsForAnother(task *store.Task) bool {
	younger := false
	for _, other := range r.tasks.rows {
		switch {
		case other.ID == task.ID:
			younger = true
		case other.ClusterID != task.ClusterID:
		case is(other.Status, store.TaskRunning, store.TaskLost, store.TaskLostInCritical):
			return true
		case other.Status == store.TaskQueued && (other.Priority < task.Priority || other.Priority == task.Priority && !younger):
			return true
		}
	}
	return false
}

func (r *rows) underWay(task *store.Task, grace time.Duration) bool {
	if task.Delivery == nil {
		return false
	}
	job := r.jobs.find(jobOf(*task.Delivery))
	return job.state == "available" || job.state == "running" && job.attempted.After(r.now.Add(-grace))
}

func (r *rows) TasksOfCluster(_ context.Context, p store.TasksOfClusterParams) ([]store.Task, error) {
	found := make([]store.Task, 0, min(p.PageSize, len(r.tasks.rows)))
	for _, task := range slices.Backward(r.tasks.rows) {
		if task.ClusterID == p.ClusterID && len(found) < p.PageSize {
			found = append(found, *task)
		}
	}
	return found, nil
}

func (r *rows) DeleteOlderChecks(_ context.Context, p store.DeleteOlderChecksParams) error {
	r.tasks.delete(func(t *store.Task) bool {
		return t.ClusterID == p.ClusterID && t.Kind == store.TaskCheck && t.ID != p.ID &&
			is(t.Status, store.TaskSucceeded, store.TaskFailed, store.TaskCancelled)
	})
	return nil
}

func (r *rows) AppendTaskLog(_ context.Context, p store.AppendTaskLogParams) (int, error) {
	task := r.task(p.TaskID)
	if task == nil || task.Attempt != p.Attempt {
		return 0, pgx.ErrNoRows
	}
	return 1, nil
}
