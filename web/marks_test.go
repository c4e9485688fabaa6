package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

// names are those of the rows that a list shows, in their order.
func (a answer) names() []string {
	var out []string
	for _, row := range a.Find("tbody tr .name").EachIter() {
		out = append(out, row.Text())
	}
	return out
}

func TestLabelsFromAClustersPageToTheFilterOfTheList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	editor := s.as("eve", store.RoleFull)
	cluster := s.cluster("prod", nil)
	s.cluster("stage", nil)
	page := paths.Cluster(cluster.ID.String())

	form := editor.get(page).fill(t, "form[action$='/labels']", clusters.FieldLabels, "env=<b>prod")
	got := editor.post(paths.ClusterLabels(cluster.ID.String()), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Equal(t, "env=<b>prod", got.Find("textarea[name=labels]").Text(), "nothing typed is lost")
	require.Equal(t, 1, got.Find("details[open] .problem:contains('not a label')").Length())

	form.Set(clusters.FieldLabels, "env=prod, team=pay")
	got = editor.post(paths.ClusterLabels(cluster.ID.String()), form)
	require.Equal(t, page, got.Header.Get("Location"))
	got = editor.get(page)
	require.Equal(t, 2, got.Find(".chips .label").Length())

	href, _ := got.Find(".label:contains('env=prod')").Attr("href")
	got = editor.get(href)
	require.Equal(t, []string{"prod"}, got.names(), "a label leads to the clusters that have it")
	require.Equal(t, "env=prod", got.Find("[data-filter]").AttrOr("value", ""))
	all, _ := got.Find(".drop .menu a").Attr("href")
	off, _ := editor.get(all).Find(".menu.labels a[aria-current]").Attr("href")
	require.Equal(t, []string{"prod", "stage"}, editor.get(off).names(), "the same link takes it out again")
	require.Equal(t, []string{"prod"}, editor.get(paths.ClusterList("demo", paths.Query{Text: "team=pay pro"})).names())
	require.Empty(t, editor.get(paths.ClusterList("demo", paths.Query{Text: "env=prod env=test"})).names())

	reader := s.as("rita", store.RoleReadOnly)
	got = reader.get(page)
	require.Equal(t, 2, got.Find(".chips .label").Length())
	require.Zero(t, got.Find("form[action$='/labels']").Length())
	require.Equal(t, http.StatusForbidden, reader.post(paths.ClusterLabels(cluster.ID.String()), form).StatusCode)
}

func TestAProtectedClusterIsNotDeletedFromItsPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	editor := s.as("eve", store.RoleFull)
	cluster := s.cluster("prod", nil)
	id := cluster.ID.String()

	require.Equal(t, http.StatusSeeOther, editor.post(paths.ClusterProtection(id), url.Values{clusters.FieldLocked: {"true"}}).StatusCode)
	got := editor.get(paths.Cluster(id))
	require.Equal(t, 1, got.Find(".chips .locked").Length())
	require.Zero(t, got.Find("a[href='"+paths.ClusterDeletion(id)+"']").Length())
	require.Equal(t, 1, editor.get(paths.Clusters("demo")).Find("tbody .locked").Length())

	got = editor.get(paths.ClusterDeletion(id))
	require.Contains(t, got.Find("main .notice").Text(), "prod is protected from deletion")
	require.Zero(t, got.Find("input[name="+clusters.FieldTyped+"]").Length())
	got = editor.post(paths.ClusterDeletion(id), url.Values{clusters.FieldTyped: {"prod"}}, "Accept-Language", "ru")
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Find("main").Text(), "prod защищён от удаления")
	require.Equal(t, http.StatusConflict, editor.post(paths.ClusterArchive(id), nil).StatusCode)

	editor.post(paths.ClusterProtection(id), editor.get(paths.ClusterDeletion(id)).fill(t, "main .actions form"))
	got = editor.post(paths.ClusterDeletion(id), url.Values{clusters.FieldTyped: {"prod"}})
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
}

func TestSeveralClustersAreMarkedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	editor := s.as("eve", store.RoleFull)
	first, second, gone := s.cluster("first", nil), s.cluster("second", nil), s.cluster("gone", nil)
	s.cluster("other", nil)
	list := paths.ClusterList("demo", paths.Query{Sort: "name", Descending: true})
	form := func(action, labels string, ids ...string) url.Values {
		v := editor.get(list).fill(t, "#bulk", clusters.FieldLabels, labels, clusters.FieldAction, action)
		v[clusters.FieldPicked] = ids
		return v
	}
	marks := paths.ClusterMarks("demo")
	a, b := first.ID.String(), second.ID.String()

	got := editor.post(marks, form(clusters.ActionSet, "env=prod team=x", a, b))
	require.Equal(t, http.StatusSeeOther, got.StatusCode)
	got = editor.get(got.Header.Get("Location"))
	require.Contains(t, got.Find(".notice").Text(), "2 clusters changed")
	require.Equal(t, []string{"second", "other", "gone", "first"}, got.names(), "the list is as it was")
	require.Equal(t, []string{"first", "second"}, editor.get(paths.ClusterList("demo", paths.Query{Text: "env=prod team=x"})).names())

	editor.post(marks, form(clusters.ActionRemove, "team", a))
	require.Equal(t, []string{"second"}, editor.get(paths.ClusterList("demo", paths.Query{Text: "team=x"})).names())
	editor.post(marks, form(clusters.ActionLock, "", a, b))
	require.Equal(t, 2, editor.get(list).Find("tbody .locked").Length())
	editor.post(marks, form(clusters.ActionUnlock, "", b))
	require.Equal(t, 1, editor.get(list).Find("tbody .locked").Length())

	got = editor.post(marks, form(clusters.ActionSet, "<x>", a))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#f-bulk-problem").Text(), "not a label")
	require.Equal(t, "<x>", got.Find("#f-bulk").AttrOr("value", ""))
	require.Equal(t, a, got.Find("[name=cluster][checked]").AttrOr("value", ""), "who was chosen stays so")
	require.Equal(t, http.StatusUnprocessableEntity, editor.post(marks, form(clusters.ActionSet, "", a)).StatusCode)
	require.Equal(t, http.StatusUnprocessableEntity, editor.post(marks, form(clusters.ActionLock, "")).StatusCode)

	_, _, err := s.DeleteCluster(t.Context(), fleet.System, gone.ID)
	require.NoError(t, err)
	foreign, err := s.EnsureWorkspace(t.Context(), "foreign", "Foreign")
	require.NoError(t, err)
	hidden, _, err := s.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{WorkspaceID: foreign.ID, Name: "elsewhere", TemplateVersionID: s.versionIn(foreign)})
	require.NoError(t, err)
	got = editor.post(marks, form(clusters.ActionSet, "env=test", a, gone.ID.String(), hidden.ID.String()))
	require.Equal(t, http.StatusConflict, got.StatusCode)
	require.Contains(t, got.Find(".notice").Text(), "1 cluster changed")
	require.Contains(t, got.Find("[role=alert]").Text(), "2 clusters were left as they are")
	require.Contains(t, got.Find("[role=alert]").Text(), "gone")
	require.NotContains(t, got.text, "elsewhere")

	reader := s.as("rita", store.RoleReadOnly)
	require.Zero(t, reader.get(list).Find("#bulk, [name=cluster]").Length())
	require.Equal(t, http.StatusForbidden, reader.post(marks, form(clusters.ActionLock, "", a)).StatusCode)
}

// versionIn is a version of a template of another workspace.
func (s *site) versionIn(w store.Workspace) (version [16]byte) {
	s.t.Helper()
	templates, err := s.Templates(s.t.Context(), fleet.System, w.ID, false)
	require.NoError(s.t, err)
	return *templates[0].ClusterTemplate.CurrentVersionID
}

func TestSavedViewsOfTheList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	editor := s.as("eve", store.RoleFull)
	prod := s.cluster("prod", nil)
	s.cluster("stage", nil)
	_, err := s.SetLabels(t.Context(), fleet.System, prod.ID, store.Labels{"env": "prod"})
	require.NoError(t, err)
	require.Zero(t, editor.get(paths.Clusters("demo")).Find("#cluster-filters form").Length(), "all is no view of its own")

	list := paths.ClusterList("demo", paths.Query{Text: "env=prod", Status: "new", Sort: "nodes", Descending: true})
	form := editor.get(list).fill(t, "#cluster-filters form", clusters.FieldName, "Production")
	got := editor.post(paths.ClusterViews("demo"), form)
	require.Equal(t, list, got.Header.Get("Location"))
	got = editor.post(paths.ClusterViews("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("#cluster-filters details[open] .problem").Text(), "Production")

	chip := func(b *browser, at string) (name, href string, pressed bool) {
		last := b.get(at).Find(".filters .filter").Last()
		_, pressed = last.Attr("aria-current")
		return strings.Join(strings.Fields(last.Text()), " "), last.AttrOr("href", ""), pressed
	}
	counts := paths.ClusterViews("demo")
	reader := s.as("rita", store.RoleReadOnly)
	name, href, pressed := chip(reader, paths.Clusters("demo"))
	require.Equal(t, "Production", name)
	later := reader.get(paths.Clusters("demo")).Find(".filters .num[data-later]")
	require.Equal(t, counts, reader.get(paths.Clusters("demo")).Find("[hx-trigger=load]").AttrOr("hx-get", ""))
	count := reader.get(counts, "HX-Request", "true").Find("[hx-swap-oob=true]")
	require.Equal(t, later.AttrOr("id", "none"), count.AttrOr("id", ""))
	require.Equal(t, "1", count.Text(), "the count is fetched by the list")
	name, fromPage, _ := chip(reader, counts)
	require.Equal(t, "Production1", name, "a page has the names with their counts")
	require.Equal(t, list, fromPage)
	require.Equal(t, list, href)
	require.False(t, pressed)
	_, _, pressed = chip(reader, href)
	require.True(t, pressed)
	require.Equal(t, []string{"prod"}, reader.get(href).names())
	require.Zero(t, reader.get(href).Find("#cluster-filters form").Length())

	page := editor.get(list)
	rename, _ := page.Find("#cluster-filters form").First().Attr("action")
	forget, _ := page.Find("#cluster-filters form").Last().Attr("action")
	require.Equal(t, http.StatusUnprocessableEntity, editor.post(rename, url.Values{clusters.FieldName: {" "}}).StatusCode)
	got = editor.post(rename, page.fill(t, "#cluster-filters form.stack", clusters.FieldName, "<i>Live</i>"))
	require.Equal(t, list, got.Header.Get("Location"))
	name, _, _ = chip(reader, list)
	require.Equal(t, "<i>Live</i>", name)
	require.Equal(t, http.StatusForbidden, reader.post(rename, url.Values{clusters.FieldName: {"Mine"}}).StatusCode)
	require.Equal(t, paths.Clusters("demo"), editor.post(forget, nil).Header.Get("Location"))
	name, _, _ = chip(reader, paths.Clusters("demo"))
	require.NotContains(t, name, "Live")
}
