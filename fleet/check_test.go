package fleet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// TestChecksKeepTheIntervalInEveryState lets time pass for clusters of each state that is checked.
func TestChecksKeepTheIntervalInEveryState(t *testing.T) {
	t.Parallel()
	for _, status := range []store.ClusterStatus{store.ClusterInSync, store.ClusterUnknown, store.ClusterSynchronizationFailure} {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			b := fleettest.New(t)
			seldom, often := b.Installed(t, "seldom", nil), b.Installed(t, "often", nil)
			_, err := b.SetClusterSettings(t.Context(), b.Admin, seldom.ID, fleet.ClusterSettings{Mode: store.SyncAuto, CheckEvery: 7})
			require.NoError(t, err)
			checked := func(ago time.Duration) []string {
				_, err := b.Store.Pool.Exec(t.Context(), "update clusters set status = $1, checked_at = now() - $2::interval", status, ago)
				require.NoError(t, err)
				_, err = b.StartChecks(t.Context(), 10)
				require.NoError(t, err)
				var names []string
				for _, c := range []store.Cluster{seldom, often} {
					active, err := b.Store.ActiveTasks(t.Context(), c.ID)
					require.NoError(t, err)
					for _, task := range active {
						require.Equal(t, store.TaskCheck, task.Kind)
						names = append(names, c.Name)
						b.Run(t, task, store.TaskSucceeded)
					}
				}
				return names
			}
			require.Empty(t, checked(30*time.Second))
			require.Equal(t, []string{"often"}, checked(6*time.Minute))
			require.Equal(t, []string{"seldom", "often"}, checked(8*time.Minute))
		})
	}
}
