package fleet_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

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
	second, err := b.SaveClusterView(t.Context(), b.Admin, b.Workspace.ID, "Test", "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.RenameClusterView(t.Context(), b.Admin, b.Workspace.ID, second.ID, "Production")
	if got := refusedFields(t, err); got["name"] != "view.name.taken" {
		t.Errorf("got %v", got)
	}
	if renamed, err := b.RenameClusterView(t.Context(), b.Admin, b.Workspace.ID, second.ID, "Staging"); err != nil || renamed.Name != "Staging" {
		t.Errorf("got %+v, %v", renamed, err)
	}
	if _, err := b.RenameClusterView(t.Context(), b.Viewer, b.Workspace.ID, second.ID, "Mine"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer: got %v", err)
	}
	for i := range 18 {
		if _, err := b.SaveClusterView(t.Context(), b.Admin, b.Workspace.ID, strconv.Itoa(i), ""); err != nil {
			t.Fatal(err)
		}
	}
	_, err = b.SaveClusterView(t.Context(), b.Admin, b.Workspace.ID, "one more", "")
	if got := refusedFields(t, err); got["name"] != "view.many" {
		t.Errorf("got %v", got)
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

func TestWhatATypedSearchMeans(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		text   string
		labels store.Labels
	}{
		"":                        {"", store.Labels{}},
		"prod 1.37":               {"prod 1.37", store.Labels{}},
		" env=prod  pay team= ":   {"pay", store.Labels{"env": "prod", "team": ""}},
		"env=prod env=test":       {"env=test", store.Labels{"env": "prod"}},
		"=x a==b <i>=y env=<b>":   {"=x a==b <i>=y env=<b>", store.Labels{}},
		"example.com/zone=eu-1.a": {"", store.Labels{"example.com/zone": "eu-1.a"}},
	} {
		got, labels := fleet.Searched(text)
		if diff := cmp.Diff(want.labels, labels); diff != "" || got != want.text {
			t.Errorf("%q: text %q, labels (-want +got):\n%s", text, got, diff)
		}
	}
}

func TestMarkingManyTellsWhoWasLeft(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	full := store.Labels{}
	for i := range 32 {
		full["k"+strconv.Itoa(i)] = "v"
	}
	a, _ := b.Create(t, "a", nil)
	crowded, _ := b.Create(t, "crowded", nil)
	if _, err := b.SetLabels(t.Context(), b.Admin, crowded.ID, full); err != nil {
		t.Fatal(err)
	}
	mark := func(marks fleet.Marks, ids ...uuid.UUID) (int, []fleet.Refusal, error) {
		return b.MarkClusters(t.Context(), b.Admin, b.Workspace.ID, ids, marks)
	}
	changed, left, err := mark(fleet.Marks{Set: store.Labels{"env": "prod"}}, a.ID, crowded.ID, uuid.New())
	if err != nil || changed != 1 || len(left) != 2 {
		t.Fatalf("got %d, %v, %v", changed, left, err)
	}
	if left[0].Name != "crowded" || left[0].Why.Fields[fleet.LabelsField].Key != "cluster.label.many" || left[1].Why.Kind != fault.NotFound {
		t.Errorf("got %+v", left)
	}
	if changed, left, err = mark(fleet.Marks{Set: store.Labels{"env": "prod"}, Remove: []string{"k0"}}, crowded.ID); err != nil || changed != 1 || left != nil {
		t.Errorf("with room made: got %d, %v, %v", changed, left, err)
	}
	audits := func() (n int) {
		if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from audits where object_id = $1", a.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before, locked := audits(), true
	if _, _, err := mark(fleet.Marks{Set: store.Labels{"env": "prod"}}, a.ID); err != nil || audits() != before {
		t.Errorf("what changes nothing is written down, or fails: %v", err)
	}
	if _, _, err := mark(fleet.Marks{Locked: &locked}, a.ID); err != nil || audits() != before+1 {
		t.Errorf("a lock is not written down, or fails: %v", err)
	}
	for name, err := range map[string]error{
		"nobody": func() error { _, _, err := mark(fleet.Marks{Locked: &locked}); return err }(),
		"a key":  func() error { _, _, err := mark(fleet.Marks{Remove: []string{"<b>"}}, a.ID); return err }(),
	} {
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, _, err := b.MarkClusters(t.Context(), b.Viewer, b.Workspace.ID, []uuid.UUID{a.ID}, fleet.Marks{Locked: &locked}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer: got %v", err)
	}
}
