package fleet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/internal/oci/ocitest"
	"commander/store"
)

// refusedFields are the keys of the problems by field; it fails the test on any other error.
func refusedFields(t *testing.T, err error) map[string]string {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.Invalid {
		t.Fatalf("got %v, want problems of fields", err)
	}
	keys := map[string]string{}
	for field, m := range refused.Fields {
		keys[field] = m.Key
	}
	return keys
}

// conflict is the key of a conflict and its arguments.
func conflict(t *testing.T, err error) (string, []any) {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.Conflict {
		t.Fatalf("got %v, want a conflict", err)
	}
	return refused.Key, refused.Args
}

func TestRegistriesAreNotedAndListed(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	ca := ocitest.New(t).CA()
	made, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, fleet.RegistryBody{
		Name: " Main ", ImagesRepo: "https://registry.example.com:5000/platform/ee/", Username: "reader", Password: "correct horse",
		CA: "\r\n" + strings.ReplaceAll(ca, "\n", "\r\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != "Main" || made.ImagesRepo != "registry.example.com:5000/platform/ee" || made.Ca != ca {
		t.Errorf("got %+v", made)
	}
	if strings.Contains(string(made.Password), "correct horse") {
		t.Error("the password is not sealed")
	}
	rows, err := b.Registries(t.Context(), b.Viewer, b.Workspace.ID)
	if err != nil || len(rows) != 1 || rows[0].Registry.ID != made.ID {
		t.Errorf("got %v, %v", rows, err)
	}
	if _, err := b.Registries(t.Context(), b.Stranger, b.Workspace.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a stranger: got %v", err)
	}
	if _, err := b.CreateRegistry(t.Context(), b.Viewer, b.Workspace.ID, fleet.RegistryBody{}); !fault.Is(err, fault.Forbidden) {
		t.Errorf("a viewer: got %v", err)
	}
}

func TestRegistriesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	good := fleet.RegistryBody{Name: "taken", ImagesRepo: "registry.example.com/platform"}
	if _, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, good); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		change func(*fleet.RegistryBody)
		field  string
		key    string
	}{
		{"no name", func(r *fleet.RegistryBody) { r.Name = " " }, "name", "registry.name"},
		{"a name twice", func(*fleet.RegistryBody) {}, "name", "registry.name.taken"},
		{"no path", func(r *fleet.RegistryBody) { r.ImagesRepo = "registry.example.com" }, "images_repo", "registry.path"},
		{"a tag in the path", func(r *fleet.RegistryBody) { r.ImagesRepo = "registry.example.com/a:v1" }, "images_repo", "registry.path"},
		{"no host", func(r *fleet.RegistryBody) { r.ImagesRepo = "/platform" }, "images_repo", "registry.host"},
		{"credentials in the host", func(r *fleet.RegistryBody) { r.ImagesRepo = "u:p@registry/platform" }, "images_repo", "registry.host"},
		{"a port that is none", func(r *fleet.RegistryBody) { r.ImagesRepo = "registry:99999/platform" }, "images_repo", "registry.host"},
		{"another scheme", func(r *fleet.RegistryBody) { r.ImagesRepo = "ftp://registry/platform" }, "images_repo", "registry.scheme"},
		{"a password of nobody", func(r *fleet.RegistryBody) { r.Password = "x" }, "username", "registry.username"},
		{"CA without PEM", func(r *fleet.RegistryBody) { r.CA = "MIIB" }, "ca", "registry.ca.pem"},
		{"CA of another type", func(r *fleet.RegistryBody) { r.CA = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" }, "ca", "registry.ca.type"},
		{"CA that is no certificate", func(r *fleet.RegistryBody) { r.CA = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" }, "ca", "registry.ca.certificate"},
	}
	for _, c := range cases {
		body := good
		c.change(&body)
		_, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, body)
		if got := refusedFields(t, err); got[c.field] != c.key {
			t.Errorf("%s: got %v, want %s of %s", c.name, got, c.key, c.field)
		}
	}
}

func TestAPasswordIsKeptUnlessItIsChanged(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	r := ocitest.NewPlain(t)
	r.Username, r.Password = "reader", "correct horse"
	r.Put("platform/release-channel", "stable", false, map[string]string{"version.json": `{"version":"v1.70.1"}`})
	body := fleet.RegistryBody{Name: "Main", ImagesRepo: "http://" + r.Host() + "/platform", Username: "reader", Password: "correct horse"}
	made, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, body)
	if err != nil {
		t.Fatal(err)
	}
	body.Name, body.Password = "Renamed", schema.Mask
	after, err := b.ChangeRegistry(t.Context(), b.Admin, made.ID, made.Revision, body)
	if err != nil || after.Name != "Renamed" {
		t.Fatalf("got %+v, %v", after, err)
	}
	if _, err := b.Releases(t.Context(), b.Viewer, made.ID); err != nil {
		t.Errorf("with the kept password: %v", err)
	}
	_, err = b.ChangeRegistry(t.Context(), b.Admin, made.ID, made.Revision, body)
	if key, _ := conflict(t, err); key != "registry.stale_revision" {
		t.Errorf("got %s", key)
	}
	body.Password = "wrong"
	if _, err := b.ChangeRegistry(t.Context(), b.Admin, made.ID, after.Revision, body); err != nil {
		t.Fatal(err)
	}
	var refused *fault.Error
	if _, err := b.Releases(t.Context(), b.Viewer, made.ID); !errors.As(err, &refused) || refused.Key != "registry.denied" {
		t.Errorf("with a wrong password: got %v", err)
	}
}

func TestReleasesPerChannelThroughACustomCA(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	r := ocitest.New(t)
	for channel, version := range map[string]string{"alpha": "v1.72.0", "stable": "v1.70.1", "rock-solid": "v1.69.4"} {
		r.Put("platform/ee/release-channel", channel, channel == "alpha", map[string]string{"version.json": `{"version":"` + version + `"}`})
	}
	body := fleet.RegistryBody{Name: "Main", ImagesRepo: r.Host() + "/platform/ee", CA: r.CA()}
	made, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, body)
	if err != nil {
		t.Fatal(err)
	}
	releases, err := b.Releases(t.Context(), b.Viewer, made.ID)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, release := range releases {
		got[release.Channel] = release.Version
	}
	want := map[string]string{"alpha": "v1.72.0", "beta": "", "early-access": "", "stable": "v1.70.1", "rock-solid": "v1.69.4"}
	for channel, version := range want {
		if got[channel] != version {
			t.Errorf("%s: got %q, want %q", channel, got[channel], version)
		}
	}
	for name, c := range map[string]struct {
		change func(*fleet.RegistryBody)
		key    string
	}{
		"without the CA":  {func(r *fleet.RegistryBody) { r.CA = "" }, "registry.certificate"},
		"of another path": {func(r *fleet.RegistryBody) { r.ImagesRepo += "x" }, "registry.no_releases"},
	} {
		other := body
		other.Name = name
		c.change(&other)
		made, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, other)
		if err != nil {
			t.Fatal(err)
		}
		var refused *fault.Error
		if _, err := b.Releases(t.Context(), b.Admin, made.ID); !errors.As(err, &refused) || refused.Key != c.key {
			t.Errorf("%s: got %v, want %s", name, err, c.key)
		}
	}
}

func TestARegistryInUseIsKept(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	made, err := b.CreateRegistry(t.Context(), b.Admin, b.Workspace.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.example.com/platform"})
	if err != nil {
		t.Fatal(err)
	}
	cluster, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: "first", TemplateVersionID: b.Lab.ID, RegistryID: &made.ID, RegistryMode: fleet.RegistryUnmanaged,
	})
	if err != nil || cluster.RegistryID == nil || *cluster.RegistryID != made.ID || cluster.RegistryMode != fleet.RegistryUnmanaged {
		t.Fatalf("got %+v, %v", cluster, err)
	}
	_, err = b.DeleteRegistry(t.Context(), b.Admin, made.ID)
	if key, args := conflict(t, err); key != "registry.used" || args[1] != "first" {
		t.Errorf("got %s %v", key, args)
	}
	// A change that says nothing of the registry keeps it; the mode can be changed alone.
	after, _, err := b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{
		Revision: cluster.Revision, Name: "first", TemplateVersionID: b.Lab.ID, Registry: &fleet.RegistryChoice{ID: &made.ID, Mode: fleet.RegistryDirect},
	})
	if err != nil || after.RegistryMode != fleet.RegistryDirect {
		t.Fatalf("got %+v, %v", after, err)
	}
	after, _, err = b.ChangeCluster(t.Context(), b.Admin, cluster.ID, fleet.ClusterChange{Revision: after.Revision, Name: "first", TemplateVersionID: b.Lab.ID})
	if err != nil || after.RegistryID == nil {
		t.Fatalf("got %+v, %v", after, err)
	}
	if _, err := b.ArchiveCluster(t.Context(), b.Admin, cluster.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DeleteRegistry(t.Context(), b.Admin, made.ID); err != nil {
		t.Errorf("used by the archive alone: %v", err)
	}
}

func TestARegistryMustBeOfTheWorkspace(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	other, err := b.EnsureWorkspace(t.Context(), "other", "Other")
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := b.CreateRegistry(t.Context(), b.Admin, other.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.example.com/platform"})
	if err != nil {
		t.Fatal(err)
	}
	unknown := uuid.New()
	for _, id := range []*uuid.UUID{&foreign.ID, &unknown} {
		_, _, err := b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
			WorkspaceID: b.Workspace.ID, Name: "first", TemplateVersionID: b.Lab.ID, RegistryID: id,
		})
		if got := refusedFields(t, err); got[fleet.RegistryField] != "registry.unknown" {
			t.Errorf("got %v", got)
		}
	}
	_, _, err = b.CreateCluster(t.Context(), b.Admin, fleet.NewCluster{
		WorkspaceID: b.Workspace.ID, Name: "first", TemplateVersionID: b.Lab.ID, RegistryMode: "Sideways",
	})
	if got := refusedFields(t, err); got[fleet.RegistryModeField] != "registry.mode" {
		t.Errorf("got %v", got)
	}
	if _, err := b.Registry(t.Context(), fleet.Actor{Roles: map[uuid.UUID]store.Role{b.Workspace.ID: store.RoleFull}}, foreign.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another workspace: got %v", err)
	}
}
