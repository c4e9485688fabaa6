package fleet_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/internal/fault"
	"commander/store"
)

// TestAGroupIsKeptAsItsClusterChooses where the template leaves the choice, and nowhere else.
func TestAGroupIsKeptAsItsClusterChooses(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	body := bodyWith(plainOne)
	body.ResourceGroups = store.ResourceGroups{
		{Name: "free", Controlled: true, UserManaged: true, Template: "kind: A\n"}, {Name: "fixed", Controlled: true, Template: "kind: B\n"},
	}
	closed := body
	closed.ResourceGroups = store.ResourceGroups{{Name: "free", Controlled: true, Template: "kind: A\n"}}
	v := familyOf(t, b, "team", body, closed)
	cluster, other := on(t, b, v[0], "first", nil), on(t, b, v[0], "second", nil)
	told := func(c store.Cluster) map[string]bool {
		t.Helper()
		config, err := b.AgentConfiguration(t.Context(), c.ID)
		require.NoError(t, err)
		out := map[string]bool{}
		for _, g := range config.Groups[1:] { // after Commander's own
			out[g.Name] = g.Controlled
		}
		return out
	}
	before, err := b.AgentConfiguration(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"free": true, "fixed": true}, told(cluster))
	after, err := b.SetGroupControl(t.Context(), b.Admin, cluster.ID, "free", false)
	require.NoError(t, err)
	require.Equal(t, cluster.Revision, after.Revision, "nothing is rendered anew")
	require.Equal(t, map[string]bool{"free": false, "fixed": true}, told(cluster))
	require.Equal(t, map[string]bool{"free": true, "fixed": true}, told(other), "another cluster chooses for itself")
	now, err := b.AgentConfiguration(t.Context(), cluster.ID)
	require.NoError(t, err)
	require.NotEqual(t, before.ETag, now.ETag, "the agent is told")
	var changes string
	require.NoError(t, b.Store.Pool.QueryRow(t.Context(), "select changes::text from audits where action = 'cluster.group_control.change'").Scan(&changes))
	require.JSONEq(t, `{"free": [true, false]}`, changes)

	_, err = b.SetGroupControl(t.Context(), b.Admin, cluster.ID, "fixed", false)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	_, err = b.SetGroupControl(t.Context(), b.Admin, cluster.ID, "nothing", false)
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	_, err = b.SetGroupControl(t.Context(), b.Viewer, cluster.ID, "free", true)
	require.True(t, fault.Is(err, fault.Forbidden), "%v", err)

	// A version that does not leave the choice any more overrules it.
	_, _, err = b.UpgradeCluster(t.Context(), b.Admin, cluster.ID, fleet.UpgradeChoice{Revision: cluster.Revision, VersionID: v[1].ID})
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"free": true}, told(cluster))
}
