package jobs_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.uber.org/goleak"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/jobs"
	"commander/store"
)

var quiet = slog.New(slog.NewJSONHandler(io.Discard, nil))

// handed is a cluster worker that tells what it was handed.
type handed chan fleet.Delivery

func (h handed) Work(_ context.Context, d fleet.Delivery) error { h <- d; return nil }

func TestATaskReachesTheWorkerOnce(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	got := make(handed, 10)
	client, err := jobs.New(jobs.Deps{Pool: b.Store.Pool, Fleet: b.Fleet, Log: quiet, Clusters: got, ClusterWorkers: 2, Housekeeping: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	_, task := b.Create(t, "delivered", nil)
	if d := <-got; d.TaskID != task.ID || d.Attempt != 1 {
		t.Errorf("got %+v, want attempt 1 of %s", d, task.ID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if err := client.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 {
		t.Errorf("the task was handed out again: %+v", <-got)
	}
}

func TestChoresAreRunByName(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "old", nil)
	b.Run(t, task, store.TaskSucceeded)
	if _, err := b.Store.Pool.Exec(t.Context(), "update tasks set created_at = now() - interval '31 days'"); err != nil {
		t.Fatal(err)
	}
	if err := jobs.RunChore(t.Context(), b.Fleet, quiet, "clean-tasks"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store.Task(t.Context(), task.ID); err == nil {
		t.Error("a task of 31 days ago was kept")
	}
	if err := jobs.RunChore(t.Context(), b.Fleet, quiet, "nonsense"); err == nil {
		t.Error("an unknown chore was run")
	}
}

func TestTheTaskCheckerWaitsAfterItCouldNotSee(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	b.QuietLimit = 5 * time.Second
	_, task := b.Create(t, "silent", nil)
	if _, err := b.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: 1}, "w"); err != nil {
		t.Fatal(err)
	}
	b.Silence(t, task.ID, time.Hour)
	status := func() store.TaskStatus {
		row, err := b.Store.Task(t.Context(), task.ID)
		if err != nil {
			t.Fatal(err)
		}
		return row.Task.Status
	}
	checker := &jobs.TaskChecker{Fleet: b.Fleet, Log: quiet, Every: 10 * time.Millisecond}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- checker.Run(ctx) }()
	// A checker that only just began cannot know whether the silence is its own: several looks pass.
	looks := time.NewTicker(20 * time.Millisecond)
	defer looks.Stop()
	for range 5 {
		<-looks.C
		if got := status(); got != store.TaskRunning {
			t.Fatalf("got %s: the checker judged before it could know", got)
		}
	}
	for status() != store.TaskLost {
		select {
		case <-looks.C:
		case <-t.Context().Done():
			t.Fatal("the task was never declared lost")
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestChecksAreStartedWhenDue(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "due", nil)
	if n, err := b.StartChecks(t.Context(), 10); err != nil || n != 0 {
		t.Fatalf("got %d, %v: the cluster was just looked at", n, err)
	}
	if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '2 minutes'"); err != nil {
		t.Fatal(err)
	}
	if n, err := b.StartChecks(t.Context(), 10); err != nil || n != 1 {
		t.Fatalf("got %d, %v; want one", n, err)
	}
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 1 || active[0].Kind != store.TaskCheck {
		t.Fatalf("got %+v, %v", active, err)
	}
	d := fleet.Delivery{TaskID: active[0].ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded, OutOfSync: true}); err != nil {
		t.Fatal(err)
	}
	active, err = b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 1 || active[0].Kind != store.TaskConverge {
		t.Errorf("drift was not followed by a change: %+v, %v", active, err)
	}
}

func TestAnUnknownClusterIsCheckedAtItsInterval(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "unknown", nil)
	look := func(want int) {
		t.Helper()
		if n, err := b.StartChecks(t.Context(), 10); err != nil || n != want {
			t.Fatalf("got %d checks, %v; want %d", n, err, want)
		}
	}
	pass := func() {
		t.Helper()
		if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '2 minutes'"); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	look(1)
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 1 {
		t.Fatalf("got %+v, %v", active, err)
	}
	d := fleet.Delivery{TaskID: active[0].ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "it cannot be reached"}); err != nil {
		t.Fatal(err)
	}
	if c, err := b.Store.Cluster(t.Context(), cluster.ID); err != nil || c.Status != store.ClusterUnknown {
		t.Fatalf("got %s, %v; want unknown", c.Status, err)
	}
	look(0) // it was just looked at
	pass()
	look(1)
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The server that the tests share is ended with the process.
		goleak.IgnoreAnyFunction("commander/internal/postgres/pgtest.sharedServer"))
}

// TestAJobWhoseProcessWasKilledIsDeliveredAgain leaves a move's job as a killed process leaves it. The
// client that River lets lead works on clusters only: it must know the kinds of others all the same.
func TestAJobWhoseProcessWasKilledIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	leader, err := jobs.New(jobs.Deps{Pool: b.Store.Pool, Fleet: b.Fleet, Log: quiet, Clusters: make(handed, 1), ClusterWorkers: 1})
	if err != nil {
		t.Fatal(err)
	}
	cluster := b.Installed(t, "moved", nil)
	body := fleet.BodyOf(b.Lab)
	body.InitConfiguration = "# another version\n"
	template, err := b.CreateTemplate(t.Context(), b.Admin, fleet.NewTemplate{WorkspaceID: b.Workspace.ID, Name: "next", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	move, err := b.SwitchClusters(t.Context(), b.Admin, fleet.SwitchPlan{
		VersionID: *template.CurrentVersionID, WaveSize: 1, Parallel: 1, Clusters: []fleet.SwitchTarget{{ID: cluster.ID, Revision: cluster.Revision}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const killed = `update river_job set state = 'running', attempt = 1, attempted_at = now() - interval '5 minutes', attempted_by = '{gone}' where kind = 'clusters.switch'`
	if _, err := b.Store.Pool.Exec(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
	start := func(deps jobs.Deps) {
		client, err := jobs.New(deps)
		if err != nil {
			t.Fatal(err)
		}
		run(t, client)
	}
	run(t, leader)
	start(jobs.Deps{Pool: b.Store.Pool, Fleet: b.Fleet, Log: quiet, Housekeeping: true})
	looks := time.NewTicker(50 * time.Millisecond)
	defer looks.Stop()
	late := time.After(time.Minute)
	for {
		after, err := b.Store.BulkSwitch(t.Context(), move.ID)
		if err != nil {
			t.Fatal(err)
		}
		if after.FinishedAt != nil {
			break
		}
		select {
		case <-looks.C:
		case <-late:
			t.Fatal("the move never went on")
		}
	}
	if after, err := b.Store.Cluster(t.Context(), cluster.ID); err != nil || *after.TemplateVersionID != *template.CurrentVersionID {
		t.Errorf("got version %v, %v", after.TemplateVersionID, err)
	}
}

// run starts a client and stops it when the test ends.
func run(t *testing.T, client *river.Client[pgx.Tx]) {
	t.Helper()
	if err := client.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := client.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
}
