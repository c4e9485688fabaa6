package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// Priorities of tasks: what a person waits for goes before what runs by itself.
const (
	priorityPerson = 1
	priorityRepair = 2
)

// start puts a task on a locked cluster, in the transaction that decided it. An equal task that
// still waits is taken instead of a second one. Lost and waiting tasks are given up in favour of
// the new one, except that a lost task must be decided by a person before anything but deletion.
func (f *Fleet) start(ctx context.Context, tx *store.Tx, actor Actor, cluster *store.Cluster, kind store.TaskKind) (store.Task, error) {
	active, err := tx.ActiveTasks(ctx, cluster.ID)
	if err != nil {
		return store.Task{}, fmt.Errorf("read the tasks of cluster %s: %w", cluster.ID, err)
	}
	first := true
	for _, other := range active {
		switch other.Status {
		case store.TaskQueued:
			if other.Kind == kind {
				return other, nil
			}
			if kind == store.TaskDestroy || kind == store.TaskDetach {
				if err := f.close(ctx, tx, other, store.TaskCancelled, "task.cancelled_by_deletion"); err != nil {
					return store.Task{}, err
				}
				continue
			}
			first = false
		case store.TaskRunning:
			if other.Kind == kind && kind == store.TaskDestroy {
				return other, nil // there is nothing to do twice
			}
			first = false
		case store.TaskWaitingApproval:
			if err := f.close(ctx, tx, other, store.TaskCancelled, "task.superseded"); err != nil {
				return store.Task{}, err
			}
		case store.TaskLost, store.TaskLostInCritical:
			if kind != store.TaskDestroy {
				return store.Task{}, fault.New(fault.Conflict, "cluster.task_lost", cluster.Name)
			}
			if err := f.close(ctx, tx, other, store.TaskFailed, "task.given_up"); err != nil {
				return store.Task{}, err
			}
			if err := f.auditGivenUp(ctx, tx, actor, other, "cluster.delete"); err != nil {
				return store.Task{}, err
			}
		}
	}
	task, err := tx.InsertTask(ctx, store.InsertTaskParams{
		WorkspaceID: cluster.WorkspaceID, ClusterID: cluster.ID, Kind: kind, Priority: priorityFor(actor),
		Revision: cluster.Revision, CreatedBy: actor.Signature(),
	})
	if err != nil {
		return task, fmt.Errorf("write a task for cluster %s: %w", cluster.ID, err)
	}
	if status, moves := working[kind]; moves {
		if err := f.move(ctx, tx, cluster, status); err != nil {
			return task, err
		}
	}
	if first {
		err = f.deliver(ctx, tx, task)
	}
	changedTask(tx, task)
	return task, err
}

func priorityFor(actor Actor) int {
	if actor.Type == ActorSystem {
		return priorityRepair
	}
	return priorityPerson
}

// move gives a cluster a status that may follow the one it has.
func (f *Fleet) move(ctx context.Context, tx *store.Tx, cluster *store.Cluster, status store.ClusterStatus) error {
	if cluster.Status == status {
		return nil
	}
	if !ClusterCanBecome(cluster.Status, status) {
		return fmt.Errorf("move cluster %s from %s to %s: the table of states does not allow it", cluster.ID, cluster.Status, status)
	}
	if err := tx.SetClusterStatus(ctx, store.SetClusterStatusParams{ID: cluster.ID, Status: status}); err != nil {
		return fmt.Errorf("move cluster %s to %s: %w", cluster.ID, status, err)
	}
	cluster.Status = status
	return nil
}

func changedTask(tx *store.Tx, task store.Task) {
	tx.Changed(store.TaskTopic(task.ID), store.ClusterTopic(task.ClusterID),
		store.WorkspaceTasksTopic(task.WorkspaceID), store.WorkspaceClustersTopic(task.WorkspaceID))
}

// close ends a task that nobody works on.
func (f *Fleet) close(ctx context.Context, tx *store.Tx, task store.Task, status store.TaskStatus, reason string) error {
	if !CanBecome(task.Status, status) {
		return fault.New(fault.Conflict, "task.not_now")
	}
	closed, err := tx.SetTaskStatus(ctx, store.SetTaskStatusParams{
		ID: task.ID, Status: status, Error: reason, Phases: conclude(task.Phases, false, f.Clock.Now()),
	})
	if err != nil {
		return fmt.Errorf("close task %s: %w", task.ID, err)
	}
	changedTask(tx, closed)
	return nil
}

// auditGivenUp writes down who decided about a lost task by doing something else to its cluster.
func (f *Fleet) auditGivenUp(ctx context.Context, tx *store.Tx, actor Actor, task store.Task, instead string) error {
	workspace, err := tx.Workspace(ctx, task.WorkspaceID)
	if err != nil {
		return err
	}
	return f.audit(ctx, tx, actor, change{
		Action: "task.give_up", ObjectType: "Task", ObjectID: task.ID, Workspace: workspace, Changes: map[string]any{"for": instead},
	})
}

// taskFor locks a task and its cluster for an act of a person.
func (f *Fleet) taskFor(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID) (store.Task, store.Cluster, store.Workspace, error) {
	row, err := tx.Task(ctx, id)
	if err != nil {
		return store.Task{}, store.Cluster{}, store.Workspace{}, err
	}
	// The cluster first, as everywhere, so that two acts never wait for each other.
	cluster, workspace, err := clusterForUpdate(ctx, tx, actor, TasksEdit, row.Task.ClusterID)
	if err != nil {
		return store.Task{}, cluster, workspace, err
	}
	task, err := tx.TaskForUpdate(ctx, id)
	return task, cluster, workspace, err
}

// retriable are the ends of a task after which a person may try again. A running task may be
// queued as well, but only by the worker that holds it.
var retriable = map[store.TaskStatus]bool{
	store.TaskFailed: true, store.TaskCancelled: true, store.TaskLost: true, store.TaskLostInCritical: true,
}

// Retry queues another attempt of a task that failed, was stopped or was lost. It goes on from
// the stored state, so that finished phases are not done twice. Destructive changes that were called
// off, before an approval or after it, are asked about again. It fails with Conflict when the task is
// not over, or when something else has been done to the cluster since.
func (f *Fleet) Retry(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	return f.requeue(ctx, actor, id, "task.retry", func(task store.Task) (string, error) {
		switch {
		case !retriable[task.Status]:
			return "", fault.New(fault.Conflict, "task.not_now")
		case task.Status == store.TaskCancelled:
			return "", nil
		}
		return task.ChangeID, nil
	})
}

// Approve lets a task that waits for approval go on with exactly the changes that were shown. It
// fails with Conflict when the set has changed since.
func (f *Fleet) Approve(ctx context.Context, actor Actor, id uuid.UUID, changeID string) (store.Task, error) {
	return f.requeue(ctx, actor, id, "task.approve", func(task store.Task) (string, error) {
		switch {
		case task.Status != store.TaskWaitingApproval:
			return "", fault.New(fault.Conflict, "task.not_waiting")
		case task.ChangeID != changeID:
			return "", fault.New(fault.Conflict, "task.change_differs")
		}
		return changeID, nil
	})
}

func (f *Fleet) requeue(ctx context.Context, actor Actor, id uuid.UUID, action string, decide func(store.Task) (changeID string, err error)) (store.Task, error) {
	var queued store.Task
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		task, cluster, workspace, err := f.taskFor(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		changeID, err := decide(task)
		if err != nil {
			return err
		}
		if err := f.newest(ctx, tx, task, cluster); err != nil {
			return err
		}
		queued, err = f.nextAttempt(ctx, tx, task, changeID)
		if err != nil {
			return err
		}
		if status, moves := working[task.Kind]; moves {
			if err := f.move(ctx, tx, &cluster, status); err != nil {
				return err
			}
		}
		return f.audit(ctx, tx, actor, change{
			Action: action, ObjectType: "Task", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"attempt": queued.Attempt, "cluster": cluster.Name},
		})
	})
	return queued, err
}

// newest refuses to go on with a task after which something else was done to its cluster.
func (f *Fleet) newest(ctx context.Context, tx *store.Tx, task store.Task, cluster store.Cluster) error {
	if cluster.ArchivedAt != nil {
		return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
	}
	if task.Kind == store.TaskBootstrap && cluster.WasCreated {
		return fault.New(fault.Conflict, "task.not_newest") // a cluster that is there is changed, not made
	}
	tasks, err := tx.TasksOfCluster(ctx, store.TasksOfClusterParams{ClusterID: cluster.ID, PageSize: 20})
	if err != nil {
		return err
	}
	for _, newer := range tasks {
		switch {
		case newer.ID == task.ID:
			return nil
		case newer.Kind == store.TaskCheck:
		case !Over(newer.Status), didSomethingAfter(task, newer):
			return fault.New(fault.Conflict, "task.not_newest")
		}
	}
	return nil
}

// didSomethingAfter reports whether a newer task was at work once a task had ended. It may have been
// before: what a person waits for overtakes what runs by itself.
func didSomethingAfter(task, newer store.Task) bool {
	return newer.StartedAt != nil && (task.FinishedAt == nil || newer.FinishedAt == nil || newer.FinishedAt.After(*task.FinishedAt))
}

// nextAttempt queues a task again and delivers it: its number fences off whoever still holds an
// earlier attempt.
func (f *Fleet) nextAttempt(ctx context.Context, tx *store.Tx, task store.Task, changeID string) (store.Task, error) {
	queued, err := tx.RequeueTask(ctx, store.RequeueTaskParams{ID: task.ID, Phases: again(task.Phases), ChangeID: changeID})
	if err != nil {
		return queued, fmt.Errorf("queue task %s again: %w", task.ID, err)
	}
	changedTask(tx, queued)
	return queued, f.deliver(ctx, tx, queued)
}

// StopTask asks a running task to stop at the end of its phase, and cancels a queued one.
func (f *Fleet) StopTask(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	var task store.Task
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var cluster store.Cluster
		var workspace store.Workspace
		var err error
		if task, cluster, workspace, err = f.taskFor(ctx, tx, actor, id); err != nil {
			return err
		}
		switch task.Status {
		case store.TaskRunning:
			err = tx.RequestTaskStop(ctx, id)
			changedTask(tx, task)
		case store.TaskQueued, store.TaskWaitingApproval:
			err = f.callOff(ctx, tx, task, &cluster)
		default:
			err = fault.New(fault.Conflict, "task.not_now")
		}
		if err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "task.stop", ObjectType: "Task", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"cluster": cluster.Name},
		})
	})
	return task, err
}

// callOff cancels a task that is not running. A deletion that never began has done no harm: the
// cluster goes back to what is done to it, or to not being known.
func (f *Fleet) callOff(ctx context.Context, tx *store.Tx, task store.Task, cluster *store.Cluster) error {
	if err := f.close(ctx, tx, task, store.TaskCancelled, "task.stopped"); err != nil {
		return err
	}
	others, err := tx.ActiveTasks(ctx, cluster.ID)
	if err != nil {
		return err
	}
	if !deletes(task) || task.StartedAt != nil {
		if slices.ContainsFunc(others, changes) {
			return nil // what the cluster is, that one says
		}
		return f.settle(ctx, tx, cluster, task.Kind)
	}
	status := store.ClusterUnknown
	switch {
	case len(others) > 0 && others[0].Status == store.TaskRunning && others[0].Kind == store.TaskBootstrap:
		status = store.ClusterCreating
	case len(others) > 0 && others[0].Status == store.TaskRunning && others[0].Kind == store.TaskConverge:
		status = store.ClusterUpdating
	case !cluster.WasCreated:
		status = store.ClusterCreationFailed
	}
	return f.move(ctx, tx, cluster, status)
}

// changes reports whether a task is about to do something to its cluster, or does.
func changes(task store.Task) bool {
	return task.Kind != store.TaskCheck && (task.Status == store.TaskQueued || task.Status == store.TaskRunning)
}

// settle gives a cluster the status that fits it after a task of a kind came to nothing.
func (f *Fleet) settle(ctx context.Context, tx *store.Tx, cluster *store.Cluster, kind store.TaskKind) error {
	ended, known := outcomes[kind]
	if !known {
		return nil
	}
	if kind == store.TaskBootstrap && cluster.Status == store.ClusterNew {
		return nil
	}
	return f.move(ctx, tx, cluster, ended.failed)
}

// GiveUp closes a lost task as failed, when a person has decided not to go on with it. It fails with
// Conflict when the task is not lost: an engine may still be at work.
func (f *Fleet) GiveUp(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	var task store.Task
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var cluster store.Cluster
		var workspace store.Workspace
		var err error
		if task, cluster, workspace, err = f.taskFor(ctx, tx, actor, id); err != nil {
			return err
		}
		if !Lost(task) { // whoever works on it is asked to stop, and not left alone with the cluster
			return fault.New(fault.Conflict, "task.not_now")
		}
		if err := f.close(ctx, tx, task, store.TaskFailed, "task.given_up"); err != nil {
			return err
		}
		if err := f.settle(ctx, tx, &cluster, task.Kind); err != nil {
			return err
		}
		if err := f.deliverNext(ctx, tx, cluster); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{Action: "task.give_up", ObjectType: "Task", ObjectID: id, Workspace: workspace})
	})
	return task, err
}
