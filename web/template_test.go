package web

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
	"commander/views/templates"
)

const teamParameters = "- key: count # of workers\n  title: Workers\n  type: number\n  default: 2\n"

func teamBody() fleet.TemplateVersionBody {
	return fleet.TemplateVersionBody{
		Comment: "first", ParamsText: teamParameters, ClusterConfiguration: "kind: ClusterConfiguration\ncount: {{ .count }}\nclusterType: Static\n",
		ResourceGroups: store.ResourceGroups{{Name: "base", Controlled: true, Template: "kind: <b>A</b>\n"}},
	}
}

// team makes a template of three versions, the second of which is withdrawn.
func (s *site) team() store.ClusterTemplate {
	s.t.Helper()
	template, err := s.CreateTemplate(s.t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "team <i>", Comment: "of ours", Body: teamBody()})
	require.NoError(s.t, err)
	for _, zone := range []string{"a", "b"} {
		body := teamBody()
		body.Comment = "zone " + zone
		body.ClusterConfiguration += "zone: " + zone + "\n"
		body.ResourceGroups[0].Controlled = zone == "a"
		template, err = s.ChangeTemplate(s.t.Context(), fleet.System, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: template.Name, Comment: "of ours", Body: &body})
		require.NoError(s.t, err)
	}
	require.NoError(s.t, s.ChangeTemplateVersion(s.t.Context(), fleet.System, template.ID, 2, fleet.VersionChange{Available: new(false)}))
	return template
}

func TestTemplatesAreListedSortedFilteredAndInPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.deps.Console.PageSize = 2
	template := s.team()
	_, err := s.CreateTemplate(t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "alone", Body: teamBody()})
	require.NoError(t, err)
	reader := s.as("rita", store.RoleReadOnly)
	names := func(q paths.Query) []string {
		var out []string
		for _, n := range reader.get(paths.TemplateList("demo", q)).Find("tbody th a").EachIter() {
			out = append(out, n.Text())
		}
		return out
	}
	all, err := s.TemplateList(t.Context(), fleet.System, s.workspace.ID, fleet.TemplateFilter{Limit: 100})
	require.NoError(t, err)
	require.Len(t, names(paths.Query{}), 2, "a page")
	require.Equal(t, "alone", names(paths.Query{})[0])
	require.Equal(t, "team <i>", names(paths.Query{Sort: templates.SortVersion, Descending: true})[0], "three versions are the most")
	require.Equal(t, "alone", names(paths.Query{Sort: templates.SortChanged, Descending: true})[0])
	require.Equal(t, "team <i>", names(paths.Query{Sort: templates.SortName, Descending: true})[0])
	require.Equal(t, []string{"team <i>"}, names(paths.Query{Text: "OF OURS"}), "comments are searched too")
	require.Empty(t, names(paths.Query{Text: "100%"}), "nothing is a wildcard")
	page := reader.get(paths.Templates("demo"))
	require.Contains(t, page.Find(".pages").Text(), "1–2 of "+strconv.Itoa(int(all.Total)))
	require.Equal(t, strconv.Itoa(int(all.Active)), page.Find(".filter .num").First().Text())
	require.Zero(t, page.Find("main form[method=post], main [data-create]").Length(), "a reader changes nothing")
	fragment := reader.get(paths.TemplateList("demo", paths.Query{Text: "team"}), "HX-Request", "true")
	require.Zero(t, fragment.Find("#side").Length())
	require.Equal(t, 1, fragment.Find("tbody tr").Length())

	_, err = s.ArchiveTemplate(t.Context(), fleet.System, template.ID)
	require.NoError(t, err)
	require.Empty(t, names(paths.Query{Text: "team"}))
	require.Equal(t, []string{"team <i>"}, names(paths.Query{Status: templates.StatusArchived}))
}

func TestATemplatesPageTellsItsVersionsAndClusters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	_, versions, err := s.Fleet.Template(t.Context(), fleet.System, template.ID)
	require.NoError(t, err)
	make := func(name string, version store.ClusterTemplateVersion) store.Cluster {
		c, _, err := s.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{WorkspaceID: s.workspace.ID, Name: name, TemplateVersionID: version.ID})
		require.NoError(t, err)
		return c
	}
	first, third := make("old", versions[2]), make("new", versions[0])
	_, err = s.Store.Pool.Exec(t.Context(), "update clusters set status = 'delete' where id = $1", first.ID)
	require.NoError(t, err)

	author := s.as("olga", store.RoleFull)
	at := paths.Template("demo", template.ID.String())
	page := author.get(at)
	require.Equal(t, "team <i>", page.Find("h1").Text())
	require.Equal(t, 3, page.Find("tbody tr").Length())
	row := page.Find("tbody tr").First()
	require.Contains(t, row.Text(), "zone b")
	require.Contains(t, row.Text(), "Current")
	require.Contains(t, page.Find("tbody tr").Eq(1).Text(), "Not available")
	require.Equal(t, "1", page.Find("tbody tr").Eq(2).Find("td.num").Text())

	clusters := author.get(paths.TemplateClusters("demo", template.ID.String(), paths.Query{}))
	require.Equal(t, 2, clusters.Find("tbody tr").Length())
	require.Contains(t, clusters.Find("tbody tr").Eq(1).Text(), "Deleting")
	for _, c := range []store.Cluster{first, third} {
		require.Equal(t, 1, clusters.Find("tbody a[href='"+paths.Cluster(c.ID.String())+"']").Length())
	}

	// The second is offered again, then used; then its comment changes.
	two := paths.TemplateVersion("demo", template.ID.String(), 2)
	form := page.fill(t, "form[action='"+two+"']")
	require.Equal(t, "true", form.Get(templates.FieldAvailable))
	require.Equal(t, at, author.post(two, form).Header.Get("Location"))
	require.Equal(t, http.StatusSeeOther, author.post(paths.TemplateVersionUse("demo", template.ID.String(), 2), url.Values{}).StatusCode)
	version := author.get(two)
	require.Contains(t, version.Find(".head").Text(), "Current")
	require.Contains(t, version.Find(".yaml").First().Text(), "count # of workers", "as its author wrote it")
	require.Zero(t, version.Find(".yaml b").Length(), "values are text")
	require.Contains(t, version.Find("details summary").Last().Text(), "kept as declared")
	comment := version.fill(t, "aside form:has([name=comment])", templates.FieldComment, "better")
	require.Equal(t, two, author.post(two, comment).Header.Get("Location"))
	require.Equal(t, "better", author.get(two).Find("[name=comment]").AttrOr("value", ""))
	require.Contains(t, author.get(two).Find(".head").Text(), "Available", "a comment leaves the rest alone")

	for _, unknown := range []string{paths.TemplateVersion("demo", template.ID.String(), 9), at + "/versions/x", paths.Template("demo", uuid.NewString())} {
		require.Equal(t, http.StatusNotFound, author.get(unknown).StatusCode, unknown)
	}
	reader := s.as("rita", store.RoleReadOnly)
	require.Zero(t, reader.get(two).Find("main form[method=post]").Length())
	require.Equal(t, http.StatusForbidden, reader.post(two, comment).StatusCode)
}

func TestTwoVersionsSideBySide(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	reader := s.as("rita", store.RoleReadOnly)
	at := func(c paths.Comparison) answer {
		return reader.get(paths.TemplateComparison("demo", template.ID.String(), c))
	}
	newest := at(paths.Comparison{})
	require.Contains(t, newest.Find(".sides th").First().Text(), "Version 2")
	require.Contains(t, newest.Find(".sides [data-mark='-']").Text(), "zone: a")
	require.Contains(t, newest.Find(".sides [data-mark='+']").Text(), "zone: b")
	require.Contains(t, newest.Find("details").Last().Text(), "Before: kept as declared. After: created once.")
	require.Equal(t, 2, newest.Find("details").Length(), "what is equal is left out")

	all := at(paths.Comparison{From: 1, To: 3, All: true})
	require.Greater(t, all.Find(".sides tbody tr").Length(), newest.Find(".sides tbody tr").Length())
	require.Contains(t, all.Find("details").First().Text(), "count # of workers")
	one := at(paths.Comparison{From: 1, To: 3, Side: paths.SideChanged})
	require.Zero(t, one.Find("[data-mark='-']").Length())
	require.Contains(t, one.Find("[data-mark='+']").Text(), "zone: b")
	require.Contains(t, at(paths.Comparison{From: 2, To: 2}).Find(".empty").Text(), "Nothing differs")
	require.Equal(t, http.StatusNotFound, at(paths.Comparison{From: 7, To: 2}).StatusCode)
	require.Equal(t, http.StatusNotFound, at(paths.Comparison{From: -1, To: 2}).StatusCode)
}

func TestATemplateTravelsAsFileAndAsText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team()
	author := s.as("olga", store.RoleFull)
	file := author.get(paths.TemplateExport("demo", template.ID.String(), 0))
	require.Equal(t, `attachment; filename="team--i.yaml"`, file.Header.Get("Content-Disposition"))
	require.Contains(t, author.get(paths.TemplateExport("demo", template.ID.String(), 2)).text, "zone a")

	page := author.get(paths.TemplateImport("demo"))
	send := func(upload, text, name string) answer {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for field, values := range page.fill(t, "main form", templates.FieldText, text, templates.FieldName, name) {
			if field != templates.FieldFile {
				require.NoError(t, form.WriteField(field, values[0]))
			}
		}
		part, err := form.CreateFormFile(templates.FieldFile, "team.yaml")
		require.NoError(t, err)
		_, err = part.Write([]byte(upload))
		require.NoError(t, err)
		require.NoError(t, form.Close())
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+paths.TemplateImport("demo"), &body)
		require.NoError(t, err)
		r.Header.Set("Content-Type", form.FormDataContentType())
		return author.do(r)
	}
	refused := send(file.text, "", "")
	require.Equal(t, http.StatusUnprocessableEntity, refused.StatusCode)
	require.Contains(t, refused.Find("#f-name-problem").Text(), "team <i>", "the name is taken")
	require.Contains(t, refused.Find("textarea").Text(), "ClusterTemplate", "the file comes back as text")
	taken := send(file.text, "", "arrived")
	require.Equal(t, http.StatusSeeOther, taken.StatusCode, taken.text)
	at := taken.Header.Get("Location")
	require.Equal(t, at, send(file.text, "", "arrived").Header.Get("Location"), "a form sent twice makes one template")
	arrived := author.get(at)
	require.Equal(t, 3, arrived.Find("tbody tr").Length())
	require.Contains(t, arrived.Find("tbody tr").Eq(1).Text(), "Not available")

	page = author.get(paths.TemplateImport("demo"))
	pasted := send("", "kind: Nonsense", "x")
	require.Equal(t, http.StatusUnprocessableEntity, pasted.StatusCode)
	require.Contains(t, pasted.Find("main .notice").Text(), "apiVersion")
	require.Equal(t, "x", pasted.Find("[name=name]").AttrOr("value", ""), "what was typed is kept")
	pasted = send("", file.text, "pasted")
	require.Equal(t, http.StatusSeeOther, pasted.StatusCode)

	require.Equal(t, at, author.post(at+"/archive", url.Values{}).Header.Get("Location"))
	require.Contains(t, author.get(at).Find(".notice").Text(), "in the archive")
	require.Equal(t, at, author.post(at+"/restoration", url.Values{}).Header.Get("Location"))
	require.Zero(t, author.get(at).Find("main .notice").Length())
}
