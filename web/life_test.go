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

// settingsForm is the form of how a cluster is kept.
const settingsForm = "form.panel"

func TestSettingsPageOfACluster(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)

	require.Equal(t, 1, b.get(paths.Cluster(id)).Find(`main .menu a[href="`+paths.ClusterSettings(id)+`"]`).Length(), "the menu leads there too")
	page := b.get(paths.ClusterSettings(id))
	require.Equal(t, "auto", page.Find("[name=mode] option[selected]").AttrOr("value", ""))
	require.Equal(t, "1", page.Find("[name=check_every]").AttrOr("value", ""))

	wrong := b.post(paths.ClusterSettings(id), page.fill(t, settingsForm, clusters.FieldCheckEvery, "soon"))
	require.Equal(t, http.StatusUnprocessableEntity, wrong.StatusCode)
	require.Equal(t, "soon", wrong.Find("[name=check_every]").AttrOr("value", ""), "what was typed is kept")
	require.Contains(t, wrong.Find("#f-check_every-problem").Text(), "1440")

	saved := b.post(paths.ClusterSettings(id), page.fill(t, settingsForm, clusters.FieldMode, clusters.ModeManual, clusters.FieldCheckEvery, "30"))
	require.Equal(t, http.StatusSeeOther, saved.StatusCode, saved.text)
	after, err := s.Store.Cluster(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.Equal(t, store.SyncManual, after.SyncMode)
	require.Equal(t, 30, after.CheckIntervalMinutes)

	reader := s.as("rita", store.RoleReadOnly)
	seen := reader.get(paths.ClusterSettings(id))
	require.Equal(t, 1, seen.Find("fieldset[disabled]").Length())
	require.Zero(t, seen.Find("main form button").Length())
	require.Equal(t, http.StatusForbidden, reader.post(paths.ClusterSettings(id), url.Values{}).StatusCode)
}

func TestAProtectedClusterIsNeitherDeletedNorArchived(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.installed("prod").ID.String()
	b := s.as("ann", store.RoleFull)
	require.Equal(t, http.StatusSeeOther, b.post(paths.ClusterProtection(id), url.Values{clusters.FieldLocked: {"true"}}).StatusCode)
	require.Contains(t, b.get(paths.ClusterSettings(id)).Find("main").Text(), "Protected")
	require.Zero(t, b.get(paths.Cluster(id)).Find(`main a[href="`+paths.ClusterDeletion(id)+`"]`).Length())
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterDeletion(id), url.Values{"name": {"prod"}}).StatusCode)
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterArchive(id), nil).StatusCode)
	require.Equal(t, http.StatusSeeOther, b.post(paths.ClusterProtection(id), url.Values{}).StatusCode)
	require.Equal(t, http.StatusSeeOther, b.post(paths.ClusterArchive(id), url.Values{clusters.FieldArchived: {"prod"}}).StatusCode)
}

// change gives a cluster another number of workers and ends the task that applies it.
func (b *browser) change(cluster store.Cluster, workers string) {
	b.t.Helper()
	id := cluster.ID.String()
	form := b.get(paths.ClusterConfiguration(id))
	got := b.post(paths.ClusterConfiguration(id), form.fill(b.t, clusterForm, parameter("workerCount"), workers, clusters.FieldAction, clusters.ActionInstall))
	require.Contains(b.t, got.Header.Get("Location"), "/tasks/", got.text)
	active, err := b.Store.ActiveTasks(b.t.Context(), cluster.ID)
	require.NoError(b.t, err)
	b.end(active[0], fleet.Ending{Status: store.TaskSucceeded})
}

func TestHistoryIsComparedAndReturnedTo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)
	b.change(cluster, "4")
	b.change(cluster, "6")

	history := b.get(paths.ClusterHistory(id))
	require.Equal(t, 3, history.Find("main tbody tr").Length())
	require.Contains(t, history.Find("main tbody tr").First().Text(), "Desired")
	require.Contains(t, history.Find("main tbody tr").First().Text(), "Worker nodes", "it names what changed")
	sides := history.fill(t, `main form[method=get]:not([role])`)
	require.Len(t, sides, 2)

	any2 := b.get(paths.ClusterComparison(id, "1", "2"))
	require.Contains(t, any2.Find(".diff").Text(), "replicas: 4")
	require.NotContains(t, any2.Find(".diff").Text(), "replicas: 6")
	require.Contains(t, b.get(paths.ClusterComparison(id, "", "")).Find("main").Text(), "the same", "desired and applied agree")
	require.Equal(t, http.StatusNotFound, b.get(paths.ClusterComparison(id, "1", "99")).StatusCode)

	ask := b.get(paths.ClusterRollback(id, "1"))
	require.Equal(t, http.StatusOK, ask.StatusCode)
	require.Contains(t, ask.Find(".diff").Text(), "replicas: 6", "the difference is shown before")
	form := ask.fill(t, "main form[method=post]")
	b.change(cluster, "7")
	late := b.post(paths.ClusterRollback(id, ""), form)
	require.Equal(t, http.StatusConflict, late.StatusCode)
	require.Contains(t, late.Find("[role=alert]").Text(), "changed meanwhile")
	back := b.post(paths.ClusterRollback(id, ""), late.fill(t, "main form[method=post]"))
	require.Contains(t, back.Header.Get("Location"), "/tasks/", back.text)
	view, err := s.Cluster(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	require.EqualValues(t, cluster.Revision+4, view.Revision)
	require.Contains(t, view.Wanted.Rendering.Shown.ProviderConfiguration, "replicas: 2")
	require.Equal(t, http.StatusForbidden, s.as("rita", store.RoleReadOnly).get(paths.ClusterRollback(id, "1")).StatusCode)
}

func TestDriftIsShownAndCompared(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)
	require.Zero(t, b.get(paths.Cluster(id)).Find(".drift").Length(), "nothing differs yet")
	require.Equal(t, http.StatusNotFound, b.get(paths.ClusterComparison(id, "actual", "desired")).StatusCode)

	_, err := s.SetClusterSettings(t.Context(), fleet.System, cluster.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 1})
	require.NoError(t, err)
	view, err := s.Cluster(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	wanted := view.Wanted.Rendering.Real
	s.check(cluster, fleet.Ending{
		OutOfSync: true,
		Result:    []byte(`{"status": "OutOfSync", "status_details": {"configuration_status": "OutOfSync", "cluster": {"status": "ok"}, "nodes": [{"name": "w-0", "group": "worker", "status": "absent"}]}}`),
		Actual: &store.Actual{
			ClusterConfiguration:  wanted.ClusterConfiguration,
			ProviderConfiguration: strings.ReplaceAll(wanted.ProviderConfiguration, "replicas: 2", "replicas: 9") + "adminPassword: tr0ub4dor\n",
		},
	})
	page := b.get(paths.Cluster(id))
	require.Contains(t, page.Find(".drift").Text(), "Node w-0 of group worker is missing.")
	require.Contains(t, page.Find(".drift").Text(), "another one")
	require.Equal(t, "Pending changes", page.Find("main .chips .chip").First().Text())
	compared := b.get(paths.ClusterComparison(id, "actual", "desired"))
	require.Contains(t, compared.Find(".diff").Text(), "replicas: 9")
	require.NotContains(t, compared.text, "tr0ub4dor", "what is called like a secret is hidden")
	require.Contains(t, b.get(paths.ClusterComparison(id, "applied", "actual")).Find(".diff").Text(), "replicas: 9", "any two of the three")
	task, err := s.Converge(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	s.end(task, fleet.Ending{Status: store.TaskSucceeded})
	require.Zero(t, b.get(paths.Cluster(id)).Find(".drift").Length(), "it is undone")
}

func TestInManualModeAChangeWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)
	_, err := s.SetClusterSettings(t.Context(), fleet.System, cluster.ID, fleet.ClusterSettings{Mode: store.SyncManual, CheckEvery: 1})
	require.NoError(t, err)
	form := b.get(paths.ClusterConfiguration(id))
	got := b.post(paths.ClusterConfiguration(id), form.fill(t, clusterForm, parameter("workerCount"), "4", clusters.FieldAction, clusters.ActionInstall))
	require.Equal(t, paths.Cluster(id), got.Header.Get("Location"), got.text)
	page := b.get(paths.Cluster(id))
	require.Contains(t, page.Find(".drift").Text(), "Revision 2 is desired, revision 1 is applied.")
	next := page.Find(".notice[data-kind=next] form")
	require.Equal(t, paths.ClusterConvergence(id), next.AttrOr("action", ""))
	require.Contains(t, b.post(paths.ClusterConvergence(id), nil).Header.Get("Location"), "/tasks/")
	require.Equal(t, "Changing", b.get(paths.Cluster(id)).Find("main .chips .chip").First().Text())
}

// check runs a check of a cluster that ends well.
func (s *site) check(cluster store.Cluster, end fleet.Ending) {
	s.t.Helper()
	_, err := s.Store.Pool.Exec(s.t.Context(), "update clusters set checked_at = now() - interval '1 hour' where id = $1", cluster.ID)
	require.NoError(s.t, err)
	_, err = s.StartChecks(s.t.Context(), 100)
	require.NoError(s.t, err)
	active, err := s.Store.ActiveTasks(s.t.Context(), cluster.ID)
	require.NoError(s.t, err)
	end.Status = store.TaskSucceeded
	s.end(active[0], end)
}

// end claims a task as a worker would and ends it.
func (s *site) end(task store.Task, end fleet.Ending) {
	s.t.Helper()
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	_, err := s.Claim(s.t.Context(), d, "worker")
	require.NoError(s.t, err)
	require.NoError(s.t, s.Finish(s.t.Context(), d, end))
}
