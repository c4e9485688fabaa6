package simulation

import (
	"slices"
	"time"

	"commander/fleet"
	"commander/store"
)

// slack is how long a beat may take on its way.
const slack = 20 * time.Second

// watch looks at each commit for a rule that it breaks.
func (w *world) watch(before, after *rows) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if after.tasks.mine {
		w.watchTasks(before, after)
	}
	if after.forbidden != "" {
		w.fail("%s", after.forbidden)
	}
	if !after.states.mine {
		return
	}
	for _, state := range after.states.rows {
		if slices.Contains(before.states.rows, state) {
			continue
		}
		if old := before.task(state.TaskID); old != nil && old.Attempt != state.Attempt {
			w.fail("attempt %d wrote the state of attempt %d", state.Attempt, old.Attempt)
		}
		w.watchState(*state)
	}
}

func (w *world) watchTasks(before, after *rows) {
	for i, task := range after.tasks.rows {
		if i < len(before.tasks.rows) && before.tasks.rows[i] == task {
			continue
		}
		old := before.task(task.ID)
		w.watchTask(old, task)
		if old != nil && old.Status == store.TaskRunning && task.Status == store.TaskSucceeded && w.differed[fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}] {
			w.watchDifference(after, task)
		}
		if task.Status != store.TaskRunning {
			continue
		}
		for _, other := range after.tasks.rows {
			switch {
			case other == task || other.ClusterID != task.ClusterID:
			case other.Status == store.TaskRunning:
				w.fail("two tasks run on one cluster")
			case is(other.Status, store.TaskLost, store.TaskLostInCritical):
				w.fail("a %s runs on a cluster whose %s is lost", task.Kind, other.Kind)
			}
		}
	}
}

// watchDifference looks for what ends a difference that a check found: a change, a question to a person,
// or the cluster's end.
func (w *world) watchDifference(after *rows, check *store.Task) {
	switch after.cluster(check.ClusterID).Status {
	case store.ClusterUpdating, store.ClusterDestructiveChanges, store.ClusterDelete, store.ClusterDeletionFailed:
	default:
		w.fail("a check found a difference, and nothing follows: the cluster is %s", after.cluster(check.ClusterID).Status)
	}
}

// watchState notes the phases whose end is kept.
func (w *world) watchState(row store.ClusterState) {
	body, err := w.keys.Unseal("cluster_states", "state", row.ClusterID, row.State, row.StateKey)
	if err != nil {
		w.fail("the state of a cluster cannot be read: %v", err)
	}
	for _, of := range readProgress(body) {
		for _, phase := range of.phases {
			w.stored[of.task+"/"+phase] = true
		}
	}
}

func (w *world) watchTask(old, task *store.Task) {
	if old == nil || old.Status != task.Status || old.Attempt != task.Attempt {
		w.tell("%s %s of cluster %s, revision %d, attempt %d: %s %s %s", task.Kind, task.ID, task.ClusterID, task.Revision, task.Attempt, task.Status, task.ChangeID, task.Error)
	}
	if old == nil {
		return
	}
	if old.Status != task.Status && !fleet.CanBecome(old.Status, task.Status) {
		w.fail("a task goes from %s to %s", old.Status, task.Status)
	}
	if task.Progress < old.Progress {
		w.fail("the progress of a task goes back from %v to %v", old.Progress, task.Progress)
	}
	if task.Progress >= 1 && task.Status != store.TaskSucceeded {
		w.fail("a task that is %s is whole", task.Status)
	}
	if old.Status == store.TaskRunning && task.Status == store.TaskRunning && (old.Attempt != task.Attempt || old.Worker != task.Worker) {
		w.fail("a task that %s works on goes to %s", old.Worker, task.Worker)
	}
	if old.Status == task.Status {
		return
	}
	holder := fleet.Delivery{TaskID: task.ID, Attempt: old.Attempt}
	switch task.Status {
	case store.TaskSucceeded:
		if !w.succeeded[holder] {
			w.fail("a %s succeeded that its engine did not finish", task.Kind)
		}
	case store.TaskLost, store.TaskLostInCritical:
		w.watchVerdict(old, holder)
	case store.TaskFailed:
		if old.Status == store.TaskRunning && task.Error == "task.given_up" { // a check, which nobody has to decide about
			w.watchVerdict(old, holder)
		}
	case store.TaskQueued:
		if old.Status != store.TaskRunning && task.Attempt == old.Attempt {
			w.fail("a task is queued again as the same attempt")
		}
	}
}

// watchVerdict holds a verdict against what really is.
func (w *world) watchVerdict(task *store.Task, holder fleet.Delivery) {
	if silent := w.databaseNow().Sub(*task.HeartbeatAt); silent < quietLimit {
		w.fail("a task counts as lost after %s of silence", silent)
	}
	at := w.executing[holder]
	if at == nil || at.p.dead {
		return
	}
	if well := later(at.since, at.p.troubled); time.Since(well) > quietLimit+slack {
		w.fail("a task counts as lost whose worker has been well for %s", time.Since(well))
	}
}
