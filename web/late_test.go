package web

import (
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// TestLateChecksAreSeen lets checks slip: the pages of the tasks and of the cluster say so and by how
// much, until the check was made.
func TestLateChecksAreSeen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	cluster := s.installed("prod")
	s.installed("spare")
	b := s.as("rita", store.RoleReadOnly)
	tasks, page := paths.Tasks("demo"), paths.Cluster(cluster.ID.String())
	require.Zero(t, b.get(tasks).Find("main .notice").Length(), "nothing is late")
	require.NotContains(t, b.get(page).Find("aside").Text(), "due since")

	_, err := s.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '31 minutes' where id = $1", cluster.ID)
	require.NoError(t, err)
	require.Contains(t, b.get(tasks).Find("main .notice").Text(), "The check of 1 cluster is late: it has been due for 30")
	require.Contains(t, b.get(page).Find("aside").Text(), "due since 30")

	n, err := s.StartChecks(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, 1, b.get(tasks).Find("main .notice").Length(), "a check that waits for a manager is late as well")
	active, err := s.Store.ActiveTasks(t.Context(), cluster.ID)
	require.NoError(t, err)
	s.end(active[0], fleet.Ending{Status: store.TaskSucceeded})
	require.Zero(t, b.get(tasks).Find("main .notice").Length())

	_, err = s.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour', status = 'updating' where id = $1", cluster.ID)
	require.NoError(t, err)
	require.Zero(t, b.get(tasks).Find("main .notice").Length(), "what is changed just now is looked at afterwards")
}
