package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/paths"
)

// TestBothStatusesOfAClusterAreShownApart puts a cluster into each state, with an agent that says
// something else.
func TestBothStatusesOfAClusterAreShownApart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("rita", store.RoleReadOnly)
	chips := func() []string {
		return b.get(paths.Cluster(id)).Find("main .chips .chip").Map(func(_ int, n *goquery.Selection) string { return strings.TrimSpace(n.Text()) })
	}
	require.Equal(t, []string{"Ready", "No data"}, chips(), "the agent has not spoken yet")
	wanted, err := s.AgentConfiguration(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.NoError(t, s.TakeReport(t.Context(), cluster.ID, fleet.AgentReport{AppliedETag: wanted.ETag}))
	require.Equal(t, []string{"Ready", "Configured"}, chips())
	require.NoError(t, s.TakeReport(t.Context(), cluster.ID, fleet.AgentReport{
		AppliedETag: wanted.ETag, Failed: true, Objects: store.AgentObjects{{Name: "x", State: "failed", Error: "no"}},
	}))
	for status, word := range map[store.ClusterStatus]string{
		store.ClusterNew: "New", store.ClusterConfigurationError: "Configuration error", store.ClusterCreating: "Creating",
		store.ClusterInSync: "Ready", store.ClusterUpdating: "Changing", store.ClusterSynchronizationFailure: "Change error",
		store.ClusterCreationFailed: "Creation error", store.ClusterDeletionFailed: "Deletion error", store.ClusterReadyToJoin: "Ready to join",
		store.ClusterPendingChanges: "Pending changes", store.ClusterDestructiveChanges: "Destructive changes",
		store.ClusterPendingDeletion: "Pending deletion", store.ClusterUnknown: "Unknown", store.ClusterDelete: "Deleting",
	} {
		_, err := s.Store.Pool.Exec(t.Context(), "update clusters set status = $2 where id = $1", cluster.ID, status)
		require.NoError(t, err)
		require.Equal(t, []string{word, "Not configured"}, chips(), "one status does not change the other")
		require.Equal(t, word, strings.TrimSpace(b.get(paths.Clusters("demo")).Find("main tbody .chip").First().Text()))
	}
	_, err = s.Store.Pool.Exec(t.Context(), "update agent_reports set reported_at = now() - interval '1 hour'")
	require.NoError(t, err)
	require.Equal(t, "No data", chips()[1], "what it said last is outdated")
	_, err = s.Store.Pool.Exec(t.Context(), "update clusters set status = 'in_sync' where id = $1", cluster.ID)
	require.NoError(t, err)
	_, err = s.ArchiveCluster(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	require.Contains(t, b.get(paths.Cluster(id)).Find("main").Text(), "Archived")
}

// TestAClusterThatGoesKeepsItsOverview looks at a cluster while it is deleted and after that failed.
func TestAClusterThatGoesKeepsItsOverview(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	id := cluster.ID.String()
	b := s.as("ann", store.RoleFull)
	task := s.tasked(b.post(paths.ClusterDeletion(id), b.get(paths.ClusterDeletion(id)).fill(t, "main form[action='"+paths.ClusterDeletion(id)+"']", clusters.FieldTyped, "prod")))
	overview := func() answer {
		t.Helper()
		page := b.get(paths.Cluster(id))
		require.Equal(t, http.StatusOK, page.StatusCode)
		require.Equal(t, paths.Cluster(id), page.Find("main nav a[aria-current]").AttrOr("href", ""))
		return page
	}
	require.Contains(t, overview().Find("main .chips").Text(), "Deleting")
	require.NotZero(t, overview().Find(`main a[href="`+paths.Task(task.ID.String())+`"]`).Length(), "its progress is one click away")
	s.end(task, fleet.Ending{Status: store.TaskFailed, Error: "no way"})
	require.Contains(t, overview().Find("main .chips").Text(), "Deletion error")
	form := b.get(paths.ClusterConfiguration(id))
	require.Equal(t, http.StatusOK, form.StatusCode)
	require.NotZero(t, form.Find("[name='"+parameter("workerCount")+"']").Length(), "what was declared can still be read")
	require.Equal(t, http.StatusSeeOther, b.post(paths.TaskRetry(task.ID.String()), nil).StatusCode)
}

// TestAFailedInstallationSaysWhy reads its log and state afterwards.
func TestAFailedInstallationSaysWhy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	task, d := s.running("prod")
	require.NoError(t, s.AppendLog(t.Context(), d, 1, []string{"asking for machines", "error: there are none"}))
	require.NoError(t, s.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "no machines left"}))
	b := s.as("rita", store.RoleReadOnly)
	require.Equal(t, "Creation error", strings.TrimSpace(b.get(paths.Cluster(task.ClusterID.String())).Find("main .chips .chip").First().Text()))
	require.Contains(t, b.get(paths.Task(task.ID.String())).Find("main").Text(), "error: there are none")
	require.Contains(t, b.get(paths.TaskLog(task.ID.String())).text, "asking for machines")
}

// TestAnApprovedChangeThatFailsIsTriedAgain needs no second approval of the same set.
func TestAnApprovedChangeThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	task, err := s.Converge(t.Context(), fleet.System, cluster.ID)
	require.NoError(t, err)
	s.end(task, fleet.Ending{Status: store.TaskWaitingApproval, ChangeID: "set one", Result: []byte(`{}`)})
	approved, err := s.Approve(t.Context(), fleet.System, task.ID, "set one")
	require.NoError(t, err)
	s.end(approved, fleet.Ending{Status: store.TaskFailed, Error: "no machines left"})
	b := s.as("ann", store.RoleFull)
	id := task.ID.String()
	require.Equal(t, paths.TaskRetry(id), b.get(paths.Task(id)).Find("main .actions form").AttrOr("action", ""))
	require.Equal(t, http.StatusSeeOther, b.post(paths.TaskRetry(id), nil).StatusCode)
	row, err := s.Store.Task(t.Context(), task.ID)
	require.NoError(t, err)
	work, err := s.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: row.Task.Attempt}, "worker")
	require.NoError(t, err)
	require.Equal(t, "set one", work.Task.ChangeID)
}

// TestArchivesBeginWithTheNewest archives things out of the order of their names.
func TestArchivesBeginWithTheNewest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.as("rita", store.RoleReadOnly)
	for i, name := range []string{"beta", "alpha", "gamma"} {
		cluster := s.cluster(name, nil)
		_, err := s.ArchiveCluster(t.Context(), fleet.System, cluster.ID)
		require.NoError(t, err)
		template, err := s.CreateTemplate(t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: name, Body: teamBody()})
		require.NoError(t, err)
		_, err = s.ArchiveTemplate(t.Context(), fleet.System, template.ID)
		require.NoError(t, err)
		catalog, err := s.CreateCatalog(t.Context(), fleet.System, s.workspace.ID, fleet.NewCatalog{Name: name, Slug: name, Params: []byte(`[{"key": "name", "type": "string", "title": "Name"}]`)})
		require.NoError(t, err)
		_, err = s.ArchiveCatalog(t.Context(), fleet.System, catalog.ID)
		require.NoError(t, err)
		for _, table := range []string{"clusters", "cluster_templates", "catalogs"} {
			_, err := s.Store.Pool.Exec(t.Context(), "update "+table+" set archived_at = now() - $2 * interval '1 hour' where name = $1", name, 3-i)
			require.NoError(t, err)
		}
	}
	for at, cell := range map[string]string{
		paths.Archive("demo"): "main tbody a.name", paths.TemplateList("demo", paths.Query{Status: "archived"}): "main tbody th a",
		paths.Catalogs("demo"): "main tbody th a",
	} {
		names := b.get(at).Find(cell).Map(func(_ int, n *goquery.Selection) string { return strings.TrimSpace(n.Text()) })
		require.Equal(t, []string{"gamma", "alpha", "beta"}, names, at)
	}
}

// TestWhatIsNotFilledInIsSavedAndMarked saves a form whose required field is empty.
func TestWhatIsNotFilledInIsSavedAndMarked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := teamBody()
	body.ParamsText += "- {key: owner, title: Owner, type: string}\n"
	template, err := s.CreateTemplate(t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "asking", Body: body})
	require.NoError(t, err)
	b := s.as("ann", store.RoleFull)
	form := b.get(paths.NewCluster("demo", template.ID.String()))
	saved := b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", "prod", clusters.FieldAction, clusters.ActionSave))
	require.Equal(t, http.StatusSeeOther, saved.StatusCode, saved.text)
	at := saved.Header.Get("Location")
	require.Contains(t, b.get(at).Find("main .chips").Text(), "Configuration error")
	marked := b.get(at + "/configuration")
	owner := marked.Find("[name='" + parameter("owner") + "']")
	require.Equal(t, "true", owner.AttrOr("aria-invalid", ""))
	require.NotEmpty(t, marked.Find("[id='f-"+parameter("owner")+"-problem']").Text())
	found, err := s.Tasks(t.Context(), fleet.System, s.workspace.ID, fleet.TaskFilter{Limit: 10})
	require.NoError(t, err)
	require.Empty(t, found.Rows, "nothing is installed")
}

// TestAClusterIsMadeFromAnyAvailableVersion follows the button of each version's page.
func TestAClusterIsMadeFromAnyAvailableVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	template := s.team() // three versions, the second is withdrawn
	_, versions, err := s.Fleet.Template(t.Context(), fleet.System, template.ID)
	require.NoError(t, err)
	b := s.as("ann", store.RoleFull)
	for _, v := range versions {
		at := paths.NewClusterFrom("demo", template.ID.String(), v.Number)
		offered := b.get(paths.TemplateVersion("demo", template.ID.String(), v.Number)).Find(`main .head a[href="` + at + `"]`).Length()
		form := b.get(at)
		if !v.Available {
			require.Zero(t, offered)
			require.Equal(t, http.StatusConflict, form.StatusCode)
			continue
		}
		require.Equal(t, 1, offered)
		name := "test-" + string(rune('a'+v.Number))
		made := b.post(paths.Clusters("demo"), form.fill(t, clusterForm, "name", name, clusters.FieldAction, clusters.ActionSave))
		require.Equal(t, http.StatusSeeOther, made.StatusCode, made.text)
		var version string
		require.NoError(t, s.Store.Pool.QueryRow(t.Context(), "select template_version_id::text from clusters where name = $1", name).Scan(&version))
		require.Equal(t, v.ID.String(), version)
	}
	reader := s.as("rita", store.RoleReadOnly)
	require.Zero(t, reader.get(paths.TemplateVersion("demo", template.ID.String(), 3)).Find(`main .head a[href*="/new"]`).Length())
	require.Equal(t, http.StatusNotFound, b.get(paths.NewClusterFrom("demo", template.ID.String(), 9)).StatusCode)
}

// TestAGroupIsSwitchedOnItsClustersPage reads and presses what the tab Kubernetes offers.
func TestAGroupIsSwitchedOnItsClustersPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	body := teamBody()
	body.ResourceGroups = store.ResourceGroups{{Name: "free", Controlled: true, UserManaged: true, Template: "kind: A\n"}, {Name: "fixed", Template: "kind: B\n"}}
	template, err := s.CreateTemplate(t.Context(), fleet.System, fleet.NewTemplate{WorkspaceID: s.workspace.ID, Name: "groups", Body: body})
	require.NoError(t, err)
	cluster, _, err := s.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{WorkspaceID: s.workspace.ID, Name: "prod", TemplateVersionID: *template.CurrentVersionID})
	require.NoError(t, err)
	at := paths.ClusterKubernetes(cluster.ID.String())
	b := s.as("ann", store.RoleFull)
	rows := func(b *browser) []string {
		return b.get(at).Find("[data-kind=groups] tbody tr").Map(func(_ int, n *goquery.Selection) string {
			cells := n.Find("th, td").Map(func(_ int, cell *goquery.Selection) string { return strings.Join(strings.Fields(cell.Text()), " ") })
			return strings.Join(cells, " ")
		})
	}
	require.Equal(t, []string{"free kept as declared Leave alone", "fixed made once, then left alone set by the template"}, rows(b))
	require.Equal(t, "free kept as declared set by the template", rows(s.as("rita", store.RoleReadOnly))[0])
	form := b.get(at).fill(t, "[data-kind=groups] form", clusters.FieldControlled, "false")
	require.Equal(t, at, b.post(paths.ClusterGroups(cluster.ID.String()), form).Header.Get("Location"))
	require.Equal(t, "free made once, then left alone other than in the template Keep as declared", rows(b)[0])
	form.Set(clusters.FieldGroup, "fixed")
	require.Equal(t, http.StatusConflict, b.post(paths.ClusterGroups(cluster.ID.String()), form).StatusCode)
	form.Set(clusters.FieldControlled, "perhaps")
	require.Equal(t, http.StatusUnprocessableEntity, b.post(paths.ClusterGroups(cluster.ID.String()), form).StatusCode)
}
