package fleet_test

import (
	"slices"
	"testing"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

const movedParams = `[{"key": "host", "catalog": "racks", "title": "Rack"}, {"key": "ntp", "catalog": "ntp", "title": "Time"}, {"key": "secret", "type": "string", "format": "password", "optional": true, "title": "Secret"}]`

// movable is a cluster with an exclusive and a shared record.
func movable(t *testing.T, b *fleettest.Bench, name string, rack, ntp store.Record) store.Cluster {
	t.Helper()
	version := withRecords(t, b, movedParams)
	cluster, task, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: name, TemplateVersionID: version, Install: true,
		Values: store.Values{"host": picked(rack), "ntp": picked(ntp), "secret": "correct horse"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Run(t, *task, store.TaskSucceeded)
	return cluster
}

func picked(r store.Record) map[string]any { return map[string]any{fleet.RecordID: r.ID.String()} }

func TestMoveTakesTheInventoryAlong(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	catalog := func(slug string, exclusive bool) store.Catalog {
		t.Helper()
		c, err := b.CreateCatalog(t.Context(), b.Admin, b.Workspace.ID, fleet.NewCatalog{
			Name: slug, Slug: slug, Exclusive: exclusive, Params: []byte(`[{"key": "name", "type": "string", "title": "Name", "unique": true}]`),
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	record := func(c store.Catalog, name string) store.Record {
		t.Helper()
		r, err := b.CreateRecord(t.Context(), b.Admin, c.ID, store.Values{"name": name})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	racks, times := catalog("racks", true), catalog("ntp", false)
	one, two, ntp := record(racks, "rack-1"), record(racks, "rack-2"), record(times, "ntp.test")
	first, second := movable(t, b, "first", one, ntp), movable(t, b, "second", two, ntp)

	if _, err := b.MoveCluster(t.Context(), b.Viewer, first.ID, other.ID); err == nil {
		t.Error("moved by a viewer")
	}
	plan, err := b.PlanMove(t.Context(), b.Admin, first.ID, other.ID)
	if err != nil || !slices.Equal(plan.Moved, []string{"rack-1"}) || !slices.Equal(plan.Copied, []string{"ntp.test"}) || len(plan.Made) != 2 {
		t.Errorf("plan: got %+v, %v", plan, err)
	}
	for _, c := range []store.Cluster{first, second} {
		if _, err := b.MoveCluster(t.Context(), b.Admin, c.ID, other.ID); err != nil {
			t.Fatal(err)
		}
	}
	view, err := b.Cluster(t.Context(), b.Admin, first.ID)
	if err != nil || view.WorkspaceID != other.ID || view.TemplateVersionID != nil || view.Status != store.ClusterInSync || *view.AppliedRevision != view.Revision {
		t.Errorf("after the move: got %+v, %v", view.Cluster, err)
	}
	if view.Wanted.Shown["secret"] == "correct horse" || view.Wanted.Values["secret"] != "correct horse" {
		t.Errorf("secret: shown as %v, kept as %v", view.Wanted.Shown["secret"], view.Wanted.Values["secret"])
	}
	if templates, err := b.Templates(t.Context(), b.Admin, b.Workspace.ID, false); err != nil || len(templates) == 0 {
		t.Errorf("templates left: %v, %v", templates, err)
	}
	labels := func(workspace store.Workspace, slug string) []string {
		t.Helper()
		c, err := b.Store.CatalogBySlug(t.Context(), store.CatalogBySlugParams{WorkspaceID: workspace.ID, Slug: slug})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := b.Store.RecordsOfCatalog(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		out := []string{}
		for _, row := range rows {
			out = append(out, row.Label)
		}
		return out
	}
	for _, c := range []struct {
		where store.Workspace
		slug  string
		want  []string
	}{
		{b.Workspace, "racks", []string{}}, {other, "racks", []string{"rack-1", "rack-2"}}, // moved
		{b.Workspace, "ntp", []string{"ntp.test"}}, {other, "ntp", []string{"ntp.test"}}, // copied, once
	} {
		if got := labels(c.where, c.slug); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s: got %v, want %v", c.slug, c.where.Slug, got, c.want)
		}
	}
	used, err := b.RecordsOfCluster(t.Context(), b.Admin, first.ID)
	if err != nil || len(used) != 2 || used[0].Catalog.WorkspaceID != other.ID || used[1].Catalog.WorkspaceID != other.ID {
		t.Errorf("records in use: got %+v, %v", used, err)
	}
	if _, err := b.MoveCluster(t.Context(), b.Admin, first.ID, other.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("to where it is: got %v", err)
	}
	if _, _, err := b.Rollback(t.Context(), b.Admin, first.ID, view.Revision, 1); !fault.Is(err, fault.Conflict) {
		t.Errorf("back to a template that stayed behind: got %v", err)
	}
}

func TestAMoveThatCannotBeChangesNothing(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	cluster := b.Installed(t, "same", nil)
	templates, err := b.Templates(t.Context(), b.Admin, other.ID, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{WorkspaceID: other.ID, Name: "same", TemplateVersionID: *templates[0].ClusterTemplate.CurrentVersionID}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.MoveCluster(t.Context(), b.Admin, cluster.ID, other.ID); !fault.Is(err, fault.Invalid) {
		t.Errorf("a name that is taken there: got %v", err)
	}
	after, err := b.Store.Cluster(t.Context(), cluster.ID)
	if err != nil || after.WorkspaceID != b.Workspace.ID || after.TemplateVersionID == nil || after.Revision != cluster.Revision {
		t.Errorf("got %+v, %v, want nothing changed", after, err)
	}
	if _, err := b.Converge(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.MoveCluster(t.Context(), b.Admin, cluster.ID, other.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("while something is done to it: got %v", err)
	}
}
