package fleet_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// TestOldTasksAreCleaned removes what is over and old, in batches, and nothing that a person still has
// to decide about.
func TestOldTasksAreCleaned(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	done := b.Installed(t, "done", nil)
	_, lostTask := b.Create(t, "lost", nil)
	claim(t, b, lostTask)
	lose(t, b, lostTask)
	_, waiting := converging(t, b, "asking")
	claim(t, b, waiting)
	if err := b.Finish(t.Context(), delivery(waiting), fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "x"}); err != nil {
		t.Fatal(err)
	}
	_, queued := b.Create(t, "queued", nil)
	young := b.Installed(t, "young", nil)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := b.Store.Pool.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("update tasks set created_at = now() - interval '31 days' where cluster_id <> $1", young.ID)
	exec(`insert into tasks (workspace_id, cluster_id, kind, status, revision, created_by, created_at, finished_at)
		select $1, $2, 'check', 'failed', 1, 'x', now() - interval '40 days', now() - interval '40 days' from generate_series(1, 2500)`, b.Workspace.ID, done.ID)
	removed, err := b.CleanTasks(t.Context(), 30*24*time.Hour)
	if err != nil || removed != 2502 { // and the installations of "done" and "asking"
		t.Errorf("got %d, %v; want 2502", removed, err)
	}
	rows, err := b.Store.Pool.Query(t.Context(), "select id::text from tasks order by created_at")
	if err != nil {
		t.Fatal(err)
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(left) != 4 {
		t.Errorf("got %d left, %v; want the lost one, the one that waits, the queued and the young one", len(left), err)
	}
	for _, id := range []string{lostTask.ID.String(), waiting.ID.String(), queued.ID.String()} {
		found := false
		for _, other := range left {
			found = found || other == id
		}
		if !found {
			t.Errorf("task %s is gone", id)
		}
	}
}

// TestACleanedTaskIsNotForgotten deletes a cluster whose only task, an installation that failed half
// way, was cleaned long ago: what it made must be destroyed all the same.
func TestACleanedTaskIsNotForgotten(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "half", nil)
	b.Run(t, task, store.TaskFailed)
	if _, err := b.Store.Pool.Exec(t.Context(), "update tasks set created_at = now() - interval '31 days'"); err != nil {
		t.Fatal(err)
	}
	if removed, err := b.CleanTasks(t.Context(), 30*24*time.Hour); err != nil || removed != 1 {
		t.Fatalf("got %d, %v", removed, err)
	}
	_, deletion, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || deletion == nil || deletion.Kind != store.TaskDestroy {
		t.Errorf("got %+v, %v; want a task that destroys", deletion, err)
	}
}
