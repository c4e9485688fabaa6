package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// TestEveryDeletionEnds deletes clusters from every state in which one can be, lets each deletion
// end in every way, and takes each way out that a person is offered: the cluster ends in the
// archive, its name is free, nothing waits on it and no key to it is good any more.
func TestEveryDeletionEnds(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	hosts := catalog(t, b, "hosts", true)
	for i := range 2 * len(deletable) * len(endings) { // one for each cluster, and one for that which takes its name
		record(t, b, hosts, host(fmt.Sprintf("10.0.%d.%d", i/250, i%250+1)))
	}
	var err error
	if b.Lab, err = b.Store.TemplateVersion(t.Context(), withRecords(t, b, autoMaster)); err != nil {
		t.Fatal(err)
	}
	held := func(cluster store.Cluster) (n int) {
		t.Helper()
		if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from record_uses where cluster_id = $1 and exclusive", cluster.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	number := 0
	for about, prepare := range deletable {
		for ending, end := range endings {
			number++
			name := "c" + string(rune('a'+number/26)) + string(rune('a'+number%26))
			t.Run(about+", "+ending, func(t *testing.T) {
				cluster := prepare(t, b, name)
				if n := held(cluster); n != 1 {
					t.Fatalf("it holds %d records, want its master", n)
				}
				_, task, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
				if err != nil {
					t.Fatal(err)
				}
				if task != nil {
					finishOthers(t, b, cluster, *task)
					end(t, b, *task)
				}
				after, err := b.Store.Cluster(t.Context(), cluster.ID)
				if err != nil || after.ArchivedAt == nil || after.Status != store.ClusterDeleted {
					t.Fatalf("got %s, archived %v, %v", after.Status, after.ArchivedAt, err)
				}
				if active, err := b.Store.ActiveTasks(t.Context(), cluster.ID); err != nil || len(active) > 0 {
					t.Errorf("waits on it: %+v, %v", active, err)
				}
				if _, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: b.Lab.ID}); err != nil {
					t.Errorf("the name is not free: %v", err)
				}
				if n := held(cluster); n != 0 {
					t.Errorf("it still holds %d records", n)
				}
				var tokens int
				if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from agent_tokens where cluster_id = $1 and revoked_at is null", cluster.ID).Scan(&tokens); err != nil || tokens > 0 {
					t.Errorf("%d tokens of its agent are good, %v", tokens, err)
				}
				if byHand := ending == "failed and archived by hand" || ending == "lost, given up and archived by hand"; task != nil && byHand && after.LeftBehind == "" {
					t.Error("nobody is told that something was left behind")
				}
			})
		}
	}
}

var deletable = map[string]func(t *testing.T, b *fleettest.Bench, name string) store.Cluster{
	"saved only": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: b.Lab.ID})
		if err != nil {
			t.Fatal(err)
		}
		return cluster
	},
	"about to be installed": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, _ := b.Create(t, name, nil)
		return cluster
	},
	"being installed": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := b.Create(t, name, nil)
		claim(t, b, task)
		return cluster
	},
	"installation failed": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := b.Create(t, name, nil)
		b.Run(t, task, store.TaskFailed)
		return cluster
	},
	"installation lost": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := b.Create(t, name, nil)
		claim(t, b, task)
		lose(t, b, task)
		return cluster
	},
	"ready": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		return b.Installed(t, name, nil)
	},
	"in manual mode": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster := b.Installed(t, name, nil)
		if _, err := b.SetClusterSettings(t.Context(), b.Admin, cluster.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 1}); err != nil {
			t.Fatal(err)
		}
		return cluster
	},
	"being changed": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := converging(t, b, name)
		claim(t, b, task)
		return cluster
	},
	"change failed": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := converging(t, b, name)
		b.Run(t, task, store.TaskFailed)
		return cluster
	},
	"waiting for approval": func(t *testing.T, b *fleettest.Bench, name string) store.Cluster {
		t.Helper()
		cluster, task := converging(t, b, name)
		claim(t, b, task)
		if err := b.Finish(t.Context(), delivery(task), fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "x"}); err != nil {
			t.Fatal(err)
		}
		return cluster
	},
}

// endings are the ways in which the task of a deletion can end, with what a person does then.
var endings = map[string]func(t *testing.T, b *fleettest.Bench, task store.Task){
	"well": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		b.Run(t, task, store.TaskSucceeded)
	},
	"failed and tried again": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		b.Run(t, task, store.TaskFailed)
		b.Run(t, retried(t, b, task), store.TaskSucceeded)
	},
	"failed and archived by hand": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		b.Run(t, task, store.TaskFailed)
		byHand(t, b, task)
	},
	"stopped and deleted again": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		b.Run(t, task, store.TaskCancelled)
		_, again, err := b.DeleteCluster(t.Context(), b.Admin, task.ClusterID)
		if err != nil {
			t.Fatal(err)
		}
		b.Run(t, *again, store.TaskSucceeded)
	},
	"lost and tried again": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		claim(t, b, task)
		lose(t, b, task)
		b.Run(t, retried(t, b, task), store.TaskSucceeded)
	},
	"lost, given up and archived by hand": func(t *testing.T, b *fleettest.Bench, task store.Task) {
		t.Helper()
		claim(t, b, task)
		lose(t, b, task)
		if _, err := b.GiveUp(t.Context(), b.Admin, task.ID); err != nil {
			t.Fatal(err)
		}
		byHand(t, b, task)
	},
}

func delivery(task store.Task) fleet.Delivery {
	return fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
}

func claim(t *testing.T, b *fleettest.Bench, task store.Task) {
	t.Helper()
	if _, err := b.Claim(t.Context(), delivery(task), "test"); err != nil {
		t.Fatal(err)
	}
}

func lose(t *testing.T, b *fleettest.Bench, task store.Task) {
	t.Helper()
	b.Silence(t, task.ID, time.Hour)
	if marked, err := b.MarkLost(t.Context(), task.ID); err != nil || !marked {
		t.Fatalf("mark lost: got %v, %v", marked, err)
	}
}

func retried(t *testing.T, b *fleettest.Bench, task store.Task) store.Task {
	t.Helper()
	again, err := b.Retry(t.Context(), b.Admin, task.ID)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func byHand(t *testing.T, b *fleettest.Bench, task store.Task) {
	t.Helper()
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, task.ClusterID); err != nil {
		t.Fatal(err)
	}
}

func converging(t *testing.T, b *fleettest.Bench, name string) (store.Cluster, store.Task) {
	t.Helper()
	cluster := b.Installed(t, name, nil)
	task, err := b.Converge(t.Context(), b.Admin, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	return cluster, task
}

// finishOthers ends what still ran on a cluster when its deletion was asked for.
func finishOthers(t *testing.T, b *fleettest.Bench, cluster store.Cluster, deletion store.Task) {
	t.Helper()
	active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range active {
		if other.ID == deletion.ID {
			continue
		}
		if !other.StopRequested {
			t.Errorf("task %s was not asked to stop", other.Kind)
		}
		if err := b.Finish(t.Context(), delivery(other), fleet.Ending{Status: store.TaskCancelled}); err != nil {
			t.Fatal(err)
		}
	}
}
