package fleet_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
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

// TestChecksLeaveOutWhomSomebodyHolds starts checks while another transaction is at one of the clusters.
func TestChecksLeaveOutWhomSomebodyHolds(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	held, free := b.Installed(t, "held", nil), b.Installed(t, "free", nil)
	_, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour'")
	require.NoError(t, err)
	checksOf := func(c store.Cluster) (checks []store.Task) {
		checks, err := b.Store.ActiveTasks(t.Context(), c.ID)
		require.NoError(t, err)
		return checks
	}
	require.NoError(t, b.Store.InTx(t.Context(), func(tx *store.Tx) error {
		_, err := tx.ClusterForUpdate(t.Context(), held.ID)
		require.NoError(t, err)
		started, err := b.StartChecks(t.Context(), 10)
		require.NoError(t, err)
		require.Equal(t, 1, started)
		return nil
	}))
	require.Empty(t, checksOf(held))
	checks := checksOf(free)
	require.Len(t, checks, 1)
	require.NotNil(t, checks[0].Delivery)

	// Whoever was found and got a task before the lock has no check beside it.
	written, err := b.Store.InsertChecks(t.Context(), store.InsertChecksParams{
		Ids: []uuid.UUID{uuid.New(), uuid.New()}, ClusterIds: []uuid.UUID{free.ID, held.ID}, Deliveries: []int64{1, 2},
		Priority: 2, CreatedBy: "Commander",
	})
	require.NoError(t, err)
	require.Len(t, written, 1)
	require.Equal(t, held.ID, written[0].ClusterID)
	b.Run(t, checks[0], store.TaskSucceeded)
}
