package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

const clusterForm = "form#cluster-form"

// newForm opens the form of a new cluster the way a person does: by the template's card.
func (b *browser) newForm() (form answer, address string) {
	b.t.Helper()
	choice := b.get(paths.NewCluster("demo", ""))
	require.Equal(b.t, http.StatusOK, choice.StatusCode)
	href, there := choice.Find("main .choices a").Attr("href")
	require.True(b.t, there, choice.text)
	form = b.get(href)
	require.Equal(b.t, http.StatusOK, form.StatusCode)
	return form, href
}

func TestInstallLeadsToTheTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	got := b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", "prod", clusters.FieldAction, clusters.ActionInstall))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	task := b.get(got.Header.Get("Location"))
	require.Equal(t, http.StatusOK, task.StatusCode)
	require.Contains(t, task.Find("h1").Text(), "prod")
	require.Equal(t, "Queued", task.Find("main .head .chip").First().Text())
	live, _ := task.Find("[ws-connect]").Attr("ws-connect")
	require.Contains(t, live, "topic=task")
}

func TestFormSentTwiceMakesOneCluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	filled := form.fill(t, clusterForm, "name", "prod", clusters.FieldAction, clusters.ActionInstall)
	first, second := b.post(paths.Clusters("demo"), filled), b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusSeeOther, first.StatusCode)
	require.Equal(t, first.Header.Get("Location"), second.Header.Get("Location"))
}

func TestRefusedFormKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	filled := form.fill(t, clusterForm, "name", "Prod!", parameter("workerCount"), "many", parameter("podSubnet"), "10.9.0.0/16",
		parameter("adminPassword"), "short", clusters.FieldAction, clusters.ActionInstall)
	got := b.post(paths.Clusters("demo"), filled)
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	for name, want := range map[string]string{
		"name": "Prod!", parameter("workerCount"): "many", parameter("podSubnet"): "10.9.0.0/16", parameter("adminPassword"): "short",
		clusters.FieldNonce: filled.Get(clusters.FieldNonce),
	} {
		value, _ := got.Find("[name='" + name + "']").Attr("value")
		require.Equal(t, want, value, name)
	}
	for name, want := range map[string]string{
		"name":                     "Use lower-case letters",
		parameter("workerCount"):   "Must be a number.",
		parameter("adminPassword"): "At least 8 characters.",
	} {
		control := got.Find("[name='" + name + "']")
		require.Equal(t, "true", control.AttrOr("aria-invalid", ""), name)
		described := ""
		for _, id := range strings.Fields(control.AttrOr("aria-describedby", "")) {
			described += got.Find("[id='"+id+"']").Text() + " "
		}
		require.Contains(t, described, want, name)
	}
	require.Equal(t, 1, got.Find("[autofocus]").Length())
	require.Equal(t, "name", got.Find("[autofocus]").AttrOr("name", ""))
	require.Contains(t, got.Find("[role=alert]").Text(), "3 parameters need attention. Nothing was saved.")
	clustersNow, err := s.Store.CountEach(t.Context(), []store.ClusterQuery{{WorkspaceID: s.workspace.ID}})
	require.NoError(t, err)
	require.Equal(t, []int64{0}, clustersNow)
}

func TestTakenNameIsSaidBesideTheName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cluster("prod", nil)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	got := b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", "prod", clusters.FieldAction, clusters.ActionInstall))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Equal(t, "true", got.Find("[name=name]").AttrOr("aria-invalid", ""))
}

func TestSavedWithErrorsAndMendedLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	got := b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", "prod", parameter("workerCount"), "many",
		clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	cluster := got.Header.Get("Location")
	page := b.get(cluster)
	require.Equal(t, "Configuration error", page.Find("main .chips .chip").First().Text())
	require.Contains(t, page.Text(), "Must be a number.")

	form = b.get(cluster + "/configuration")
	require.Equal(t, "many", form.Find("[name='"+parameter("workerCount")+"']").AttrOr("value", ""))
	got = b.post(cluster+"/configuration", form.fill(t, clusterForm, parameter("workerCount"), "3", clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	require.Contains(t, got.Header.Get("Location"), "/tasks/", "mending it installs it")
}

func TestPreviewLeavesTheFormAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("ann", store.RoleFull)
	form, _ := b.newForm()
	filled := form.fill(t, clusterForm, parameter("workerCount"), "7", parameter("workerCPU"), "0")
	part := b.post(paths.NewPreview("demo"), filled, "HX-Request", "true")
	require.Equal(t, http.StatusOK, part.StatusCode)
	require.Contains(t, part.Find("#preview").Text(), "replicas: 7")
	require.Zero(t, part.Find("input").Length(), "what is being typed stays untouched")
	problem := part.Find("[hx-swap-oob][data-problem-of='f-" + parameter("workerCPU") + "']")
	require.Equal(t, "At least 1.", problem.Text())

	whole := b.post(paths.NewPreview("demo"), filled)
	require.Equal(t, http.StatusOK, whole.StatusCode)
	require.Equal(t, "7", whole.Find("[name='"+parameter("workerCount")+"']").AttrOr("value", ""))
	require.Equal(t, 1, whole.Find("#main").Length(), "without script it is a page")
}

func TestFormOfAnotherWorkspacesTemplateIsUnknown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.EnsureWorkspace(t.Context(), "other", "")
	require.NoError(t, err)
	admin := s.nobody()
	signIn(t, admin)
	template := s.template.ClusterTemplate
	require.Equal(t, http.StatusOK, admin.get(paths.NewCluster("demo", template.ID.String())).StatusCode)
	require.Equal(t, http.StatusNotFound, admin.get(paths.NewCluster("other", template.ID.String())).StatusCode)
	got := admin.post(paths.Clusters("other"), url.Values{
		clusters.FieldVersion: {template.CurrentVersionID.String()}, clusters.FieldNonce: {uuid.NewString()}, "name": {"prod"},
	})
	require.Equal(t, http.StatusNotFound, got.StatusCode)
}
