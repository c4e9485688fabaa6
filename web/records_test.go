package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

// machines gives a site catalogs with records and a template that asks for them. It returns the ids
// of the records by their addresses.
func (s *site) machines(params string) (template string, ids map[string]string) {
	s.t.Helper()
	ids = map[string]string{}
	for _, c := range []struct {
		slug      string
		addresses []string
	}{{"hosts", []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}}, {"spare", []string{"10.9.0.1"}}} {
		made, err := s.CreateCatalog(s.t.Context(), fleet.System, s.workspace.ID, fleet.NewCatalog{Name: "The " + c.slug, Slug: c.slug, Exclusive: true, Params: json.RawMessage(machineFields)})
		require.NoError(s.t, err)
		for _, address := range c.addresses {
			r, err := s.CreateRecord(s.t.Context(), fleet.System, made.ID, store.Values{"address": address, "password": "of " + address})
			require.NoError(s.t, err)
			ids[address] = r.ID.String()
		}
	}
	lab, err := s.Store.TemplateVersion(s.t.Context(), *s.template.ClusterTemplate.CurrentVersionID)
	require.NoError(s.t, err)
	made, err := s.CreateTemplate(s.t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "Machines", Body: fleet.TemplateVersionBody{
		ParamsText: params, ClusterConfiguration: "apiVersion: deckhouse.io/v1\nkind: ClusterConfiguration\nclusterType: Cloud\nmaster: {{ .master | default dict | dig \"address\" \"none\" }}\nmodules: {{ .modules | default list | toJson }}\n",
		ProviderConfiguration: "", InitConfiguration: lab.InitConfiguration,
	}})
	require.NoError(s.t, err)
	return made.ID.String(), ids
}

const recordParameters = `- {key: master, title: Master, catalog: hosts, autoselect: true}
- {key: workers, title: Workers, catalog: hosts, minItems: 1, maxItems: 2, optional: true, span: 4}
- {key: fixed, title: Fixed, catalog: spare, optional: true, immutable: true}
- {key: modules, title: Modules, type: string, enum: [a, b, c], minItems: 0, maxItems: 3, optional: true, default: [b]}
- {key: size, title: Size, select: [{text: Small, value: {cpu: 2}}, {text: Large, value: {cpu: 8}}], default: {cpu: 2}}
- {key: replicas, title: Replicas, type: number, enum: [1, 3], default: 3}
- {key: code, title: Code, type: string, pattern: '^[a-z]+$', optional: true, minLength: 2}
- {key: secret, title: Secret, type: string, format: password, optional: true}
- {key: inner, title: Inner, type: string, default: kept, hidden: true}
`

func TestAFormOfRecords(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template, ids := s.machines(recordParameters)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.NewCluster("demo", template))
	require.Equal(t, http.StatusOK, form.StatusCode, form.text)
	master := form.Find("select[name='" + parameter("master") + "']")
	require.Equal(t, ids["10.0.0.1"], master.Find("option[selected]").AttrOr("value", ""), "a free record fills the field")
	require.Equal(t, 4, master.Find("option").Length(), "the person can replace it")
	require.Equal(t, 3, form.Find("[data-dual] [data-side=off] input").Length())
	require.Contains(t, form.Find("#preview").Text(), "master: 10.0.0.1")
	require.Equal(t, "3", form.Find("select[name='"+parameter("replicas")+"'] option[selected]").AttrOr("value", ""), "an enum of numbers is a select as well")
	require.Zero(t, form.Find("[name='"+parameter("inner")+"']").Length(), "hidden parameters are in no form")
	require.Equal(t, "4", form.Find("[id='f-"+parameter("workers")+"-box']").AttrOr("data-span", ""))
	require.Zero(t, form.Find("[name='"+clusters.CatalogField("fixed")+"']").Length(), "an immutable field stays with its catalog")

	// Several choices are sent as several values; one record may be in two fields of one cluster.
	filled := form.fill(t, clusterForm, "name", "first", clusters.FieldAction, clusters.ActionSave, parameter("code"), "x1")
	filled[parameter("workers")] = []string{ids["10.0.0.2"], ids["10.0.0.1"]}
	filled[parameter("modules")] = []string{"a", "c"}
	filled.Set(clusters.FieldAction, clusters.ActionInstall)
	got := b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("[id='f-"+parameter("code")+"-problem']").Text(), "Does not match ^[a-z]+$.")
	require.Equal(t, ids["10.0.0.2"], got.Find("[data-dual] [data-side=on] input").First().AttrOr("value", ""), "what was chosen stays, in its order")
	require.Equal(t, 2, got.Find("[name='"+parameter("modules")+"'][checked]").Length())
	filled.Set(parameter("code"), "xy")
	filled.Set(parameter("secret"), "correct horse")
	filled.Set(clusters.FieldAction, clusters.ActionSave)
	got = b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	cluster := got.Header.Get("Location")

	// Others see who has a record and cannot take it.
	form = b.get(paths.NewCluster("demo", template))
	require.Equal(t, ids["10.0.0.3"], form.Find("select[name='"+parameter("master")+"'] option[selected]").AttrOr("value", ""), "only free records are picked")
	taken := form.Find("select[name='" + parameter("master") + "'] option[value='" + ids["10.0.0.1"] + "']")
	require.Contains(t, taken.Text(), "taken by first")
	_, refused := taken.Attr("disabled")
	require.True(t, refused)
	got = b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", "second", parameter("master"), ids["10.0.0.1"], clusters.FieldAction, clusters.ActionInstall))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Contains(t, got.Find("[id='f-"+parameter("master")+"-problem']").Text(), "10.0.0.1 is taken by the cluster first")

	// The form of the cluster has what was saved, and gives up a secret only when asked to.
	at := b.get(cluster + "/configuration")
	require.Equal(t, 2, at.Find("[data-dual] [data-side=on] input").Length())
	require.NotContains(t, at.text, "correct horse")
	filled = at.fill(t, clusterForm, clusters.ForgetField("secret"), "true", clusters.FieldAction, clusters.ActionSave)
	filled.Del(parameter("modules")) // none chosen: nothing is sent
	got = b.post(cluster+"/configuration", filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	at = b.get(cluster + "/configuration")
	require.Zero(t, at.Find("[name='"+clusters.ForgetField("secret")+"']").Length(), "there is no secret to give up")
}

func TestAFieldIsPointedAtAnotherCatalog(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template, ids := s.machines(recordParameters)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.NewCluster("demo", template))
	filled := form.fill(t, clusterForm, "name", "first", clusters.CatalogField("master"), "spare", clusters.FieldAction, clusters.ActionInstall)

	part := b.post(paths.NewPreview("demo"), filled, "HX-Request", "true", "HX-Target", "f-"+parameter("master")+"-box")
	require.Equal(t, 1, part.Find(".field").Length(), "only the field is drawn anew")
	options := part.Find("select[name='" + parameter("master") + "'] option")
	require.Equal(t, ids["10.9.0.1"], options.Last().AttrOr("value", ""))
	require.Equal(t, 2, options.Length())

	// Without script the form comes back with the records of the other catalog.
	whole := b.post(paths.NewPreview("demo"), filled)
	require.Equal(t, "first", whole.Find("[name=name]").AttrOr("value", ""))
	filled = whole.fill(t, clusterForm, parameter("master"), ids["10.9.0.1"], clusters.FieldAction, clusters.ActionSave)
	got := b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	at := b.get(got.Header.Get("Location") + "/configuration")
	require.Equal(t, "spare", at.Find("[name='"+clusters.CatalogField("master")+"'] option[selected]").AttrOr("value", ""))
	require.Equal(t, ids["10.9.0.1"], at.Find("[name='"+parameter("master")+"'] option[selected]").AttrOr("value", ""))
}

func TestARegistryIsChosenForACluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, address := b.newForm()
	require.Zero(t, form.Find("[name="+clusters.FieldRegistry+"]").Length(), "without registries there is nothing to choose")
	made, err := s.CreateRegistry(t.Context(), fleet.System, s.workspace.ID, fleet.RegistryBody{Name: "Main", ImagesRepo: "registry.corp.example/platform/ee"})
	require.NoError(t, err)
	form = b.get(address)
	filled := form.fill(t, clusterForm, "name", "prod", clusters.FieldRegistry, made.ID.String(), clusters.FieldRegistryMode, fleet.RegistryUnmanaged, clusters.FieldAction, clusters.ActionSave)
	got := b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	at := b.get(got.Header.Get("Location") + "/configuration")
	require.Equal(t, made.ID.String(), at.Find("[name="+clusters.FieldRegistry+"] option[selected]").AttrOr("value", ""))
	require.Equal(t, fleet.RegistryUnmanaged, at.Find("[name="+clusters.FieldRegistryMode+"] option[selected]").AttrOr("value", ""))
	got = b.post(got.Header.Get("Location")+"/configuration", at.fill(t, clusterForm, clusters.FieldRegistry, "", clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	rows, err := s.Registries(t.Context(), fleet.System, s.workspace.ID)
	require.NoError(t, err)
	require.Zero(t, rows[0].Clusters)
}

// TestARecordIsFoundAmongMany picks records that are not among those that a form shows at first.
func TestARecordIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template, ids := s.machines("- {key: master, title: Master, catalog: hosts, optional: true}\n- {key: workers, title: Workers, catalog: hosts, minItems: 1, maxItems: 2, optional: true}\n")
	_, err := s.Store.Pool.Exec(t.Context(), `insert into records (catalog_id, plain, secrets, secrets_key, label, created_by)
		select r.catalog_id, jsonb_build_object('address', n.text), r.secrets, r.secrets_key, n.text, 'test'
		from records r, (select '172.16.' || lpad((i / 250)::text, 3, '0') || '.' || lpad((i % 250)::text, 3, '0') as text from generate_series(0, 19999) i) n where r.id = $1`, ids["10.0.0.1"])
	require.NoError(t, err)
	const far = "99.9.9.9"
	hosts, err := s.Store.Record(t.Context(), uuid.MustParse(ids["10.0.0.1"]))
	require.NoError(t, err)
	_, err = s.CreateRecord(t.Context(), fleet.System, hosts.CatalogID, store.Values{"address": far, "password": "x"})
	require.NoError(t, err)
	_, err = s.Store.Pool.Exec(t.Context(), "analyze records")
	require.NoError(t, err)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.NewCluster("demo", template))
	box := func(a answer, key string) *goquery.Selection { return a.Find("[id='f-" + parameter(key) + "-box']") }
	require.Equal(t, 501, box(form, "master").Find("[name='"+parameter("master")+"'] option").Length(), "and the one that is none")
	require.Regexp(t, `19,504 more records are not shown`, box(form, "master").Text())
	require.Zero(t, form.Find("[data-dual-filter]").Length(), "one search a field")

	// With a script only the field comes anew, with what was found and what is chosen.
	filled := form.fill(t, clusterForm, "name", "first", clusters.FindField("workers"), " "+far+" ", clusters.FieldAction, clusters.ActionSave)
	filled[parameter("workers")] = []string{ids["10.0.0.2"]}
	part := b.post(paths.NewPreview("demo"), filled, "HX-Request", "true", "HX-Target", "f-"+parameter("workers")+"-box")
	require.Equal(t, 1, part.Find(".field").Length())
	require.Equal(t, ids["10.0.0.2"], part.Find("[data-side=on] input").AttrOr("value", ""), "what is chosen stays")
	require.Equal(t, far, strings.TrimSpace(part.Find("[data-side=off] label").Text()))
	_, kept := part.Find("[data-find]").Attr("hx-preserve")
	require.True(t, kept, "what is typed stays under the cursor")

	// Without a script the form comes back with what was found.
	whole := b.post(paths.NewPreview("demo"), form.fill(t, clusterForm, "name", "first", clusters.FindField("master"), far))
	require.Equal(t, far, whole.Find("[name='"+clusters.FindField("master")+"']").AttrOr("value", ""))
	found := box(whole, "master").Find("[name='" + parameter("master") + "'] option").Last()
	require.Equal(t, far, strings.TrimSpace(found.Text()))
	none := b.post(paths.NewPreview("demo"), form.fill(t, clusterForm, clusters.FindField("master"), "no such"))
	require.Contains(t, box(none, "master").Text(), "No record fits", "and the search can be changed")
	require.Equal(t, 1, box(none, "master").Find("[data-find]").Length())
	got := b.post(paths.Clusters("demo"), whole.fill(t, clusterForm, parameter("master"), found.AttrOr("value", ""), clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.Find(".problem").Text())
	at := b.get(got.Header.Get("Location") + "/configuration")
	require.Equal(t, far, strings.TrimSpace(box(at, "master").Find("[name='"+parameter("master")+"'] option[selected]").Text()))
}
