package fleet

import (
	"slices"

	"commander/store"
)

// nextTask says which status of a task may follow which.
var nextTask = map[store.TaskStatus][]store.TaskStatus{
	store.TaskQueued:          {store.TaskRunning, store.TaskCancelled},
	store.TaskRunning:         {store.TaskSucceeded, store.TaskFailed, store.TaskCancelled, store.TaskWaitingApproval, store.TaskLost, store.TaskLostInCritical, store.TaskQueued},
	store.TaskWaitingApproval: {store.TaskQueued, store.TaskCancelled},
	store.TaskFailed:          {store.TaskQueued},
	store.TaskCancelled:       {store.TaskQueued},
	store.TaskLost:            {store.TaskQueued, store.TaskFailed},
	store.TaskLostInCritical:  {store.TaskQueued, store.TaskFailed},
}

// CanBecome reports whether a task may pass from one status to another.
func CanBecome(from, to store.TaskStatus) bool { return slices.Contains(nextTask[from], to) }

// Over reports whether a task in this status will not go on by itself.
func Over(s store.TaskStatus) bool {
	return s != store.TaskQueued && s != store.TaskRunning && s != store.TaskWaitingApproval
}

// outcome is what a cluster becomes when a task of a kind ends.
type outcome struct{ done, failed store.ClusterStatus }

// working is what a cluster is while a task of a kind waits or runs; a check leaves it as it is.
var working = map[store.TaskKind]store.ClusterStatus{
	store.TaskConverge: store.ClusterUpdating,
	store.TaskDestroy:  store.ClusterDelete,
	store.TaskAbort:    store.ClusterDelete,
}

var outcomes = map[store.TaskKind]outcome{
	store.TaskBootstrap: {store.ClusterInSync, store.ClusterCreationFailed},
	store.TaskConverge:  {store.ClusterInSync, store.ClusterSynchronizationFailure},
	store.TaskDestroy:   {store.ClusterDeleted, store.ClusterDeletionFailed},
	store.TaskAbort:     {store.ClusterDeleted, store.ClusterDeletionFailed},
}

// Attention lists the statuses in which a cluster waits for a person.
var Attention = []store.ClusterStatus{
	store.ClusterConfigurationError, store.ClusterCreationFailed, store.ClusterSynchronizationFailure,
	store.ClusterDestructiveChanges, store.ClusterPendingChanges, store.ClusterDeletionFailed,
}

// Busy lists the statuses in which Commander works on a cluster.
var Busy = []store.ClusterStatus{
	store.ClusterNew, store.ClusterCreating, store.ClusterUpdating, store.ClusterDelete, store.ClusterJoining,
}
