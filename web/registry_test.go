package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/internal/oci/ocitest"
	"commander/store"
	"commander/views/paths"
	"commander/views/registries"
)

func TestARegistryFromItsFormToItsReleases(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as("olga", store.RoleFull)
	r := ocitest.New(t)
	r.Username, r.Password = "reader", "correct horse"
	r.Put("platform/ee/release-channel", "stable", false, map[string]string{"version.json": `{"version":"v1.70.1"}`})

	got := admin.get(paths.Registries("demo"))
	require.Contains(t, got.Find(".empty").Text(), "No registries yet")

	form := admin.get(paths.NewRegistry("demo")).fill(t, "main form",
		registries.FieldName, "Main", registries.FieldAddress, "https://"+r.Host()+"/platform/ee",
		registries.FieldUser, "reader", registries.FieldPassword, "correct horse", registries.FieldCA, "nonsense")
	got = admin.post(paths.Registries("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#f-ca-problem").Text(), "not PEM")
	require.Equal(t, "Main", got.Find("#f-name").AttrOr("value", ""), "what was typed is kept")
	require.Equal(t, "true", got.Find("#f-ca").AttrOr("aria-invalid", ""))

	form.Set(registries.FieldCA, r.CA())
	got = admin.post(paths.Registries("demo"), form)
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	at := got.Header.Get("Location")
	got = admin.get(at)
	require.Equal(t, "Main", strings.TrimSpace(got.Find("h1").Text()))
	require.NotContains(t, got.text, "correct horse")
	require.NotContains(t, got.text, "v1.70.1", "nobody is contacted unasked")

	got = admin.get(at + "/releases")
	require.Contains(t, got.Find(".notice").Text(), "answers")
	require.Contains(t, got.Find(".facts").Text(), "v1.70.1")

	// An empty password keeps the saved one; forgetting it is a choice of its own.
	got = admin.post(at, admin.get(at).fill(t, "main form[action='"+at+"']", registries.FieldName, "Other"))
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	require.Contains(t, admin.get(at+"/releases").Find(".facts").Text(), "v1.70.1")
	require.Equal(t, http.StatusSeeOther, admin.post(at, admin.get(at).fill(t, "main form[action='"+at+"']", registries.FieldForget, "true")).StatusCode)
	require.Contains(t, admin.get(at+"/releases").Find(".notice[data-tone=bad]").Text(), "refuses the credentials")

	stale := admin.get(at).fill(t, "main form[action='"+at+"']")
	stale.Set(registries.FieldRevision, "1")
	got = admin.post(at, stale)
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Find(".notice").Text(), "changed by somebody else")
}

func TestARegistryIsDeletedOnlyWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as("olga", store.RoleFull)
	made, err := s.CreateRegistry(t.Context(), fleet.System, s.workspace.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.invalid/platform"})
	require.NoError(t, err)
	cluster, _, err := s.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{
		WorkspaceID: s.workspace.ID, Name: "prod", TemplateVersionID: *s.template.ClusterTemplate.CurrentVersionID, RegistryID: &made.ID,
	})
	require.NoError(t, err)
	at := paths.Registry("demo", made.ID.String())
	require.Contains(t, admin.get(at).Find("main").Text(), "1 cluster uses this registry")
	got := admin.post(paths.RegistryDeletion("demo", made.ID.String()), url.Values{})
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.text, "prod")
	_, err = s.ArchiveCluster(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, admin.post(paths.RegistryDeletion("demo", made.ID.String()), url.Values{}).StatusCode)
	require.Equal(t, http.StatusNotFound, admin.get(at).StatusCode)
}
