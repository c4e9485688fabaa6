package simulation

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"commander/store"
)

// rows are what the task machine writes, in one version: a transaction works on the next.
type rows struct {
	store.Querier // nil: a question that is not answered below ends the run

	now       time.Time // the database's
	clusters  table[store.Cluster]
	tasks     table[store.Task]
	states    table[store.ClusterState]
	revisions table[store.ClusterRevision]
	jobs      table[delivery]
	audits    table[store.InsertAuditParams]
	*given

	forbidden string // what a cluster did in this version against the table of states; empty for nothing
}

// given are rows that no run changes.
type given struct {
	workspace store.Workspace
	template  store.ClusterTemplate
	version   store.ClusterTemplateVersion
}

// continues makes a version to write on.
func (r *rows) continues(next *rows, now time.Time) {
	*next = rows{
		now: now, given: r.given, clusters: r.clusters.shared(), tasks: r.tasks.shared(), states: r.states.shared(),
		revisions: r.revisions.shared(), jobs: r.jobs.shared(), audits: r.audits.shared(),
	}
}

// written reports whether this version differs from the one before.
func (r *rows) written() bool {
	return r.clusters.mine || r.tasks.mine || r.states.mine || r.revisions.mine || r.jobs.mine || r.audits.mine
}

func taskOf(id uuid.UUID) func(*store.Task) bool {
	return func(t *store.Task) bool { return t.ID == id }
}

// task finds a row to read; nil when there is none.
func (r *rows) task(id uuid.UUID) *store.Task { return r.tasks.find(taskOf(id)) }

// delivery is a job of the queue.
type delivery struct {
	id        int64
	task      uuid.UUID
	attempt   int
	state     string // available, running, completed, discarded
	attempted time.Time
}

func jobOf(id int64) func(*delivery) bool { return func(d *delivery) bool { return d.id == id } }

func is(status store.TaskStatus, any ...store.TaskStatus) bool { return slices.Contains(any, status) }

// active are the statuses of tasks that are not over.
var active = []store.TaskStatus{store.TaskQueued, store.TaskRunning, store.TaskWaitingApproval, store.TaskLost, store.TaskLostInCritical}

// where gives the tasks that fit, as the queries sort them: by priority, then by age.
func (r *rows) where(fits func(*store.Task) bool) []*store.Task {
	var found []*store.Task
	for _, task := range r.tasks.rows {
		if fits(task) {
			found = append(found, task)
		}
	}
	slices.SortStableFunc(found, func(a, b *store.Task) int { return a.Priority - b.Priority })
	return found
}

func idsOf(tasks []*store.Task) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(tasks))
	for _, task := range tasks {
		ids = append(ids, task.ID)
	}
	return ids
}
