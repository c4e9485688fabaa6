package e2e

import (
	"testing"
	"time"

	"commander/fleet"
	"commander/store"
)

// TestTwoOfEachRole runs every background role twice over one database, and makes and deletes
// clusters: nothing is done twice and nobody is in the other's way.
func TestTwoOfEachRole(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.once("wait-postgres", "--timeout=30s")
	s.once("wait-migrations", "--timeout=30s")
	for range 2 {
		for _, role := range []string{"task-checker", "cluster-checker", "worker"} {
			s.start(shared.program("commander"), role, "--keys-dir="+s.path("keys"))
		}
		s.manager()
	}
	var made []store.Cluster
	for _, name := range []string{"castor", "pollux"} {
		cluster, task, err := s.fleet.CreateCluster(t.Context(), fleet.System, s.fresh(name, nil))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, cluster)
		await(t, name+" is installed", 2*time.Minute, s.status(task.ID)(store.TaskSucceeded))
	}
	for _, cluster := range made {
		if etcds := processesWith(cluster.ID.String(), "--data-dir"); len(etcds) != 1 {
			t.Errorf("%s has etcd processes %v, want one", cluster.Name, etcds)
		}
		if connectors := processesWith("ampg-connector", "--cluster="+cluster.ID.String()); len(connectors) != 1 {
			t.Errorf("%s has connectors %v, want one", cluster.Name, connectors)
		}
		_, task, err := s.fleet.DeleteCluster(t.Context(), fleet.System, cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		await(t, cluster.Name+" is deleted", time.Minute, s.status(task.ID)(store.TaskSucceeded))
		row, err := s.fleet.Store.Task(t.Context(), task.ID)
		if err != nil || row.Task.Attempt != 1 {
			t.Errorf("the deletion of %s took %d attempts, %v", cluster.Name, row.Task.Attempt, err)
		}
	}
}
