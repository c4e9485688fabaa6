package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/internal/fault"
	"commander/store"
)

// ErrSuperseded tells a worker that the attempt it holds is not the task's current one, or that
// the task is no longer its to write to. The worker ends at once.
var ErrSuperseded = errors.New("the attempt was superseded")

// Work is all that a worker needs to carry out a task.
type Work struct {
	Task    store.Task
	Cluster store.Cluster
	// Configuration is without what only pages need: Schema and Shown.
	Configuration
	// State is the installer's, as it was after the last finished phase; nil when there is none.
	State []byte
	// Kubeconfig reaches a cluster that is about to be attached; nil otherwise.
	Kubeconfig []byte
	// AgentToken is a fresh one for the agent of a cluster that is being installed or attached.
	AgentToken string
}

// Claim takes the current attempt of a queued task for a worker. It fails with ErrSuperseded when
// the attempt is over or another task of the cluster goes first: that one's end delivers this one again.
func (f *Fleet) Claim(ctx context.Context, d Delivery, worker string) (Work, error) {
	var work Work
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		cluster, err := clusterOf(ctx, tx, d)
		if err != nil {
			return err
		}
		if others, err := tx.ActiveTasks(ctx, cluster.ID); err != nil {
			return err
		} else if slices.ContainsFunc(others, func(o store.Task) bool { return o.ID != d.TaskID && (o.Status == store.TaskRunning || Lost(o)) }) {
			return ErrSuperseded
		}
		task, err := tx.ClaimTask(ctx, store.ClaimTaskParams{ID: d.TaskID, Attempt: d.Attempt, Worker: worker, Revision: cluster.Revision})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrSuperseded
		}
		if err != nil {
			return fmt.Errorf("claim task %s: %w", d.TaskID, err)
		}
		status, moves := working[task.Kind]
		if task.Kind == store.TaskBootstrap {
			status, moves = store.ClusterCreating, true
		}
		if moves { // a check may have said something else while the task waited for another attempt
			if err := f.move(ctx, tx, &cluster, status); err != nil {
				return err
			}
		}
		changedTask(tx, task)
		work, err = f.prepare(ctx, tx, task, cluster)
		return err
	})
	return work, err
}

func (f *Fleet) prepare(ctx context.Context, tx *store.Tx, task store.Task, cluster store.Cluster) (Work, error) {
	work := Work{Task: task, Cluster: cluster}
	var err error
	if work.Configuration, err = f.rendered(ctx, tx.Querier, cluster.ID, cluster.Revision); err != nil {
		return work, err
	}
	private, err := tx.Keys.Unseal("clusters", "ssh_private_key", cluster.ID, cluster.SshPrivateKey, cluster.SshPrivateKeyKey)
	if err != nil {
		return work, err
	}
	work.Secrets = append(work.Secrets, string(private))
	if task.Kind == store.TaskBootstrap {
		init := &work.Rendering.Real.InitConfiguration
		var secrets []string
		if *init, secrets, err = f.installFrom(ctx, tx, cluster, *init); err != nil {
			return work, err
		}
		work.Secrets = append(work.Secrets, secrets...)
	}
	state, err := tx.ClusterState(ctx, cluster.ID)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
	case err != nil:
		return work, err
	default:
		if work.State, err = tx.Keys.Unseal("cluster_states", "state", cluster.ID, state.State, state.StateKey); err != nil {
			return work, err
		}
	}
	if task.Kind == store.TaskAttach {
		connection, err := tx.ClusterConnection(ctx, cluster.ID)
		if err != nil {
			return work, fmt.Errorf("read how cluster %s is reached: %w", cluster.ID, err)
		}
		if work.Kubeconfig, err = tx.Keys.Unseal("cluster_connections", "kubeconfig", cluster.ID, connection.Kubeconfig, connection.KubeconfigKey); err != nil {
			return work, err
		}
	}
	if task.Kind == store.TaskBootstrap || task.Kind == store.TaskAttach {
		if work.AgentToken, err = f.newAgentToken(ctx, tx, cluster.ID); err != nil {
			return work, err
		}
		work.Secrets = append(work.Secrets, work.AgentToken)
	}
	return work, nil
}

// Beat is an attempt's sign of life. It reports whether the task was asked to stop, and fails
// with ErrSuperseded when the attempt is over for its worker.
func (f *Fleet) Beat(ctx context.Context, d Delivery) (stop bool, err error) {
	stop, err = f.Store.BeatTask(ctx, store.BeatTaskParams{ID: d.TaskID, Attempt: d.Attempt})
	if errors.Is(err, pgx.ErrNoRows) {
		return false, ErrSuperseded
	}
	return stop, store.AsFault(err)
}

// clusterOf locks the cluster of an attempt's task. There is none for a check that counted as lost, and
// that a later one has replaced.
func clusterOf(ctx context.Context, tx *store.Tx, d Delivery) (store.Cluster, error) {
	cluster, err := tx.ClusterOfTaskForUpdate(ctx, d.TaskID)
	if errors.Is(err, pgx.ErrNoRows) {
		return cluster, ErrSuperseded
	}
	return cluster, err
}

// held locks the task of an attempt that still holds it.
func held(ctx context.Context, tx *store.Tx, d Delivery) (store.Task, error) {
	task, err := tx.TaskForUpdate(ctx, d.TaskID)
	if errors.Is(err, pgx.ErrNoRows) {
		return task, ErrSuperseded
	}
	if err == nil && (task.Attempt != d.Attempt || task.Status != store.TaskRunning) {
		return task, ErrSuperseded
	}
	return task, err
}

// Advance notes where an attempt is.
func (f *Fleet) Advance(ctx context.Context, d Delivery, p Progress) error {
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		task, err := held(ctx, tx, d)
		if err != nil {
			return err
		}
		phase, sub := p.Current, p.CurrentSub
		if phase == "" {
			phase = task.Phase
		}
		_, err = tx.SetTaskProgress(ctx, store.SetTaskProgressParams{
			ID: d.TaskID, Attempt: d.Attempt, Phase: phase, SubPhase: sub, Progress: p.Fraction,
			Phases: follow(task.Phases, p, f.Clock.Now()),
		})
		tx.Changed(store.TaskTopic(task.ID), store.ClusterTopic(task.ClusterID), store.WorkspaceTasksTopic(task.WorkspaceID))
		return err
	})
}

// PhaseEnd is what an engine says at the end of a phase, before it waits for an answer.
type PhaseEnd struct {
	Completed, Next string
	// Critical says that interrupting the next phase is unsafe.
	Critical bool
	State    []byte
}

// EndPhase stores the state that an attempt reached, sealed, and only if the attempt still holds
// the task; the engine may go on once it returns. stop reports whether the task was asked to stop.
func (f *Fleet) EndPhase(ctx context.Context, d Delivery, end PhaseEnd) (stop bool, err error) {
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		task, err := held(ctx, tx, d)
		if err != nil {
			return err
		}
		stop = task.StopRequested
		if err := f.putState(ctx, tx, task, end.State, end.Completed); err != nil {
			return err
		}
		_, err = tx.SetTaskPhaseEnd(ctx, store.SetTaskPhaseEndParams{
			ID: d.TaskID, Attempt: d.Attempt, NextPhase: end.Next, Critical: end.Critical,
			Phases: follow(task.Phases, Progress{Current: end.Next, Completed: end.Completed}, f.Clock.Now()),
		})
		tx.Changed(store.TaskTopic(task.ID), store.ClusterTopic(task.ClusterID), store.WorkspaceTasksTopic(task.WorkspaceID))
		return err
	})
	return stop, err
}

func (f *Fleet) putState(ctx context.Context, tx *store.Tx, task store.Task, state []byte, phase string) error {
	if state == nil {
		return nil
	}
	sealed, key := tx.Keys.Seal("cluster_states", "state", task.ClusterID, state)
	err := tx.SetClusterState(ctx, store.SetClusterStateParams{
		ClusterID: task.ClusterID, State: sealed, StateKey: key, TaskID: task.ID, Attempt: task.Attempt, Phase: phase,
	})
	if err != nil {
		return fmt.Errorf("store the state of cluster %s: %w", task.ClusterID, err)
	}
	return nil
}

// Ending is how an attempt ended.
type Ending struct {
	// Status is succeeded, failed, cancelled or waiting for approval.
	Status store.TaskStatus
	Error  string
	State  []byte
	// ChangeID names the destructive changes that wait for approval.
	ChangeID string
	// Result is what the installer found, as JSON; nil for nothing.
	Result json.RawMessage
	// OutOfSync says that a check found a difference.
	OutOfSync bool
	// Actual are the documents that a check read in the cluster; nil when it read none.
	Actual *store.Actual
}

// Finish ends an attempt: the state is stored, the task and its cluster get their status, and the
// cluster's next task is delivered.
func (f *Fleet) Finish(ctx context.Context, d Delivery, end Ending) error {
	return f.Store.InTx(ctx, func(tx *store.Tx) error { return f.finish(ctx, tx, d, end) })
}

func (f *Fleet) finish(ctx context.Context, tx *store.Tx, d Delivery, end Ending) error {
	cluster, err := clusterOf(ctx, tx, d)
	if err != nil {
		return err
	}
	task, err := held(ctx, tx, d)
	if err != nil {
		return err
	}
	if !CanBecome(task.Status, end.Status) {
		return fault.New(fault.Conflict, "task.not_now")
	}
	if err := f.putState(ctx, tx, task, end.State, task.Phase); err != nil {
		return err
	}
	task, err = tx.FinishTask(ctx, store.FinishTaskParams{
		ID: d.TaskID, Attempt: d.Attempt, Status: end.Status, Error: end.Error, ChangeID: end.ChangeID,
		Result: resultOf(end),
		Phases: conclude(task.Phases, end.Status == store.TaskSucceeded, f.Clock.Now()),
	})
	if err != nil {
		return fmt.Errorf("finish task %s: %w", d.TaskID, err)
	}
	changedTask(tx, task)
	switch {
	case task.Kind == store.TaskCheck:
		err = f.afterCheck(ctx, tx, task, &cluster, end)
	case task.Kind == store.TaskAttach && task.Status == store.TaskSucceeded:
		err = f.afterAttach(ctx, tx, task, &cluster, end)
	default:
		err = f.afterTask(ctx, tx, task, &cluster)
	}
	if err != nil {
		return err
	}
	if err := f.notifyEnd(ctx, tx, task, cluster); err != nil {
		return err
	}
	return f.deliverNext(ctx, tx, cluster)
}

// notifyEnd tells people of ends that need them. A check that fails is shown and not told: it is
// tried again in minutes.
func (f *Fleet) notifyEnd(ctx context.Context, tx *store.Tx, task store.Task, cluster store.Cluster) error {
	switch {
	case task.Status == store.TaskWaitingApproval && cluster.Status == store.ClusterDestructiveChanges:
		return f.notify(ctx, tx, cluster, EventApprovalNeeded, &task)
	case task.Status == store.TaskFailed && task.Kind != store.TaskCheck:
		return f.notify(ctx, tx, cluster, EventTaskFailed, &task)
	}
	return nil
}

func resultOf(end Ending) json.RawMessage {
	if end.Result == nil {
		return json.RawMessage("{}")
	}
	return end.Result
}

// afterTask is what a cluster becomes when its task ended.
func (f *Fleet) afterTask(ctx context.Context, tx *store.Tx, task store.Task, cluster *store.Cluster) error {
	switch {
	case task.Status == store.TaskWaitingApproval:
		next, err := f.nextChange(ctx, tx, cluster.ID)
		if err != nil {
			return err
		}
		if next { // what comes next asks again if it must
			return f.close(ctx, tx, task, store.TaskCancelled, "task.superseded")
		}
		if err := tx.SetDestructiveChange(ctx, store.SetDestructiveChangeParams{ID: cluster.ID, DestructiveChangeID: task.ChangeID}); err != nil {
			return err
		}
		return f.move(ctx, tx, cluster, store.ClusterDestructiveChanges)
	case task.Status != store.TaskSucceeded:
		return f.settle(ctx, tx, cluster, task.Kind)
	case deletes(task):
		return f.archive(ctx, tx, cluster, store.ClusterDeleted, "")
	case task.Kind == store.TaskDetach:
		return f.archive(ctx, tx, cluster, store.ClusterDetached, "")
	}
	if cluster.DestructiveChangeID != "" {
		if err := tx.SetDestructiveChange(ctx, store.SetDestructiveChangeParams{ID: cluster.ID}); err != nil {
			return err
		}
	}
	if err := tx.DeleteClusterCheck(ctx, cluster.ID); err != nil {
		return err // what the last check found is undone
	}
	applied := task.Revision
	if err := tx.SetClusterApplied(ctx, store.SetClusterAppliedParams{ID: cluster.ID, AppliedRevision: &applied}); err != nil {
		return err
	}
	cluster.WasCreated = true
	deleting := cluster.Status == store.ClusterDelete || cluster.Status == store.ClusterDetaching
	if err := f.move(ctx, tx, cluster, outcomes[task.Kind].done); err != nil {
		return err
	}
	if task.Kind == store.TaskBootstrap {
		if err := f.supersede(ctx, tx, cluster.ID, store.TaskBootstrap); err != nil {
			return err // it is there now: what changed meanwhile is a change
		}
	}
	if cluster.Revision == applied || deleting {
		return nil
	}
	// Somebody changed the configuration while the task ran.
	_, err := f.changeNow(ctx, tx, System, cluster)
	return err
}

// nextChange reports whether a task that is more than a look waits on a cluster.
func (f *Fleet) nextChange(ctx context.Context, tx *store.Tx, clusterID uuid.UUID) (bool, error) {
	others, err := tx.ActiveTasks(ctx, clusterID)
	return slices.ContainsFunc(others, func(o store.Task) bool { return o.Status == store.TaskQueued && o.Kind != store.TaskCheck }), err
}

// supersede cancels the queued tasks of a kind that have become pointless.
func (f *Fleet) supersede(ctx context.Context, tx *store.Tx, clusterID uuid.UUID, kind store.TaskKind) error {
	others, err := tx.ActiveTasks(ctx, clusterID)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Status != store.TaskQueued || other.Kind != kind {
			continue
		}
		if err := f.close(ctx, tx, other, store.TaskCancelled, "task.superseded"); err != nil {
			return err
		}
	}
	return nil
}

// deliverNext hands out the cluster's next queued task, now that none runs.
func (f *Fleet) deliverNext(ctx context.Context, tx *store.Tx, cluster store.Cluster) error {
	next, err := tx.NextQueuedTask(ctx, cluster.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if next.Delivery != nil {
		return nil
	}
	if status, moves := working[next.Kind]; moves {
		if err := f.move(ctx, tx, &cluster, status); err != nil {
			return err
		}
	}
	return f.deliver(ctx, tx, next)
}

// HandBack queues the next attempt of a task whose worker shuts down at the end of a phase.
func (f *Fleet) HandBack(ctx context.Context, d Delivery, state []byte) error {
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		if _, err := clusterOf(ctx, tx, d); err != nil {
			return err
		}
		task, err := held(ctx, tx, d)
		if err != nil {
			return err
		}
		if task.StopRequested { // by a person, at the same moment
			return f.finish(ctx, tx, d, Ending{Status: store.TaskCancelled, Error: "task.stopped", State: state})
		}
		if err := f.putState(ctx, tx, task, state, task.Phase); err != nil {
			return err
		}
		_, err = f.nextAttempt(ctx, tx, task, task.ChangeID)
		return err
	})
}
