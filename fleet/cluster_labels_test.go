package fleet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func TestLabelsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	got, err := fleet.ParseLabels(" env=prod,\n\tteam=a.b zone= ")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Labels{"env": "prod", "team": "a.b", "zone": ""}, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	for text, key := range map[string]string{
		"env": "cluster.label.invalid", "=x": "cluster.label.invalid", "a=b=c": "cluster.label.invalid",
		"env=<b>": "cluster.label.invalid", "env=a env=b": "cluster.label.twice",
	} {
		_, err := fleet.ParseLabels(text)
		if got := refusedFields(t, err); got[fleet.LabelsField] != key {
			t.Errorf("%q: got %v, want %s", text, got, key)
		}
	}
}

func TestClustersAreFoundByTheirLabels(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	for name, labels := range map[string]store.Labels{
		"a": {"env": "prod", "team": "x"}, "b": {"env": "prod"}, "c": {"env": "test", "team": "x"}, "d": nil,
	} {
		cluster, _ := b.Create(t, name, nil)
		after, err := b.SetLabels(t.Context(), b.Admin, cluster.ID, labels)
		if err != nil || after.Revision != cluster.Revision {
			t.Fatalf("got revision %d, %v; labels are no part of the configuration", after.Revision, err)
		}
	}
	for _, c := range []struct {
		labels store.Labels
		want   []string
	}{
		{nil, []string{"a", "b", "c", "d"}},
		{store.Labels{"env": "prod"}, []string{"a", "b"}},
		{store.Labels{"env": "prod", "team": "x"}, []string{"a"}},
		{store.Labels{"env": "none"}, nil},
	} {
		list, err := b.Clusters(t.Context(), b.Viewer, b.Workspace.ID, fleet.ClusterFilter{Labels: c.labels, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range list.Lines {
			got = append(got, line.Name)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || list.Total != int64(len(c.want)) {
			t.Errorf("%v: total %d (-want +got):\n%s", c.labels, list.Total, diff)
		}
	}
	cluster, _ := b.Create(t, "e", nil)
	if _, err := b.SetLabels(t.Context(), b.Viewer, cluster.ID, nil); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer: got %v", err)
	}
}

func TestALockedClusterIsNeitherDeletedNorArchived(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: b.Workspace.ID, Name: "first", TemplateVersionID: b.Lab.ID})
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := b.LockCluster(t.Context(), b.Admin, cluster.ID, true); err != nil || !locked.IsLocked {
		t.Fatalf("got %v, %v", locked.IsLocked, err)
	}
	_, _, err = b.DeleteCluster(t.Context(), b.Admin, cluster.ID)
	if key, _ := conflict(t, err); key != "cluster.locked" {
		t.Errorf("delete: got %s", key)
	}
	_, err = b.ArchiveCluster(t.Context(), b.Admin, cluster.ID)
	if key, _ := conflict(t, err); key != "cluster.locked" {
		t.Errorf("archive: got %s", key)
	}
	if _, err := b.LockCluster(t.Context(), b.Admin, cluster.ID, false); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.DeleteCluster(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

func TestSavedViews(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	view, err := b.SaveClusterView(t.Context(), b.Admin, b.Workspace.ID, " Production ", "q=env%3Dprod")
	if err != nil || view.Name != "Production" {
		t.Fatalf("got %+v, %v", view, err)
	}
	_, err = b.SaveClusterView(t.Context(), b.Admin, b.Workspace.ID, "Production", "")
	if got := refusedFields(t, err); got["name"] != "view.name.taken" {
		t.Errorf("got %v", got)
	}
	if views, err := b.ClusterViews(t.Context(), b.Viewer, b.Workspace.ID); err != nil || len(views) != 1 {
		t.Errorf("got %v, %v", views, err)
	}
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.DeleteClusterView(t.Context(), b.Admin, other.ID, view.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("through another workspace: got %v", err)
	}
	if err := b.DeleteClusterView(t.Context(), b.Admin, b.Workspace.ID, view.ID); err != nil {
		t.Error(err)
	}
}
