package fleet_test

import (
	"regexp"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

func TestWorkspacesAreMadeAndRenamed(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	made, err := b.CreateWorkspace(t.Context(), b.Admin, " Payments ", "")
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != "Payments" || !regexp.MustCompile(`^[a-z]{5}$`).MatchString(made.Slug) {
		t.Errorf("got %+v", made)
	}
	templates, err := b.Templates(t.Context(), b.Admin, made.ID, false)
	if err != nil || len(templates) == 0 {
		t.Errorf("got %d shipped templates, %v", len(templates), err)
	}
	after, err := b.RenameWorkspace(t.Context(), b.Admin, made.ID, "Money")
	if err != nil || after.Name != "Money" || after.Slug != made.Slug || after.ID != made.ID {
		t.Errorf("got %+v, %v", after, err)
	}
	if kept, err := b.Templates(t.Context(), b.Admin, made.ID, false); err != nil || len(kept) != len(templates) {
		t.Errorf("contents after renaming: got %d, %v", len(kept), err)
	}
}

func TestWorkspacesThatCannotBeMade(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	for _, c := range []struct{ name, slug, field, key string }{
		{" ", "x", "name", "workspace.name"},
		{"Demo", "Big Slug", "slug", "workspace.slug"},
		{"Demo", "demo", "slug", "workspace.slug.taken"},
	} {
		_, err := b.CreateWorkspace(t.Context(), b.Admin, c.name, c.slug)
		if got := refusedFields(t, err); got[c.field] != c.key {
			t.Errorf("%q %q: got %v, want %s", c.name, c.slug, got, c.key)
		}
	}
	local := fleet.Actor{Type: fleet.ActorUser, Name: "local", Roles: map[uuid.UUID]store.Role{b.Workspace.ID: store.RoleFull}}
	for _, who := range []fleet.Actor{local, b.Viewer, b.Stranger} {
		if _, err := b.CreateWorkspace(t.Context(), who, "Mine", ""); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: got %v", who.Name, err)
		}
	}
	if _, err := b.RenameWorkspace(t.Context(), b.Viewer, b.Workspace.ID, "Mine"); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer renames: got %v", err)
	}
	if _, err := b.DeleteWorkspace(t.Context(), b.Stranger, b.Workspace.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger deletes: got %v", err)
	}
}

func TestDeletingAWorkspace(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "first", nil)
	_, err := b.DeleteWorkspace(t.Context(), b.Admin, b.Workspace.ID)
	if key, args := conflict(t, err); key != "workspace.has_clusters" || args[1] != "first" {
		t.Errorf("with an active cluster: got %s %v", key, args)
	}
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.example.com/platform"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.CreateToken(t.Context(), b.Admin, b.Workspace.ID, "token", store.RoleFull, 0); err != nil {
		t.Fatal(err)
	}
	hosts := catalog(t, b, "hosts", true)
	record(t, b, hosts, host("10.0.0.1"))
	gone := record(t, b, hosts, host("10.0.0.2"))
	if _, err := b.ArchiveRecord(t.Context(), b.Admin, gone.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddWindow(t.Context(), b.Admin, b.Workspace.ID, fleet.NewWindow{TimeZone: "UTC", Days: 1, Starts: 60, Minutes: 60}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.AddChannel(t.Context(), b.Admin, b.Workspace.ID, fleet.NewChannel{Name: "x", Kind: fleet.ChannelMail, Address: "x@example.com", Events: fleet.Events}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteWorkspace(t.Context(), b.Admin, b.Workspace.ID); err != nil {
		t.Fatalf("with an archived cluster: %v", err)
	}
	for _, table := range []string{"workspaces", "clusters", "cluster_revisions", "tasks", "cluster_templates", "cluster_template_versions", "registries", "auth_tokens", "catalogs", "records", "record_values", "maintenance_windows", "notification_channels"} {
		var rows int
		if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from "+table).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%s: got %d rows, %v", table, rows, err)
		}
	}
	var audits int
	if err := b.Store.Pool.QueryRow(t.Context(), "select count(*) from audits where action = 'workspace.delete'").Scan(&audits); err != nil || audits != 1 {
		t.Errorf("audit: got %d, %v", audits, err)
	}
}
