package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
	"commander/views/upgrade"
)

const (
	crewOne = "- {key: count, title: Workers, type: number, default: 2}\n- {key: zone, title: Zone <b>, type: string, default: a}\n" +
		"- {key: size, title: Size, type: number, optional: true}\n- {key: pass, title: Pass, type: string, format: password, optional: true}\n" +
		"- {key: proxy, title: Proxy, type: string, optional: true}\n"
	crewTwo = "- {key: count, title: Workers, type: number, default: 3}\n- {key: zone, title: Zone <b>, type: string, default: b}\n" +
		"- {key: size, title: Size, type: number, optional: true, max: 5}\n- {key: pass, title: Pass, type: string, format: password, optional: true}\n"
)

// crew makes a template with a version for each schema.
func (s *site) crew(schemas ...string) (store.ClusterTemplate, []store.ClusterTemplateVersion) {
	s.t.Helper()
	body := func(params string) fleet.TemplateVersionBody {
		return fleet.TemplateVersionBody{
			ParamsText:           params,
			ClusterConfiguration: "kind: ClusterConfiguration\nclusterType: Static\ncount: {{ .count }}\nzone: {{ .zone | quote }}\npass: {{ .pass | default \"\" | quote }}\n",
		}
	}
	template, err := s.CreateTemplate(s.t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "crew", Body: body(schemas[0])})
	require.NoError(s.t, err)
	for _, params := range schemas[1:] {
		next := body(params)
		template, err = s.ChangeTemplate(s.t.Context(), fleet.System, template.ID, fleet.TemplateChange{Revision: template.CurrentRevision, Name: "crew", Body: &next})
		require.NoError(s.t, err)
	}
	_, versions, err := s.Fleet.Template(s.t.Context(), fleet.System, template.ID)
	require.NoError(s.t, err)
	oldest := make([]store.ClusterTemplateVersion, len(versions))
	for i, v := range versions {
		oldest[len(versions)-1-i] = v
	}
	return template, oldest
}

// on is an installed cluster on a version.
func (s *site) on(version store.ClusterTemplateVersion, name string, values store.Values) store.Cluster {
	s.t.Helper()
	cluster, task, err := s.CreateCluster(s.t.Context(), fleet.System, fleet.NewCluster{
		WorkspaceID: s.workspace.ID, Name: name, TemplateVersionID: version.ID, Values: values, Install: true,
	})
	require.NoError(s.t, err)
	s.finish(*task, store.TaskSucceeded)
	cluster, err = s.Store.Cluster(s.t.Context(), cluster.ID)
	require.NoError(s.t, err)
	return cluster
}

func (s *site) finish(task store.Task, status store.TaskStatus) {
	s.t.Helper()
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	_, err := s.Claim(s.t.Context(), d, "worker")
	require.NoError(s.t, err)
	require.NoError(s.t, s.Finish(s.t.Context(), d, fleet.Ending{Status: status}))
}

// rows are the rows of a page's tables by the text of their heads.
func rows(a answer) map[string]string {
	out := map[string]string{}
	a.Find("tbody tr").Each(func(_ int, row *goquery.Selection) {
		var texts []string
		row.Find("*").Contents().Each(func(_ int, part *goquery.Selection) {
			if goquery.NodeName(part) == "#text" {
				texts = append(texts, strings.Fields(part.Text())...)
			}
		})
		out[strings.Join(strings.Fields(row.Find("th").Text()), " ")] = strings.Join(texts, " ")
	})
	return out
}

func TestAPersonChangesTheVersionOfACluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, v := s.crew(crewOne, crewTwo+"- {key: owner, title: Owner, type: string}\n")
	cluster := s.on(v[0], "prod", store.Values{"zone": "z", "size": 9.0, "pass": "correct horse", "proxy": "<script>alert(1)</script>"})
	id := cluster.ID.String()
	reader := s.as("rita", store.RoleReadOnly)
	require.Equal(t, http.StatusForbidden, reader.get(paths.ClusterUpgrade(id, "")).StatusCode)
	b := s.as("ann", store.RoleFull)
	require.Equal(t, 1, b.get(paths.Cluster(id)).Find(`a[href="`+paths.ClusterUpgrade(id, "")+`"]`).Length(), "the cluster's pages lead there")

	page := b.get(paths.ClusterUpgrade(id, ""))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, 0, page.Find(`option[value="`+v[0].ID.String()+`"]`).Length(), "the version that it has is no choice")
	page = b.get(paths.ClusterUpgrade(id, v[1].ID.String()))
	list := rows(page)
	for name, want := range map[string]string{
		"Workers": "Follows the new default 2 3", "Zone <b>": "Kept z set by a person z", "Size": "Conflict", "Owner": "Needs an answer",
		"Proxy": "Removed <script>alert(1)</script>", "Pass": "Kept ••••••••",
	} {
		require.Contains(t, list[name], want)
	}
	require.NotContains(t, page.text, "correct horse")
	require.NotContains(t, page.text, "<script>alert(1)")
	require.Contains(t, page.Find(".differences").Text(), "count: 3")

	// What is not answered comes back with its problems; nothing is changed.
	form := page.fill(t, "#upgrade-form", upgrade.FieldAction, upgrade.ActionApply)
	require.Equal(t, "9", form.Get(parameter("size")), "what is in conflict is there to be mended")
	page = b.post(paths.ClusterUpgrade(id, ""), form)
	require.Equal(t, http.StatusUnprocessableEntity, page.StatusCode)
	require.NotEmpty(t, page.Find("#f-values\\.owner-problem").Text())
	require.NotEmpty(t, page.Find("#f-values\\.size-problem").Text())
	form = page.fill(t, "#upgrade-form", parameter("size"), "4", parameter("owner"), "we", upgrade.FieldAction, upgrade.ActionPreview)
	page = b.post(paths.ClusterUpgrade(id, ""), form)
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Empty(t, page.Find("#f-values\\.owner-problem").Text())
	require.Equal(t, "we", page.Find("#f-values\\.owner").AttrOr("value", ""))
	unchanged, err := s.Store.Cluster(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.Equal(t, 1, unchanged.Revision)

	form = page.fill(t, "#upgrade-form", upgrade.FieldAction, upgrade.ActionApply)
	done := b.post(paths.ClusterUpgrade(id, ""), form)
	require.Equal(t, http.StatusSeeOther, done.StatusCode)
	require.Contains(t, done.Header.Get("Location"), "/tasks/")
	view, err := s.Fleet.Cluster(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, store.Values{"count": 3.0, "zone": "z", "size": 4.0, "pass": "correct horse", "owner": "we"}, view.Wanted.Values)
	again := b.post(paths.ClusterUpgrade(id, ""), form)
	require.Equal(t, http.StatusSeeOther, again.StatusCode, "a double submit")
	require.Equal(t, paths.Cluster(id), again.Header.Get("Location"))
}

func TestSomebodyElseWasFasterWithTheCluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, v := s.crew(crewOne, crewTwo)
	cluster := s.on(v[0], "prod", nil)
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.ClusterUpgrade(id, v[1].ID.String())).fill(t, "#upgrade-form", upgrade.FieldAction, upgrade.ActionApply)
	_, _, err := s.ChangeCluster(t.Context(), fleet.System, cluster.ID, fleet.ClusterChange{Revision: 1, Name: "prod", TemplateVersionID: v[0].ID, Values: store.Values{"zone": "q"}})
	require.NoError(t, err)
	page := b.post(paths.ClusterUpgrade(id, ""), form)
	require.Equal(t, http.StatusConflict, page.StatusCode)
	require.Contains(t, rows(page)["Zone <b>"], "Kept q", "the list is of what the cluster is now")
	require.Equal(t, "2", page.fill(t, "#upgrade-form").Get(upgrade.FieldRevision))
	require.Equal(t, http.StatusSeeOther, b.post(paths.ClusterUpgrade(id, ""), page.fill(t, "#upgrade-form", upgrade.FieldAction, upgrade.ActionApply)).StatusCode)
	gone := b.get(paths.ClusterUpgrade(id, uuid.NewString()))
	require.Equal(t, http.StatusUnprocessableEntity, gone.StatusCode, "a version that is none")
}

func TestAPersonSwitchesClusters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	hub := s.withLive()
	template, v := s.crew(crewOne, crewTwo)
	tid := template.ID.String()
	for _, name := range []string{"a1", "a2", "b1"} {
		s.on(v[0], name, nil)
	}
	s.on(v[0], "a9", store.Values{"size": 9.0}) // would be refused
	s.on(v[1], "already", nil)
	b := s.as("ann", store.RoleFull)
	start := paths.TemplateSwitch("demo", tid, paths.Switching{})
	require.Equal(t, 1, b.get(paths.TemplateClusters("demo", tid, paths.Query{})).Find(`a[href="`+start+`"]`).Length(), "the template's page leads there")
	page := b.get(start)
	require.Len(t, rows(page), 4)
	page = b.get(paths.TemplateSwitch("demo", tid, paths.Switching{Version: 2, Text: "a"}))
	require.Len(t, rows(page), 3)

	selector := `form[action="` + paths.TemplateSwitchPreview("demo", tid) + `"]`
	none := b.post(paths.TemplateSwitchPreview("demo", tid), page.fill(t, selector, upgrade.FieldScope, upgrade.ScopeChosen))
	require.Equal(t, http.StatusUnprocessableEntity, none.StatusCode)
	preview := b.post(paths.TemplateSwitchPreview("demo", tid), page.fill(t, selector, upgrade.FieldScope, upgrade.ScopeAll))
	require.Equal(t, http.StatusOK, preview.StatusCode)
	require.Contains(t, rows(preview)["a9"], "size: ")
	require.Contains(t, rows(preview)["a1"], "2 parameters change")

	begin := `form[action="` + start + `"]`
	form := preview.fill(t, begin, upgrade.FieldWave, "none", upgrade.FieldParallel, "1000")
	wrong := b.post(start, form)
	require.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	require.NotEmpty(t, wrong.Find("#f-wave_size-problem").Text())
	require.Equal(t, "1000", wrong.Find("#f-parallel").AttrOr("value", ""), "what was typed stays")
	form = wrong.fill(t, begin, upgrade.FieldWave, "1", upgrade.FieldParallel, "1")
	require.Len(t, form[upgrade.FieldCluster], 2, "those that would be refused are left out")
	begun := b.post(start, form)
	require.Equal(t, http.StatusSeeOther, begun.StatusCode)
	address := begun.Header.Get("Location")
	require.Equal(t, address, b.post(start, form).Header.Get("Location"), "a double submit makes one move")
	id := uuid.MustParse(strings.TrimPrefix(address, "/switches/"))

	move := b.get(address)
	require.Equal(t, 1, move.Find(`form[action="`+paths.MoveCancel(id.String())+`"]`).Length())
	conn := b.socket(move)
	_, err := s.ContinueSwitch(t.Context(), id)
	require.NoError(t, err)
	hub.Heard(store.SwitchTopic(id))
	await(t, conn, holds("<tr", "a1", "Changing", "/tasks/"))
	view, err := s.BulkSwitch(t.Context(), fleet.System, id, fleet.SwitchFilter{})
	require.NoError(t, err)
	row, err := s.Store.Task(t.Context(), *view.Clusters[0].TaskID)
	require.NoError(t, err)
	s.finish(row.Task, store.TaskSucceeded)
	require.Equal(t, http.StatusForbidden, s.as("rita", store.RoleReadOnly).post(paths.MoveCancel(id.String()), url.Values{}).StatusCode)
	require.Equal(t, http.StatusForbidden, s.as("nick", "").get(address).StatusCode, "a stranger sees no move")
	require.Equal(t, http.StatusSeeOther, b.post(paths.MoveCancel(id.String()), url.Values{}).StatusCode)
	_, err = s.ContinueSwitch(t.Context(), id)
	require.NoError(t, err)
	hub.Heard(store.SwitchTopic(id))
	await(t, conn, holds("move-"+id.String()+"-chip", "Cancelled"))
	end := b.get(address)
	require.Contains(t, rows(end)["a1"], "Done")
	require.Contains(t, rows(end)["a2"], "Skipped")
	require.Len(t, rows(b.get(address+"?status=done")), 1)
	require.Contains(t, b.get(start).Find(`[data-kind="moves"]`).Text(), "1 of 2 done", "the history of the template")
}
