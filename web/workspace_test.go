package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/paths"
	"commander/views/workspaces"
)

// everywhere is a person with the full role in all workspaces.
func (s *site) everywhere(subject string) *browser {
	s.t.Helper()
	b := s.as(subject, "")
	require.NoError(s.t, s.Grant(s.t.Context(), s.issuer.URL, subject, nil, store.RoleFull))
	return b
}

func TestAWorkspaceFromItsFormToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.everywhere("olga")
	require.Equal(t, 1, admin.get(paths.Start()).Find("a[href='"+paths.NewWorkspace()+"']").Length())

	form := admin.get(paths.NewWorkspace()).fill(t, "main form", workspaces.FieldName, "<b>Payments</b>", workspaces.FieldSlug, "demo")
	got := admin.post(paths.Workspaces(), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#f-slug-problem").Text(), "demo")
	require.Equal(t, "<b>Payments</b>", got.Find("#f-name").AttrOr("value", ""))

	form.Set(workspaces.FieldSlug, "pay")
	got = admin.post(paths.Workspaces(), form)
	require.Equal(t, paths.Clusters("pay"), got.Header.Get("Location"))
	got = admin.get(paths.Start())
	require.Contains(t, got.Find("tbody").Text(), "<b>Payments</b>", "a name is text")
	require.Zero(t, got.Find("tbody b").Length())

	settings := paths.WorkspaceSettings("pay")
	got = admin.post(settings, admin.get(settings).fill(t, "main form", workspaces.FieldName, " "))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	got = admin.post(settings, admin.get(settings).fill(t, "main form", workspaces.FieldName, "Payments"))
	require.Equal(t, settings, got.Header.Get("Location"), "the slug stays")
	require.Contains(t, admin.get(paths.Clusters("pay")).Find("#switcher").Text(), "Payments")

	deletion := paths.WorkspaceDeletion("pay")
	got = admin.post(deletion, admin.get(deletion).fill(t, "main form", workspaces.FieldTyped, "pay"))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#f-typed-problem").Text(), "not the name")
	got = admin.post(deletion, admin.get(deletion).fill(t, "main form", workspaces.FieldTyped, "Payments"))
	require.Equal(t, paths.Start(), got.Header.Get("Location"))
	require.Equal(t, http.StatusNotFound, admin.get(settings).StatusCode)
}

func TestAWorkspaceWithClustersIsNotDeleted(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.everywhere("olga")
	s.cluster("prod", nil)
	deletion := paths.WorkspaceDeletion("demo")
	got := admin.get(deletion)
	require.Contains(t, got.Find(".notice").Text(), "1 cluster is not archived")
	require.Zero(t, got.Find("main form").Length())
	got = admin.post(deletion, map[string][]string{workspaces.FieldTyped: {"Demo"}})
	require.Equal(t, http.StatusConflict, got.StatusCode)
	got = admin.post(deletion, map[string][]string{workspaces.FieldTyped: {"Demo"}}, "Accept-Language", "ru")
	require.Contains(t, got.Find(".notice").Text(), "1 кластер не в архиве")
}

func TestTheStartPageListsWhatAPersonMaySee(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.EnsureWorkspace(t.Context(), "secret", "Secret")
	require.NoError(t, err)
	s.cluster("prod", nil)
	reader := s.as("rita", store.RoleReadOnly)
	got := reader.get(paths.Start())
	require.Equal(t, 1, got.Find("tbody tr").Length())
	require.Contains(t, got.Find("tbody").Text(), "Demo")
	require.Equal(t, "1", strings.TrimSpace(got.Find("tbody td.num").First().Text()))
	require.Zero(t, got.Find("a[href='"+paths.NewWorkspace()+"']").Length())
	require.Equal(t, http.StatusNotFound, reader.get(paths.Clusters("secret")).StatusCode)
}
