package web

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// running is a task at work on a new cluster, with its delivery.
func (s *site) running(name string) (store.Task, fleet.Delivery) {
	s.t.Helper()
	cluster := s.cluster(name, nil)
	task, err := s.InstallCluster(s.t.Context(), fleet.System, cluster.ID)
	require.NoError(s.t, err)
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	_, err = s.Claim(s.t.Context(), d, "worker")
	require.NoError(s.t, err)
	require.NoError(s.t, s.Advance(s.t.Context(), d, fleet.Progress{
		Fraction: .4, Current: "InstallKubernetes", Completed: "BaseInfra",
		Plan: []fleet.PlannedPhase{{Name: "BaseInfra"}, {Name: "InstallKubernetes", SubPhases: []string{"Pull"}}, {Name: "Finalization"}},
	}))
	return task, d
}

func TestTaskShowsWhereItIsAndWhatComesNext(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	task, d := s.running("prod")
	require.NoError(t, s.AppendLog(t.Context(), d, 1, []string{"making machines", "an error happened"}))
	b := s.as("ann", store.RoleFull)
	page := b.get(paths.Task(task.ID.String()))
	require.Equal(t, http.StatusOK, page.StatusCode)
	require.Equal(t, "done", page.Find(".steps > li").Eq(0).AttrOr("data-state", ""))
	require.Equal(t, "running", page.Find(".steps > li").Eq(1).AttrOr("data-state", ""))
	require.Contains(t, page.Find(".next").Text(), "Next: Finish.")
	require.Equal(t, 2, page.Find("[data-log] li").Length())
	require.Equal(t, 1, page.Find("[data-log] li[data-error]").Length())
	require.Equal(t, paths.TaskStop(task.ID.String()), page.Find("main .actions form").AttrOr("action", ""))
	live, _ := page.Find("[ws-connect]").Attr("ws-connect")
	require.Equal(t, paths.Live(1, paths.TopicTask(task.ID.String())), live, "live goes on after the chunk that is shown")
	require.Zero(t, s.as("rita", store.RoleReadOnly).get(paths.Task(task.ID.String())).Find("main .actions form").Length())
}

func TestStopFailAndRetry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	task, d := s.running("prod")
	id := task.ID.String()
	b := s.as("ann", store.RoleFull)
	require.Equal(t, paths.Task(id), b.post(paths.TaskStop(id), nil).Header.Get("Location"))
	require.Contains(t, b.get(paths.Task(id)).Find("main .head .chip").Text(), "Stopping")

	require.NoError(t, s.Finish(t.Context(), d, fleet.Ending{Status: store.TaskFailed, Error: "no quota for <b>disks</b>"}))
	page := b.get(paths.Task(id))
	require.Contains(t, page.Find("[role=alert] pre").Text(), "no quota for <b>disks</b>", "the engine's words are text")
	require.Zero(t, page.Find("[role=alert] pre b").Length())
	require.Equal(t, paths.TaskRetry(id), page.Find("main .actions form").AttrOr("action", ""))
	require.Equal(t, http.StatusSeeOther, b.post(paths.TaskRetry(id), nil).StatusCode)
	require.Contains(t, b.get(paths.Task(id)).Text(), "attempt 2")

	conflict := b.post(paths.TaskRetry(id), nil, "HX-Request", "true", "HX-Boosted", "true")
	require.Equal(t, http.StatusConflict, conflict.StatusCode)
	require.Equal(t, 1, conflict.Find("#problems[hx-swap-oob]").Length())
}

func TestApprovalIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	installation, first := s.running("prod")
	require.NoError(t, s.Finish(t.Context(), first, fleet.Ending{Status: store.TaskSucceeded}))
	task, err := s.Converge(t.Context(), fleet.System, installation.ClusterID)
	require.NoError(t, err)
	d := fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}
	_, err = s.Claim(t.Context(), d, "worker")
	require.NoError(t, err)
	id := task.ID.String()
	require.NoError(t, s.Finish(t.Context(), d, fleet.Ending{
		Status: store.TaskWaitingApproval, ChangeID: "change-1", Result: []byte(`{"check_result": {"status_details": {"cluster": {"status": "ok"}, "nodes": [
			{"name": "w-0", "group": "worker", "status": "ok"},
			{"name": "w-1", "group": "worker", "status": "destructively_changed"},
			{"name": "w-2", "group": "worker", "status": "abandoned"}]}}}`),
	}))
	b := s.as("ann", store.RoleFull)
	page := b.get(paths.Task(id))
	losses := page.Find("[role=alert] .consequences li")
	require.Equal(t, 2, losses.Length())
	require.Contains(t, losses.First().Text(), "w-1")
	require.Contains(t, losses.Last().Text(), "w-2")
	require.Equal(t, paths.TaskReview(id), page.Find("[role=alert] a.btn").AttrOr("href", ""))
	require.Equal(t, paths.TaskReview(id), b.get(paths.Cluster(task.ClusterID.String())).Find(".notice[data-kind=next] a").AttrOr("href", ""))

	review := b.get(paths.TaskReview(id))
	require.Equal(t, http.StatusOK, review.StatusCode, review.text)
	require.Contains(t, review.Find("main form h2").Text(), "1 machine will be replaced")
	require.Contains(t, review.Find("main form h2").Text(), "1 machine will be deleted")
	form := review.fill(t, "main form[method=post]")
	require.Equal(t, "change-1", form.Get("change"))
	untyped := b.post(paths.TaskApproval(id), form)
	require.Equal(t, http.StatusUnprocessableEntity, untyped.StatusCode, "the name has to be typed")
	require.Contains(t, untyped.Find("#f-name-problem").Text(), "not the name")
	another := b.post(paths.TaskApproval(id), url.Values{"change": {"change-0"}, "name": {"prod"}})
	require.Equal(t, http.StatusConflict, another.StatusCode)
	require.Contains(t, another.Find("[role=alert]").Text(), "changed")
	form.Set("name", "prod")
	require.Equal(t, http.StatusForbidden, s.as("rita", store.RoleReadOnly).post(paths.TaskApproval(id), form).StatusCode)
	require.Equal(t, http.StatusSeeOther, b.post(paths.TaskApproval(id), form).StatusCode)
	require.Equal(t, paths.Task(id), b.get(paths.TaskReview(id)).Header.Get("Location"), "nothing waits any more")
}

func TestLostTaskCanBeGivenUp(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.QuietLimit = 1 // silent from the first moment on
	task, _ := s.running("prod")
	marked, err := s.MarkLost(t.Context(), task.ID)
	require.NoError(t, err)
	require.True(t, marked)
	b := s.as("ann", store.RoleFull)
	page := b.get(paths.Task(task.ID.String()))
	require.Equal(t, "lost", page.Find(".steps > li").Eq(1).AttrOr("data-state", ""))
	require.Contains(t, page.Find(".next").Text(), "The installer went silent.")
	require.Equal(t, http.StatusSeeOther, b.post(paths.TaskGiveUp(task.ID.String()), nil).StatusCode)
	require.Contains(t, b.get(paths.Task(task.ID.String())).Text(), "The lost task was given up.")
}

func TestTaskListOfAWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.installed("prod")
	s.running("stage")
	b := s.as("rita", store.RoleReadOnly)
	require.Equal(t, 2, b.get(paths.Tasks("demo")).Find("main tbody tr").Length())
	for query, want := range map[paths.Query]string{
		{Status: "succeeded"}: "prod", {Status: "running"}: "stage", {Text: "STA"}: "stage",
	} {
		require.Equal(t, want, b.get(paths.TaskList("demo", query)).Find("main tbody a.sub").Text(), query)
	}
}

func TestATaskWithoutPhasesIsStarting(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	task, err := s.InstallCluster(t.Context(), fleet.System, s.cluster("prod", nil).ID)
	require.NoError(t, err)
	_, err = s.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}, "worker")
	require.NoError(t, err)
	page := s.as("ann", store.RoleFull).get(paths.Task(task.ID.String()))
	require.Contains(t, page.Text(), "The installer is starting")
	require.NotContains(t, page.Text(), "the last phase")
}
