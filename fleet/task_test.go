package fleet_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func read(t *testing.T, b *fleettest.Bench, task store.Task) store.Task {
	t.Helper()
	row, err := b.Store.Task(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	return row.Task
}

var plan = []fleet.PlannedPhase{{Name: "BaseInfra"}, {Name: "Bundle", Skip: true}, {Name: "InstallDeckhouse", SubPhases: []string{"Connect", "Install"}}, {Name: "Finalization"}}

func statuses(phases store.Phases) map[string]string {
	out := map[string]string{}
	for _, p := range phases {
		out[p.Name] = p.Status
	}
	return out
}

func TestProgressOfATask(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "progress", nil)
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []fleet.Progress{
		{Fraction: 0.1, Current: "BaseInfra", Plan: plan},
		{Fraction: 0.5, Current: "InstallDeckhouse", CurrentSub: "Install", Completed: "BaseInfra", Completes: "Connect", Plan: plan},
		{Fraction: 0.4, Current: "InstallDeckhouse", CurrentSub: "Install", Completed: "BaseInfra", Plan: plan},
	} {
		if err := b.Advance(t.Context(), d, p); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, b, task)
	if got.Progress != 0.5 || got.Phase != "InstallDeckhouse" || got.SubPhase != "Install" {
		t.Errorf("got %v in %s/%s: progress must never go back", got.Progress, got.Phase, got.SubPhase)
	}
	want := map[string]string{"BaseInfra": "done", "Bundle": "skipped", "InstallDeckhouse": "running", "Finalization": "pending"}
	if diff := cmp.Diff(want, statuses(got.Phases)); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	connect, install := got.Phases[2].SubPhases[0], got.Phases[2].SubPhases[1]
	if connect.StartedAt == nil || connect.FinishedAt == nil || install.StartedAt == nil || install.FinishedAt != nil {
		t.Errorf("got sub-phases %+v and %+v: the first took its time, the second still does", connect, install)
	}
	b.Clock.Advance(time.Minute)
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "no"}); err != nil {
		t.Fatal(err)
	}
	got = read(t, b, task)
	if failed := got.Phases[2].SubPhases[1]; failed.Status != store.PhaseFailed || failed.FinishedAt.Sub(*failed.StartedAt) != time.Minute {
		t.Errorf("got %+v: the sub-phase failed after a minute", failed)
	}
	if got.Progress != 0.5 || statuses(got.Phases)["InstallDeckhouse"] != store.PhaseFailed {
		t.Errorf("a failure must stay below 100 %% at its phase: got %v, %v", got.Progress, statuses(got.Phases))
	}
	retried, err := b.Retry(t.Context(), b.Admin, task.ID)
	if err != nil {
		t.Fatal(err)
	}
	want = map[string]string{"BaseInfra": "done", "Bundle": "skipped", "InstallDeckhouse": "pending", "Finalization": "pending"}
	if diff := cmp.Diff(want, statuses(retried.Phases)); diff != "" {
		t.Errorf("phases of the retry (-want +got):\n%s", diff)
	}
}

func TestAnOldAttemptCanWriteNothing(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "fenced", nil)
	old := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), old, "first"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.EndPhase(t.Context(), old, fleet.PhaseEnd{Completed: "BaseInfra", Next: "InstallDeckhouse", Critical: true, State: []byte("one")}); err != nil {
		t.Fatal(err)
	}
	b.Silence(t, task.ID, time.Hour)
	if quiet, err := b.QuietTasks(t.Context()); err != nil || len(quiet) != 1 {
		t.Fatalf("got %v, %v", quiet, err)
	}
	if marked, err := b.MarkLost(t.Context(), task.ID); err != nil || !marked {
		t.Fatalf("got %v, %v", marked, err)
	}
	if got := read(t, b, task).Status; got != store.TaskLostInCritical {
		t.Errorf("got %s, want lost in a critical phase", got)
	}
	if _, err := b.Retry(t.Context(), b.Admin, task.ID); err != nil {
		t.Fatal(err)
	}
	work, err := b.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: 2}, "second")
	if err != nil || string(work.State) != "one" {
		t.Fatalf("got state %q, %v; want that of the last phase", work.State, err)
	}
	if work.AgentToken == "" || work.Task.Attempt != 2 {
		t.Errorf("got token %q, attempt %d", work.AgentToken, work.Task.Attempt)
	}
	acts := map[string]func() error{
		"claim":   func() error { _, err := b.Claim(t.Context(), old, "first"); return err },
		"beat":    func() error { _, err := b.Beat(t.Context(), old); return err },
		"advance": func() error { return b.Advance(t.Context(), old, fleet.Progress{}) },
		"phase end": func() error {
			_, err := b.EndPhase(t.Context(), old, fleet.PhaseEnd{State: []byte("stale")})
			return err
		},
		"log":       func() error { return b.AppendLog(t.Context(), old, 1, []string{"stale"}) },
		"finish":    func() error { return b.Finish(t.Context(), old, fleet.Ending{Status: store.TaskSucceeded}) },
		"hand back": func() error { return b.HandBack(t.Context(), old, nil) },
	}
	for name, act := range acts {
		if err := act(); !errors.Is(err, fleet.ErrSuperseded) {
			t.Errorf("%s of an old attempt: got %v, want it refused", name, err)
		}
	}
	state, err := b.Store.ClusterState(t.Context(), cluster.ID)
	if err != nil || state.Attempt != 1 {
		t.Errorf("got the state of attempt %d, %v", state.Attempt, err)
	}
}

func TestOnlyWhatIsOverIsTriedAgain(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "again", nil)
	retry := func(when string, want fault.Kind) {
		t.Helper()
		if _, err := b.Retry(t.Context(), b.Admin, task.ID); fault.KindOf(err) != want {
			t.Errorf("%s: got %v, want %q", when, err, want)
		}
	}
	retry("queued", fault.Conflict)
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	retry("running", fault.Conflict)
	if _, err := b.GiveUp(t.Context(), b.Admin, task.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("a task that runs is given up: got %v", err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed}); err != nil {
		t.Fatal(err)
	}
	retry("failed", "")
}

func TestOneTaskAClusterAtATime(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, first := b.Create(t, "queue", nil)
	d := fleet.Delivery{TaskID: first.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	_, second, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if queued := read(t, b, *second); queued.Delivery != nil {
		t.Error("a second task was delivered while the first runs")
	}
	if _, err := b.Claim(t.Context(), fleet.Delivery{TaskID: second.ID, Attempt: 1}, "w2"); !errors.Is(err, fleet.ErrSuperseded) {
		t.Errorf("got %v, want the claim refused", err)
	}
	stop, err := b.Beat(t.Context(), d)
	if err != nil || !stop {
		t.Errorf("got stop %v, %v: deletion must ask what runs to stop", stop, err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskCancelled}); err != nil {
		t.Fatal(err)
	}
	if queued := read(t, b, *second); queued.Delivery == nil {
		t.Error("the end of the first task did not deliver the second")
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterDelete {
		t.Errorf("got %s, want delete", c.Status)
	}
}

func TestApprovalIsBoundToWhatWasShown(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "careful", nil)
	task, err := b.Converge(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "one"}); err != nil {
		t.Fatal(err)
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterDestructiveChanges || c.DestructiveChangeID != "one" {
		t.Errorf("got %s %q", c.Status, c.DestructiveChangeID)
	}
	if _, err := b.Approve(t.Context(), b.Admin, task.ID, "two"); !fault.Is(err, fault.Conflict) {
		t.Errorf("approval of another set: got %v", err)
	}
	if _, err := b.Approve(t.Context(), b.Viewer, task.ID, "one"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("approval by a viewer: got %v", err)
	}
	approved, err := b.Approve(t.Context(), b.Admin, task.ID, "one")
	if err != nil || approved.ChangeID != "one" || approved.Attempt != 2 {
		t.Fatalf("got %q of attempt %d, %v", approved.ChangeID, approved.Attempt, err)
	}
	if _, err := b.Approve(t.Context(), b.Admin, task.ID, "one"); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second approval: got %v", err)
	}
	b.Run(t, approved, store.TaskSucceeded)
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterInSync || c.DestructiveChangeID != "" {
		t.Errorf("got %s %q", c.Status, c.DestructiveChangeID)
	}
}

// Whoever stops a change instead of approving it has not approved it.
func TestAChangeThatWasCalledOffIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "doubt", nil)
	task, err := b.Converge(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "one"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.StopTask(t.Context(), b.Admin, task.ID); err != nil {
		t.Fatal(err)
	}
	again, err := b.Retry(t.Context(), b.Admin, task.ID)
	if err != nil || again.ChangeID != "" {
		t.Errorf("got an attempt that may do %q, %v: nobody has approved anything", again.ChangeID, err)
	}
}

// A queued task that is called off leaves the cluster to the one that runs.
func TestCallingOffATaskLeavesTheRunningOneAlone(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, first := b.Create(t, "two", nil)
	d := fleet.Delivery{TaskID: first.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	_, second, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: cluster.Name, TemplateVersionID: *cluster.TemplateVersionID, Values: store.Values{"workerCount": 3.0}, Install: true,
	})
	if err != nil || second == nil {
		t.Fatalf("got %v, %v; want another task", second, err)
	}
	if _, err := b.StopTask(t.Context(), b.Admin, second.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded}); err != nil {
		t.Fatal(err)
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterUpdating {
		t.Errorf("got %s, want updating: the change that came meanwhile follows", c.Status)
	}
}

// due starts a check of a cluster and claims it.
func due(t *testing.T, b *fleettest.Bench, cluster store.Cluster) fleet.Delivery {
	t.Helper()
	if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour' where id = $1", cluster.ID); err != nil {
		t.Fatal(err)
	}
	if n, err := b.StartChecks(t.Context(), 10); err != nil || n != 1 {
		t.Fatalf("got %d checks, %v", n, err)
	}
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 1 {
		t.Fatalf("got %+v, %v", active, err)
	}
	d := fleet.Delivery{TaskID: active[0].ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestACheckThatFailsWhileAChangeWaitsEnds(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "busy", nil)
	d := due(t, b, cluster)
	change, err := b.Converge(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "it cannot be reached"}); err != nil {
		t.Fatal(err)
	}
	b.Run(t, read(t, b, change), store.TaskSucceeded)
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterInSync {
		t.Errorf("got %s, want in_sync", c.Status)
	}
}

// Nobody has to decide about a look that was lost: the next one comes in its time.
func TestALostCheckHoldsNothingUp(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "looked", nil)
	d := due(t, b, cluster)
	b.Silence(t, d.TaskID, time.Hour)
	if marked, err := b.MarkLost(t.Context(), d.TaskID); err != nil || !marked {
		t.Fatalf("got %v, %v", marked, err)
	}
	row, err := b.Store.Task(t.Context(), d.TaskID)
	if err != nil || row.Task.Status != store.TaskFailed {
		t.Errorf("got %s, %v", row.Task.Status, err)
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterUnknown {
		t.Errorf("got %s, want unknown", c.Status)
	}
	due(t, b, cluster)
}

func TestAChangeDuringATaskIsAppliedAfterIt(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "moving", nil)
	d := fleet.Delivery{TaskID: task.ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Store.SetClusterConfiguration(t.Context(), store.SetClusterConfigurationParams{
		ID: cluster.ID, Name: "moving", Status: store.ClusterCreating, TemplateVersionID: &b.Lab.ID,
	}); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded}); err != nil {
		t.Fatal(err)
	}
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 1 || active[0].Kind != store.TaskConverge || active[0].Delivery == nil {
		t.Errorf("got %+v, %v; want a delivered converge task", active, err)
	}
}

func TestUndeliveredTasksAreDeliveredAgain(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "orphan", nil)
	if n, err := b.Redeliver(t.Context(), -time.Hour); err != nil || n != 0 {
		t.Fatalf("a delivery that waits was made again: %d, %v", n, err)
	}
	if _, err := b.Store.Pool.Exec(t.Context(), "update river_job set state = 'discarded', finalized_at = now() where id = $1", *read(t, b, task).Delivery); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Redeliver(t.Context(), -time.Hour); err != nil || n != 1 {
		t.Fatalf("got %d, %v; want one", n, err)
	}
	if got := read(t, b, task); got.Attempt != 2 || got.Delivery == nil {
		t.Errorf("got attempt %d, delivery %v", got.Attempt, got.Delivery)
	}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	r := fleet.NewRedactor([]string{"hunter2", "1", "pass\"word", "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----"})
	cases := []struct{ text, want string }{
		{"password is hunter2!", "password is [redacted]!"},
		{"1 of 10 nodes", "1 of 10 nodes"},
		{"aHVudGVyMg== in base64", "[redacted] in base64"},
		{`{"p":"pass\"word"}`, `{"p":"[redacted]"}`},
		{"  MIIEvQIBADANBgkqhkiG9w0B", "  [redacted]"},
	}
	for _, c := range cases {
		if got := r.Text(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
