package web

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

func TestListFiltersAndFragments(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	prod := s.installed("prod")
	s.cluster("stage", nil)
	b := s.as("rita", store.RoleReadOnly)

	all := b.get(paths.Clusters("demo"))
	require.Equal(t, http.StatusOK, all.StatusCode)
	require.Equal(t, 2, all.Find("main tbody tr").Length())
	require.Zero(t, all.Find("[data-create]").Length(), "a reader is offered no creation")
	live, _ := all.Find("[ws-connect]").Attr("ws-connect")
	require.Contains(t, live, url.QueryEscape(paths.TopicCluster(prod.ID.String())))
	require.Contains(t, all.Find("#cluster-filters").Text(), "Ready")

	ready := b.get(paths.ClusterList("demo", paths.Query{Status: "ready"}))
	require.Equal(t, "prod", ready.Find("main tbody a.name").Text())

	part := b.get(paths.ClusterList("demo", paths.Query{Text: "sta"}), "HX-Request", "true")
	require.Zero(t, part.Find("#main").Length())
	require.Equal(t, "stage", part.Find("#cluster-list a.name").Text())

	sorted := b.get(paths.ClusterList("demo", paths.Query{Sort: "name", Descending: true}))
	require.Equal(t, "stage", sorted.Find("main tbody a.name").First().Text())
	require.Equal(t, "descending", sorted.Find("th[aria-sort]").AttrOr("aria-sort", ""))
}

func TestListHasPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.deps.Console.PageSize = 2
	for _, name := range []string{"a", "b", "c"} {
		s.cluster(name, nil)
	}
	b := s.as("ann", store.RoleFull)
	first := b.get(paths.Clusters("demo"))
	require.Equal(t, 2, first.Find("main tbody tr").Length())
	next, there := first.Find("a[rel=next]").Attr("href")
	require.True(t, there)
	last := b.get(next)
	require.Equal(t, "c", last.Find("main tbody a.name").Text())
	require.Zero(t, last.Find("a[rel=next]").Length())
}

func TestEveryTabOfACluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	for name, role := range map[string]store.Role{"ann": store.RoleFull, "rita": store.RoleReadOnly} {
		b := s.as(name, role)
		for _, path := range []string{
			paths.Cluster(id), paths.ClusterConfiguration(id), paths.ClusterKubernetes(id), paths.ClusterTasks(id), paths.ClusterKubeconfig(id),
		} {
			got := b.get(path)
			require.Equal(t, http.StatusOK, got.StatusCode, path)
			require.Contains(t, got.Find("h1").Text(), "prod")
		}
		form := b.get(paths.ClusterConfiguration(id))
		require.Equal(t, role == store.RoleReadOnly, form.Find("fieldset[disabled]").Length() == 1)
	}
}

func TestSecretsAreNeverShownAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.cluster("prod", store.Values{"adminPassword": "hunter2hunter2"}).ID
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.ClusterConfiguration(id.String()))
	require.NotContains(t, form.text, "hunter2")
	require.Contains(t, form.Find("#preview").Text(), schema.Mask)
	password := form.Find("[name='" + parameter("adminPassword") + "']")
	require.Empty(t, password.AttrOr("value", ""))

	got := b.post(paths.ClusterConfiguration(id.String()), form.fill(t, clusterForm, parameter("workerCount"), "5", clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, got.StatusCode, got.text)
	view, err := s.Cluster(t.Context(), fleet.System, id)
	require.NoError(t, err)
	require.Equal(t, "hunter2hunter2", view.Wanted.Values["adminPassword"], "left empty means kept")
	require.EqualValues(t, 5, view.Wanted.Values["workerCount"])
}

func TestStaleFormTellsWhoWasFaster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.cluster("prod", nil).ID.String()
	ann, bob := s.as("ann", store.RoleFull), s.as("bob", store.RoleFull)
	slow := ann.get(paths.ClusterConfiguration(id)).fill(t, clusterForm, parameter("workerCount"), "7", clusters.FieldAction, clusters.ActionSave)
	fast := bob.get(paths.ClusterConfiguration(id)).fill(t, clusterForm, parameter("workerMemory"), "64", clusters.FieldAction, clusters.ActionSave)
	require.Equal(t, http.StatusSeeOther, bob.post(paths.ClusterConfiguration(id), fast).StatusCode)

	got := ann.post(paths.ClusterConfiguration(id), slow)
	require.Equal(t, http.StatusConflict, got.StatusCode)
	alert := got.Find("[role=alert]").Text()
	require.Contains(t, alert, "bob saved this cluster while you were editing.")
	require.Contains(t, alert, "Memory a worker, GiB")
	require.Equal(t, "7", got.Find("[name='"+parameter("workerCount")+"']").AttrOr("value", ""), "what was typed is kept")

	over := got.fill(t, clusterForm, clusters.FieldAction, clusters.ActionOverride)
	require.Equal(t, http.StatusSeeOther, ann.post(paths.ClusterConfiguration(id), over).StatusCode)
	view, err := s.Cluster(t.Context(), fleet.System, uuid.MustParse(id))
	require.NoError(t, err)
	require.EqualValues(t, 7, view.Wanted.Values["workerCount"])
	require.EqualValues(t, 8, view.Wanted.Values["workerMemory"])
}

func TestImmutableParametersAreLockedOnceFilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.ClusterConfiguration(id))
	_, locked := form.Find("[name='" + parameter("podSubnet") + "']").Attr("readonly")
	require.True(t, locked)
	got := b.post(paths.ClusterConfiguration(id), form.fill(t, clusterForm, parameter("podSubnet"), "10.1.0.0/16", clusters.FieldAction, clusters.ActionInstall))
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode, "the lock is more than a look")
}

func TestChangeOfAnInstalledClusterIsATask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.ClusterConfiguration(id))
	got := b.post(paths.ClusterConfiguration(id), form.fill(t, clusterForm, parameter("workerCount"), "4", clusters.FieldAction, clusters.ActionInstall))
	require.Contains(t, got.Header.Get("Location"), "/tasks/")
	after := b.get(paths.ClusterConfiguration(id))
	require.Contains(t, after.Find(".differences .diff").Text(), "replicas: 4", "declared and applied are compared")
	require.Equal(t, "Changing", b.get(paths.Cluster(id)).Find("main .chips .chip").First().Text())
}

func TestDeletionAsksForTheName(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	b := s.as("ann", store.RoleFull)
	got := b.post(paths.ClusterDeletion(id), url.Values{"name": {"prd"}})
	require.Equal(t, http.StatusUnprocessableEntity, got.StatusCode)
	require.Equal(t, "prd", got.Find("[name=name]").AttrOr("value", ""))
	got = b.post(paths.ClusterDeletion(id), url.Values{"name": {"prod"}}, "HX-Request", "true", "HX-Boosted", "true")
	require.Equal(t, http.StatusNoContent, got.StatusCode)
	require.Contains(t, got.Header.Get("HX-Location"), "/tasks/")
}

func TestArchivedClusterHasOnePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	b := s.as("ann", store.RoleFull)
	untyped := b.post(paths.ClusterArchive(id), url.Values{clusters.FieldArchived: {"prud"}})
	require.Equal(t, http.StatusUnprocessableEntity, untyped.StatusCode, "the name has to be typed")
	require.Contains(t, untyped.Find("#f-"+clusters.FieldArchived+"-problem").Text(), "not the name")
	require.Equal(t, http.StatusSeeOther, b.post(paths.ClusterArchive(id), url.Values{clusters.FieldArchived: {"prod"}}).StatusCode)
	page := b.get(paths.Cluster(id))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Contains(t, page.Text(), "Its machines and everything on them")
	require.Equal(t, paths.Cluster(id), b.get(paths.ClusterConfiguration(id)).Header.Get("Location"))
	list := b.get(paths.Archive("demo"))
	require.Equal(t, "prod", list.Find("main tbody a.name").Text())
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterArchive(id), nil).StatusCode)
}

func TestKubeconfigHoldsATokenOfThePerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	got := s.as("rita", store.RoleReadOnly).post(paths.ClusterKubeconfig(cluster.ID.String()), nil)
	require.Equal(t, http.StatusOK, got.StatusCode, got.text)
	require.Contains(t, got.Header.Get("Content-Disposition"), `filename="prod.kubeconfig"`)
	var file struct {
		Clusters []struct {
			Cluster struct {
				Server string `json:"server"`
				CA     string `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(got.text), &file))
	require.Equal(t, s.server.URL+"/kubernetes/"+cluster.ID.String(), file.Clusters[0].Cluster.Server)
	ca, err := base64.StdEncoding.DecodeString(file.Clusters[0].Cluster.CA)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(ca), "-----BEGIN CERTIFICATE-----"))
	_, role, err := s.KubeActor(t.Context(), cluster.ID, file.Users[0].User.Token)
	require.NoError(t, err)
	require.Equal(t, store.RoleReadOnly, role)

	saved := s.cluster("stage", nil)
	require.Equal(t, http.StatusConflict, s.as("ann", store.RoleFull).post(paths.ClusterKubeconfig(saved.ID.String()), nil).StatusCode)
}
