package fleet_test

import (
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func TestRollbackReturnsToAnEarlierConfiguration(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "back", store.Values{"workerCount": 2.0, "adminPassword": "first secret"})
	_, task, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: 1, Name: "back", TemplateVersionID: b.Lab.ID, Values: store.Values{"workerCount": 5.0, "adminPassword": "second secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, *task, store.TaskSucceeded)
	if _, _, err := b.Rollback(t.Context(), b.Admin, cluster.ID, 1, 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("from a stale page: got %v", err)
	}
	if _, _, err := b.Rollback(t.Context(), b.Viewer, cluster.ID, 2, 1); !fault.Is(err, fault.Forbidden) {
		t.Errorf("by a viewer: got %v", err)
	}
	if _, _, err := b.Rollback(t.Context(), b.Admin, cluster.ID, 2, 2); !fault.Is(err, fault.Conflict) {
		t.Errorf("to where it is: got %v", err)
	}
	after, task, err := b.Rollback(t.Context(), b.Admin, cluster.ID, 2, 1)
	if err != nil || task == nil || after.Revision != 3 {
		t.Fatalf("got revision %d, task %v, %v", after.Revision, task, err)
	}
	view, err := b.Cluster(t.Context(), b.Admin, cluster.ID)
	if err != nil || view.Wanted.Values["workerCount"] != 2.0 || view.Wanted.Values["adminPassword"] != "first secret" {
		t.Errorf("got %v, %v", view.Wanted.Values, err)
	}
	_, history, total, err := b.History(t.Context(), b.Viewer, cluster.ID, fleet.HistoryFilter{})
	if err != nil || total != 3 || len(history) != 3 || history[0].Revision != 3 || history[2].TemplateName != "Lab" {
		t.Errorf("got %d revisions, %v", len(history), err)
	}
	for _, row := range history {
		if _, told := row.Parameters["adminPassword"]; told {
			t.Error("the history tells a secret")
		}
	}
}

func TestSettingsOfACluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "manual", nil)
	if cluster.SyncMode != store.SyncAuto || cluster.CheckIntervalMinutes != 1 {
		t.Errorf("got %s every %d min, want auto every minute", cluster.SyncMode, cluster.CheckIntervalMinutes)
	}
	for name, wanted := range map[string]fleet.ClusterSettings{
		"no mode": {Mode: "sometimes", CheckEvery: 1}, "never": {Mode: store.SyncAuto}, "too seldom": {Mode: store.SyncAuto, CheckEvery: 2000},
	} {
		if _, err := b.SetClusterSettings(t.Context(), b.Admin, cluster.ID, wanted); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := b.SetClusterSettings(t.Context(), b.Viewer, cluster.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 5}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("by a viewer: got %v", err)
	}
	after, err := b.SetClusterSettings(t.Context(), b.Admin, cluster.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 5})
	if err != nil || after.SyncMode != store.SyncManual || after.CheckIntervalMinutes != 5 {
		t.Errorf("got %s every %d min, %v", after.SyncMode, after.CheckIntervalMinutes, err)
	}
	// In manual mode a difference waits for a person.
	if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	if n, err := b.StartChecks(t.Context(), 1); err != nil || n != 1 {
		t.Fatalf("got %d checks, %v", n, err)
	}
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	d := fleet.Delivery{TaskID: active[0].ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), d, "w"); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), d, fleet.Ending{Status: store.TaskSucceeded, OutOfSync: true}); err != nil {
		t.Fatal(err)
	}
	if now, _ := b.Store.Cluster(t.Context(), cluster.ID); now.Status != store.ClusterPendingChanges {
		t.Errorf("got %s, want pending changes", now.Status)
	}
	if active, _ := b.Store.ActiveTasks(t.Context(), cluster.ID); len(active) != 0 {
		t.Errorf("a change was started without a person: %+v", active)
	}
}
