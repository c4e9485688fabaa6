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
	"commander/views/templates"
)

const editorForm = "#template-form"

func groupTemplate(n int) string { return templates.GroupField(n, templates.GroupTemplate) }

func TestATemplateIsWrittenTriedAndSaved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author := s.as("olga", store.RoleFull)
	form := author.get(paths.NewTemplate("demo")).fill(t, editorForm,
		templates.FieldName, "Bare", templates.FieldParams, teamParameters+"- key: [", templates.FieldCluster, "kind: ClusterConfiguration\nclusterType: Static\nbad: {{ .count | nope }}\n",
		templates.FieldAction, templates.ActionSave)
	refused := author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.Find("main .notice").Text(), "2 texts need attention")
	require.Equal(t, "5", refused.Find("#f-params-problems li").AttrOr("data-line", ""))
	require.Equal(t, "3", refused.Find("#f-cluster_configuration-problems li").AttrOr("data-line", ""))
	require.Contains(t, refused.Find("#trial").Text(), "cannot be read yet")
	require.Contains(t, refused.Find("#f-params").Text(), "- key: [", "what was typed is kept")

	// A group is added and named after the product's own, then mended; nothing typed is lost on the way.
	form.Set(templates.FieldParams, teamParameters)
	form.Set(templates.FieldCluster, "kind: ClusterConfiguration\nclusterType: Static\ncount: {{ .count }}\n")
	form.Set(templates.FieldAction, templates.ActionAdd)
	added := author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusOK, added.StatusCode)
	_, focus := added.Find("[name='group.0.name']").Attr("autofocus")
	require.True(t, focus)
	form = added.fill(t, editorForm, templates.GroupField(0, templates.GroupName), fleet.ReservedGroup, groupTemplate(0), "kind: Secret\nname: {{ .name }}\n",
		templates.FieldVersionComment, "first", templates.FieldAction, templates.ActionSave)
	require.Equal(t, "true", form.Get(templates.GroupField(0, templates.GroupControlled)), "kept as declared unless somebody wants otherwise")
	refused = author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.Find(".problem").Text(), "belongs to Commander")
	form.Set(templates.GroupField(0, templates.GroupName), "base")
	form.Set(templates.GroupField(0, templates.GroupUserManaged), "true")
	require.Contains(t, refused.Find("#preview").Text(), "count: 2", "the default is tried")
	made := author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusSeeOther, made.StatusCode, made.text)
	require.Equal(t, made.Header.Get("Location"), author.post(paths.Templates("demo"), form).Header.Get("Location"), "a form sent twice makes one template")
	page := author.get(made.Header.Get("Location"))
	require.Equal(t, "Bare", page.Find("h1").Text())
	require.Contains(t, page.Find("tbody tr").Text(), "first")
	version := author.get(made.Header.Get("Location") + "/versions/1")
	require.Contains(t, version.Find("details summary").Last().Text(), "kept as declared; the cluster's user may change that")
}

func TestADraftIsTriedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	author := s.as("olga", store.RoleFull)
	edit := author.get(paths.TemplateEdit("demo", template.ID.String(), 0))
	require.Equal(t, "2", edit.Find("#trial [name='"+clusters.ValueField("count")+"']").AttrOr("value", ""), "defaults are there to be seen")
	form := edit.fill(t, editorForm, clusters.ValueField("count"), "7")
	try := func() answer { return author.post(paths.TemplatePreview("demo"), form, "HX-Request", "true") }
	got := try()
	require.Contains(t, got.Find("#preview").Text(), "count: 7")
	require.Zero(t, got.Find("#trial, textarea").Length(), "what is typed is left alone")

	form.Set(templates.FieldParams, teamParameters+"- key: zone\n  type: string\n  title: Zone\n  default: msk\n")
	form.Set(templates.FieldCluster, form.Get(templates.FieldCluster)+"where: {{ .zone }}\n")
	got = try()
	require.Contains(t, got.Find("#preview").Text(), "where: msk", "a new parameter has its default")
	require.Equal(t, "7", got.Find("#trial [name='"+clusters.ValueField("count")+"']").AttrOr("value", ""), "and the others what was typed")
	form.Set(templates.FieldCluster, "kind: ClusterConfiguration\nx: {{ fail \"no\" }}\n")
	got = try()
	warning := got.Find("#f-cluster_configuration-problems li")
	require.Equal(t, "2", warning.AttrOr("data-line", ""))
	require.Equal(t, "warn", warning.AttrOr("data-tone", ""), "other values may do")

	reader := s.as("rita", store.RoleReadOnly)
	require.Equal(t, http.StatusForbidden, reader.post(paths.TemplatePreview("demo"), form).StatusCode)
	require.Equal(t, http.StatusForbidden, reader.get(paths.TemplateEdit("demo", template.ID.String(), 0)).StatusCode)
}

func TestWhoIsSlowerLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	at := paths.TemplateEdit("demo", template.ID.String(), 0)
	olga, boris := s.as("olga", store.RoleFull), s.as("boris", store.RoleFull)
	save := func(b *browser, form url.Values, action string) answer {
		form.Set(templates.FieldAction, action)
		return b.post(at, form)
	}
	slow := olga.get(at).fill(t, editorForm, templates.FieldInit, "mine: 1\n", templates.FieldVersionComment, "of olga")
	fast := boris.get(at).fill(t, editorForm, templates.FieldInit, "theirs: 1\n", templates.FieldVersionComment, "of boris")
	require.Equal(t, http.StatusSeeOther, save(boris, fast, templates.ActionSave).StatusCode)
	require.Equal(t, http.StatusSeeOther, save(boris, fast, templates.ActionSave).StatusCode, "the very same once more is no conflict")
	_, versions, err := s.Fleet.Template(t.Context(), fleet.System, template.ID)
	require.NoError(t, err)
	require.Len(t, versions, 4, "and no version")

	late := save(olga, slow, templates.ActionSave)
	require.Equal(t, http.StatusConflict, late.StatusCode)
	require.Contains(t, late.Find("main .notice").Text(), "boris saved version 4")
	require.Contains(t, late.Find(".diff [data-mark='-']").Text(), "theirs: 1")
	require.Contains(t, late.Find(".diff [data-mark='+']").Text(), "mine: 1")
	require.Equal(t, "mine: 1\n", late.Find("#f-init_configuration").Text())
	again := late.fill(t, editorForm)
	require.Equal(t, "of olga", again.Get(templates.FieldVersionComment))
	require.Equal(t, http.StatusSeeOther, save(olga, again, templates.ActionOverride).StatusCode)
	_, versions, err = s.Fleet.Template(t.Context(), fleet.System, template.ID)
	require.NoError(t, err)
	require.Len(t, versions, 5, "both are there")
	require.Equal(t, "mine: 1\n", versions[0].InitConfiguration)
}

func TestALargeTemplateIsTaken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author := s.as("olga", store.RoleFull)
	large := "list:\n" + strings.Repeat("  - \"что-то: длинное & странное\"\n", 20_000)
	form := author.get(paths.NewTemplate("demo")).fill(t, editorForm, templates.FieldName, "large", templates.FieldInit, large, templates.FieldAction, templates.ActionSave)
	made := author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusSeeOther, made.StatusCode)
	edit := author.get(made.Header.Get("Location") + "/edit")
	require.Equal(t, large, edit.Find("#f-init_configuration").Text())
	require.Less(t, len(edit.Find("#preview").Text()), 200<<10, "the preview shows a part")
	form.Set(templates.FieldInit, strings.Repeat(large, 20))
	require.Equal(t, http.StatusUnprocessableEntity, author.post(paths.Templates("demo"), form).StatusCode)
}

func TestACloneBeginsAsItsSource(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	author := s.as("olga", store.RoleFull)
	clone := author.get(paths.TemplateClone("demo", template.ID.String(), 2))
	form := clone.fill(t, editorForm, templates.FieldAction, templates.ActionSave)
	require.Equal(t, "team <i> copy", form.Get(templates.FieldName))
	require.Contains(t, form.Get(templates.FieldCluster), "zone: a")
	made := author.post(paths.Templates("demo"), form)
	require.Equal(t, http.StatusSeeOther, made.StatusCode)
	require.Equal(t, 1, author.get(made.Header.Get("Location")).Find("tbody tr").Length())
	require.Equal(t, http.StatusNotFound, author.get(paths.TemplateClone("demo", anyID(), 0)).StatusCode)
}
