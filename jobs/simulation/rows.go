package simulation

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"commander/store"
)

// rows are what the task machine writes, in one version: a transaction works on a copy.
type rows struct {
	store.Querier // nil: a question that is not answered below ends the run

	now      time.Time // the database's
	faults   planted
	clusters map[uuid.UUID]store.Cluster
	order    []uuid.UUID // of the clusters
	tasks    []store.Task
	states   map[uuid.UUID]store.ClusterState
	// revisions of all clusters, as they were written.
	revisions []store.ClusterRevision
	jobs      []delivery
	workspace store.Workspace
	template  store.ClusterTemplate
	version   store.ClusterTemplateVersion
}

// copied is a version to write on. Rows are replaced, never changed in place.
func (r *rows) copied() *rows {
	c := *r
	c.clusters, c.states = maps.Clone(r.clusters), maps.Clone(r.states)
	c.tasks, c.revisions, c.jobs = slices.Clone(r.tasks), slices.Clip(r.revisions), slices.Clone(r.jobs)
	return &c
}

// task finds a row to read or replace; nil when there is none.
func (r *rows) task(id uuid.UUID) *store.Task {
	for i := range r.tasks {
		if r.tasks[i].ID == id {
			return &r.tasks[i]
		}
	}
	return nil
}

// delivery is a job of the queue.
type delivery struct {
	id        int64
	task      uuid.UUID
	attempt   int
	state     string // available, running, completed, discarded
	attempted time.Time
}

func (r *rows) job(id int64) *delivery {
	for i := range r.jobs {
		if r.jobs[i].id == id {
			return &r.jobs[i]
		}
	}
	return nil
}

func is(status store.TaskStatus, any ...store.TaskStatus) bool { return slices.Contains(any, status) }

// active are the statuses of tasks that are not over.
var active = []store.TaskStatus{store.TaskQueued, store.TaskRunning, store.TaskWaitingApproval, store.TaskLost, store.TaskLostInCritical}

// inOrder sorts tasks as the queries do: by priority, then by age.
func inOrder(tasks []store.Task) {
	slices.SortStableFunc(tasks, func(a, b store.Task) int { return a.Priority - b.Priority })
}
