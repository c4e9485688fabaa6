package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/store"
)

// QuietTasks lists running tasks that have been silent for longer than the limit, by the
// database's clock. Each is only a suspicion.
func (f *Fleet) QuietTasks(ctx context.Context) ([]uuid.UUID, error) {
	ids, err := f.Store.QuietTasks(ctx, f.quietLimit())
	return ids, store.AsFault(err)
}

// Now is the time by the database's clock, by which silence is judged.
func (f *Fleet) Now(ctx context.Context) (time.Time, error) {
	now, err := f.Store.Now(ctx)
	return now, store.AsFault(err)
}

func (f *Fleet) quietLimit() time.Duration {
	if f.QuietLimit > 0 {
		return f.QuietLimit
	}
	return DefaultQuietLimit
}

// MarkLost looks at a suspected task again under lock and, when it is still silent, says so in its
// log and marks it lost, or lost in a critical phase. A check that is lost has failed at once. It
// reports whether it did anything.
func (f *Fleet) MarkLost(ctx context.Context, id uuid.UUID) (bool, error) {
	marked := false
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		marked = false
		row, err := tx.Task(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // it was cleaned away
		}
		if err != nil {
			return err
		}
		// The cluster first, as everywhere: what somebody decides about it meanwhile is not written over.
		cluster, err := tx.ClusterForUpdate(ctx, row.Task.ClusterID)
		if err != nil {
			return err
		}
		task, err := tx.QuietTaskForUpdate(ctx, store.QuietTaskForUpdateParams{ID: id, QuietLimit: f.quietLimit()})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // it spoke again, ended, or somebody else looks at it
		}
		if err != nil {
			return err
		}
		status := store.TaskLost
		if task.PhaseCritical {
			status = store.TaskLostInCritical
		}
		line := fmt.Sprintf("Nothing has been heard of this task for %s: its worker or installer is gone. It counts as lost in phase %q.",
			f.quietLimit(), task.Phase)
		if _, err := tx.AppendTaskLog(ctx, store.AppendTaskLogParams{TaskID: id, Attempt: task.Attempt, Lines: 1, Body: line}); err != nil {
			return fmt.Errorf("explain the loss of task %s: %w", id, err)
		}
		if task, err = tx.SetTaskStatus(ctx, store.SetTaskStatusParams{
			ID: id, Status: status, Error: "task.lost", Phases: conclude(task.Phases, false, f.Clock.Now()),
		}); err != nil {
			return fmt.Errorf("mark task %s lost: %w", id, err)
		}
		marked = true
		changedTask(tx, task)
		if task.Kind == store.TaskCheck {
			return f.checkIsLost(ctx, tx, task, cluster)
		}
		if err := f.notify(ctx, tx, cluster, EventTaskLost, &task); err != nil {
			return err
		}
		if err := f.settle(ctx, tx, &cluster, task.Kind); err != nil {
			return err
		}
		return f.deletionGoesOn(ctx, tx, task, cluster)
	})
	return marked, err
}

// Lost reports whether a person has to say how to go on with a task.
func Lost(task store.Task) bool {
	return task.Status == store.TaskLost || task.Status == store.TaskLostInCritical
}

// deletes reports whether a task takes away what was made for its cluster.
func deletes(task store.Task) bool {
	return task.Kind == store.TaskDestroy || task.Kind == store.TaskAbort
}

// deletionGoesOn gives up a task that was lost while a deletion waited for its end: whoever deletes
// a cluster has decided about whatever was done to it before.
func (f *Fleet) deletionGoesOn(ctx context.Context, tx *store.Tx, task store.Task, cluster store.Cluster) error {
	others, err := tx.ActiveTasks(ctx, cluster.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(others, func(o store.Task) bool { return o.ID != task.ID && deletes(o) }) {
		return nil
	}
	if err := f.close(ctx, tx, task, store.TaskFailed, "task.given_up"); err != nil {
		return err
	}
	return f.deliverNext(ctx, tx, cluster)
}

// checkIsLost gives a lost check up: it has changed nothing, so that nobody has to decide about it. The
// next one comes in its time.
func (f *Fleet) checkIsLost(ctx context.Context, tx *store.Tx, task store.Task, cluster store.Cluster) error {
	if err := f.close(ctx, tx, task, store.TaskFailed, "task.given_up"); err != nil {
		return err
	}
	task.Status = store.TaskFailed
	if err := f.afterCheck(ctx, tx, task, &cluster, Ending{Status: store.TaskFailed}); err != nil {
		return err
	}
	return f.deliverNext(ctx, tx, cluster)
}

// Redeliver hands out queued tasks whose delivery is missing or over: a worker that died before it
// claimed one, or a crash between two steps.
func (f *Fleet) Redeliver(ctx context.Context, grace time.Duration) (int, error) {
	ids, err := f.Store.UndeliveredTasks(ctx, grace)
	if err != nil {
		return 0, store.AsFault(err)
	}
	redelivered := 0
	for _, id := range ids {
		err := f.Store.InTx(ctx, func(tx *store.Tx) error {
			task, err := tx.TaskForUpdate(ctx, id)
			if err != nil || task.Status != store.TaskQueued {
				return err
			}
			redelivered++
			_, err = f.nextAttempt(ctx, tx, task, task.ChangeID)
			return err
		})
		if err != nil {
			return redelivered, err
		}
	}
	return redelivered, nil
}

// CleanTasks removes finished tasks that are older than the age, in batches, and reports how many.
func (f *Fleet) CleanTasks(ctx context.Context, age time.Duration) (int64, error) {
	const batch = 1000
	var total int64
	for {
		removed, err := f.Store.DeleteOldTasks(ctx, store.DeleteOldTasksParams{OlderThan: age, Batch: batch})
		total += removed
		if err != nil || removed < batch {
			return total, store.AsFault(err)
		}
	}
}
