package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// TestWhatPeopleDecidedStaysOnThePage follows what people do with lost tasks: who did it and when is
// told by the task's page.
func TestWhatPeopleDecidedStaysOnThePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann, bob := s.as("ann", store.RoleFull), s.as("bob", store.RoleFull)
	history := func(task store.Task) string {
		t.Helper()
		found := ann.get(paths.Task(task.ID.String())).Find("#task-" + task.ID.String() + "-history")
		require.Equal(t, 1, found.Length())
		if _, hidden := found.Attr("hidden"); hidden {
			return ""
		}
		require.Equal(t, found.Find("dt").Length(), found.Find("dt time[datetime]").Length(), "each has its time")
		return strings.Join(strings.Fields(found.Find(".body").Text()), " ")
	}
	lose := func(task store.Task) {
		t.Helper()
		_, err := s.Store.Pool.Exec(t.Context(), "update tasks set heartbeat_at = now() - interval '1 hour' where id = $1", task.ID)
		require.NoError(t, err)
		marked, err := s.MarkLost(t.Context(), task.ID)
		require.NoError(t, err)
		require.True(t, marked)
	}
	task, _ := s.running("prod")
	id := task.ID.String()
	require.Empty(t, history(task), "nobody has decided anything")
	lose(task)
	require.Equal(t, http.StatusSeeOther, bob.post(paths.TaskRetry(id), nil).StatusCode)
	require.Regexp(t, `Tried again: attempt 2 bob`, history(task))
	again, err := s.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: 2}, "worker")
	require.NoError(t, err)
	require.Equal(t, http.StatusSeeOther, ann.post(paths.TaskStop(id), nil).StatusCode)
	lose(again.Task)
	require.Equal(t, http.StatusSeeOther, ann.post(paths.TaskGiveUp(id), nil).StatusCode)
	require.Regexp(t, `Closed as failed ann.*Asked to stop ann.*Tried again: attempt 2 bob`, history(task))

	archived, _ := s.running("archived")
	lose(archived)
	require.Equal(t, http.StatusSeeOther, bob.post(paths.ClusterArchive(archived.ClusterID.String()), map[string][]string{"archived_name": {"archived"}}).StatusCode)
	require.Regexp(t, `Given up: the cluster was archived without clean-up bob`, history(archived))

	deleted, _ := s.running("deleted")
	lose(deleted)
	require.Equal(t, http.StatusSeeOther, bob.post(paths.ClusterDeletion(deleted.ClusterID.String()), map[string][]string{"name": {"deleted"}}).StatusCode)
	require.Regexp(t, `Given up: the cluster is deleted bob`, history(deleted))
}

// TestWhatATokenDoesNamesWhoMadeIt lets a program retry and change: its pages and the API tell the token
// and the person who made it, and the audit the token alone.
func TestWhatATokenDoesNamesWhoMadeIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ann := s.as("ann", store.RoleFull)
	page := ann.post(paths.Tokens("demo"), map[string][]string{"name": {"ci"}, "role": {"full"}})
	program, _, err := s.TokenActor(t.Context(), page.Find(".notice [data-copy]").AttrOr("data-copy", ""))
	require.NoError(t, err)
	const signature = "ci (ann)"

	cluster := s.installed("prod")
	task, err := s.Converge(t.Context(), program, cluster.ID)
	require.NoError(t, err)
	require.Equal(t, signature, task.CreatedBy)
	require.Equal(t, signature, ann.get(paths.Task(task.ID.String())).Find("aside dl").First().Find("dd").Eq(1).Text())
	_, err = s.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: 1}, "worker")
	require.NoError(t, err)
	_, err = s.StopTask(t.Context(), program, task.ID)
	require.NoError(t, err)
	require.Contains(t, ann.get(paths.Task(task.ID.String())).Find("#task-"+task.ID.String()+"-history").Text(), signature)
	require.Equal(t, 1, ann.get(paths.Asked(paths.ClusterTasks(cluster.ID.String()), paths.Query{Text: "ann"})).Find("#list tbody tr").Length(), "a person's list has what their programs did")

	made, _, err := s.CreateCluster(t.Context(), program, fleet.NewCluster{WorkspaceID: s.workspace.ID, Name: "made", TemplateVersionID: *s.template.ClusterTemplate.CurrentVersionID})
	require.NoError(t, err)
	require.Contains(t, ann.get(paths.ClusterHistory(made.ID.String())).Find("#list tbody").Text(), signature)
	var audited string
	require.NoError(t, s.Store.Pool.QueryRow(t.Context(), "select actor_name from audits where object_id = $1 and action = 'cluster.create'", made.ID).Scan(&audited))
	require.Equal(t, "ci", audited)
}
