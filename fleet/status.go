package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// nextCluster says which status of a cluster may follow which. Beside what a task does to its
// cluster stands what a person may do meanwhile: a cluster that is being deleted passes through the
// end of the task that ran before.
var nextCluster = map[store.ClusterStatus][]store.ClusterStatus{
	store.ClusterNew:                    {store.ClusterCreating, store.ClusterConfigurationError, store.ClusterDelete, store.ClusterDeleted},
	store.ClusterConfigurationError:     {store.ClusterNew, store.ClusterCreating, store.ClusterDelete, store.ClusterDeleted},
	store.ClusterCreating:               {store.ClusterInSync, store.ClusterCreationFailed, store.ClusterDelete},
	store.ClusterCreationFailed:         {store.ClusterCreating, store.ClusterConfigurationError, store.ClusterDelete, store.ClusterDeleted},
	store.ClusterInSync:                 {store.ClusterUpdating, store.ClusterPendingChanges, store.ClusterUnknown, store.ClusterDelete, store.ClusterDeleted, store.ClusterDetaching},
	store.ClusterUpdating:               {store.ClusterInSync, store.ClusterSynchronizationFailure, store.ClusterDestructiveChanges, store.ClusterDelete, store.ClusterDetaching},
	store.ClusterSynchronizationFailure: {store.ClusterUpdating, store.ClusterInSync, store.ClusterPendingChanges, store.ClusterUnknown, store.ClusterDelete, store.ClusterDeleted, store.ClusterDetaching},
	store.ClusterPendingChanges:         {store.ClusterUpdating, store.ClusterInSync, store.ClusterUnknown, store.ClusterDelete, store.ClusterDeleted, store.ClusterDetaching},
	store.ClusterDestructiveChanges:     {store.ClusterUpdating, store.ClusterPendingChanges, store.ClusterSynchronizationFailure, store.ClusterDelete, store.ClusterDeleted, store.ClusterDetaching},
	store.ClusterUnknown:                {store.ClusterInSync, store.ClusterUpdating, store.ClusterPendingChanges, store.ClusterDelete, store.ClusterDeleted, store.ClusterDetaching},
	store.ClusterDelete: {
		store.ClusterDeleted, store.ClusterDeletionFailed,
		store.ClusterInSync, store.ClusterCreationFailed, store.ClusterSynchronizationFailure, store.ClusterDestructiveChanges, store.ClusterUnknown,
		store.ClusterCreating, store.ClusterUpdating, // the deletion was called off before it began
	},
	store.ClusterReadyToJoin:    {store.ClusterJoining, store.ClusterDeleted},
	store.ClusterJoining:        {store.ClusterInSync, store.ClusterReadyToJoin},
	store.ClusterDetaching:      {store.ClusterDetached, store.ClusterUnknown, store.ClusterInSync, store.ClusterSynchronizationFailure, store.ClusterDestructiveChanges},
	store.ClusterDeletionFailed: {store.ClusterDelete, store.ClusterDeleted},
}

// ClusterCanBecome reports whether a cluster may pass from one status to another.
func ClusterCanBecome(from, to store.ClusterStatus) bool {
	return slices.Contains(nextCluster[from], to)
}

// outcome is what a cluster becomes when a task of a kind ends.
type outcome struct{ done, failed store.ClusterStatus }

// working is what a cluster is while a task of a kind waits or runs; a check leaves it as it is.
var working = map[store.TaskKind]store.ClusterStatus{
	store.TaskConverge: store.ClusterUpdating,
	store.TaskAttach:   store.ClusterJoining,
	store.TaskDetach:   store.ClusterDetaching,
	store.TaskDestroy:  store.ClusterDelete,
	store.TaskAbort:    store.ClusterDelete,
}

var outcomes = map[store.TaskKind]outcome{
	store.TaskBootstrap: {store.ClusterInSync, store.ClusterCreationFailed},
	store.TaskConverge:  {store.ClusterInSync, store.ClusterSynchronizationFailure},
	store.TaskDestroy:   {store.ClusterDeleted, store.ClusterDeletionFailed},
	store.TaskAbort:     {store.ClusterDeleted, store.ClusterDeletionFailed},
	store.TaskAttach:    {store.ClusterInSync, store.ClusterReadyToJoin},
	store.TaskDetach:    {store.ClusterDetached, store.ClusterUnknown},
}

// Attention lists the statuses in which a cluster waits for a person.
var Attention = []store.ClusterStatus{
	store.ClusterConfigurationError, store.ClusterCreationFailed, store.ClusterSynchronizationFailure,
	store.ClusterDestructiveChanges, store.ClusterPendingChanges, store.ClusterDeletionFailed,
}

// Busy lists the statuses in which Commander works on a cluster.
var Busy = []store.ClusterStatus{
	store.ClusterNew, store.ClusterCreating, store.ClusterUpdating, store.ClusterDelete, store.ClusterJoining, store.ClusterDetaching,
}

// States draws both tables as a page of docs/, so that what people read is what the code does.
func States() string {
	var b strings.Builder
	b.WriteString("# States\n\nMade from `fleet/status.go` by `go test ./fleet -run TestStatesAreDrawn -update`; do not edit.\n")
	draw(&b, "Clusters", "The words of the API; the pages say them in the reader's language.", nextCluster)
	draw(&b, "Tasks", "A task that is over stays so until a person tries it again.", nextTask)
	return b.String()
}

func draw[S ~string](b *strings.Builder, title, about string, next map[S][]S) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```mermaid\nstateDiagram-v2\n", title, about)
	for _, from := range slices.Sorted(maps.Keys(next)) {
		for _, to := range next[from] {
			fmt.Fprintf(b, "    %s --> %s\n", from, to)
		}
	}
	b.WriteString("```\n")
}
