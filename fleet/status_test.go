package fleet_test

import (
	"flag"
	"os"
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

var update = flag.Bool("update", false, "draw docs/states.md anew")

func TestStatesAreDrawn(t *testing.T) {
	t.Parallel()
	const page = "../docs/states.md"
	want := fleet.States()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what fleet/status.go says (%v): draw it anew with -update", page, err)
	}
}

// TestEveryStatusCanEnd walks the tables: from every status of a cluster there is a way to the
// archive, since a cluster that could not be deleted would be kept for ever.
func TestEveryStatusCanEnd(t *testing.T) {
	t.Parallel()
	for _, from := range []store.ClusterStatus{
		store.ClusterNew, store.ClusterConfigurationError, store.ClusterCreating, store.ClusterCreationFailed, store.ClusterInSync,
		store.ClusterUpdating, store.ClusterSynchronizationFailure, store.ClusterPendingChanges, store.ClusterDestructiveChanges,
		store.ClusterUnknown, store.ClusterDeletionFailed,
	} {
		if !fleet.ClusterCanBecome(from, store.ClusterDelete) {
			t.Errorf("a cluster that is %s cannot be deleted", from)
		}
	}
	if fleet.ClusterCanBecome(store.ClusterDeleted, store.ClusterNew) {
		t.Error("a deleted cluster comes back")
	}
}

func TestNothingWaitsOnAnArchivedCluster(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "going", nil)
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
	check := fleet.Delivery{TaskID: active[0].ID, Attempt: 1}
	if _, err := b.Claim(t.Context(), check, "w"); err != nil {
		t.Fatal(err)
	}
	_, task, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(t.Context(), check, fleet.Ending{Status: store.TaskSucceeded, OutOfSync: true}); err != nil {
		t.Fatal(err)
	}
	b.Run(t, read(t, b, *task), store.TaskSucceeded)
	active, err = b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil || len(active) != 0 {
		t.Errorf("got %+v, %v: nothing may wait on a cluster in the archive", active, err)
	}
	if after, _ := b.Store.Cluster(t.Context(), cluster.ID); after.Status != store.ClusterDeleted {
		t.Errorf("got %s", after.Status)
	}
}
