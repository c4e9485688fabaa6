package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/store/storetest"
)

// fillClusters writes clusters of a workspace that differ in all that the list looks at, every
// tenth of them archived.
func fillClusters(t *testing.T, s *store.Store, n int) uuid.UUID {
	t.Helper()
	var workspace uuid.UUID
	require.NoError(t, s.Pool.QueryRow(t.Context(), "insert into workspaces (slug, name) values ('full', 'Full') returning id").Scan(&workspace))
	_, err := s.Pool.Exec(t.Context(), `
		insert into clusters (workspace_id, name, status, ssh_public_key, ssh_private_key, ssh_private_key_key, created_at, archived_at,
		    archive_number, labels, kubernetes_version, node_count)
		select $1, (array['pay', 'search', 'edge', 'ml'])[1 + i % 4] || '-' || (array['prod', 'stage', 'test'])[1 + i % 3] || '-' || i,
		       (array['in_sync', 'in_sync', 'in_sync', 'in_sync', 'in_sync', 'in_sync', 'updating', 'new', 'synchronization_failure', 'pending_changes'])[1 + i % 10],
		       repeat('k', 100), decode(repeat('2a', 460), 'hex'), 'test', now() - i * interval '1 minute', case when i % 10 = 3 then now() - i * interval '1 second' end,
		       case when i % 10 = 3 then 1 end,
		       jsonb_build_object('env', (array['prod', 'stage', 'test'])[1 + i % 3], 'cell', (i % 500)::text),
		       'v1.' || (25 + i % 13) || '.' || i % 7, i % 40
		from generate_series(1, $2::integer) i`, workspace, n)
	require.NoError(t, err)
	// What was written just now may be too young for the first vacuum to know that all may see it.
	require.Eventually(t, func() bool {
		var seen bool
		_, err := s.Pool.Exec(t.Context(), "vacuum analyze clusters")
		if err == nil {
			err = s.Pool.QueryRow(t.Context(), "select relallvisible = relpages from pg_class where oid = 'clusters'::regclass").Scan(&seen)
		}
		return err == nil && seen
	}, time.Minute, 10*time.Millisecond)
	return workspace
}

var listOrders = []string{"name", "status", "version", "nodes", "created"}

// filters are each single filter of the list and all of them together.
func filters(workspace uuid.UUID) map[string]store.ClusterQuery {
	q := store.ClusterQuery{WorkspaceID: workspace, Sort: "name", Limit: 50}
	with := func(change func(*store.ClusterQuery)) store.ClusterQuery {
		changed := q
		change(&changed)
		return changed
	}
	return map[string]store.ClusterQuery{
		"none":   q,
		"status": with(func(q *store.ClusterQuery) { q.Statuses = []store.ClusterStatus{store.ClusterUpdating} }),
		"statuses": with(func(q *store.ClusterQuery) {
			q.Statuses = []store.ClusterStatus{store.ClusterPendingChanges, store.ClusterSynchronizationFailure}
		}),
		"rare label": with(func(q *store.ClusterQuery) { q.Labels = store.Labels{"cell": "77"} }),
		"label":      with(func(q *store.ClusterQuery) { q.Labels = store.Labels{"env": "prod"} }),
		"text":       with(func(q *store.ClusterQuery) { q.Words = []string{"search-prod"} }),
		"rare text":  with(func(q *store.ClusterQuery) { q.Words = []string{"-4242"} }),
		"short text": with(func(q *store.ClusterQuery) { q.Words = []string{"ml"} }),
		"version":    with(func(q *store.ClusterQuery) { q.Words = []string{"1.27"} }),
		"everything": with(func(q *store.ClusterQuery) {
			q.Words, q.Labels, q.Statuses = []string{"search", "1.27"}, store.Labels{"env": "stage"}, []store.ClusterStatus{store.ClusterInSync}
		}),
		"no text can leave its place": with(func(q *store.ClusterQuery) { q.Words = []string{"%", "_pro", `\`, "' or true --"} }),
	}
}

func TestTheListFindsAndOrdersWhatItSays(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	workspace := fillClusters(t, s, 600)
	other, err := s.InsertWorkspace(t.Context(), store.InsertWorkspaceParams{Slug: "other", Name: "Other"})
	require.NoError(t, err)
	_, err = s.Pool.Exec(t.Context(), `insert into clusters (workspace_id, name, status, ssh_public_key, ssh_private_key, ssh_private_key_key)
		values ($1, 'pay-prod-0', 'in_sync', '', '', 'test')`, other.ID)
	require.NoError(t, err)
	all := map[string]store.Cluster{}
	rows, err := s.Pool.Query(t.Context(), "select id from clusters where workspace_id = $1", workspace)
	require.NoError(t, err)
	defer rows.Close()
	var ids []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	for _, id := range ids {
		c, err := s.Cluster(t.Context(), id)
		require.NoError(t, err)
		all[c.Name] = c
	}
	urgency := func(c store.Cluster) int {
		return slices.Index([]store.ClusterStatus{store.ClusterSynchronizationFailure, store.ClusterPendingChanges, store.ClusterUpdating, store.ClusterNew, store.ClusterInSync}, c.Status)
	}
	version := func(c store.Cluster) (major, minor, patch int) {
		_, err := fmt.Sscanf(c.KubernetesVersion, "v%d.%d.%d", &major, &minor, &patch)
		require.NoError(t, err)
		return major, minor, patch
	}
	compare := map[string]func(a, b store.Cluster) int{
		"name":   func(a, b store.Cluster) int { return cmp.Compare(a.Name, b.Name) },
		"status": func(a, b store.Cluster) int { return cmp.Compare(urgency(a), urgency(b)) },
		"nodes":  func(a, b store.Cluster) int { return cmp.Compare(a.NodeCount, b.NodeCount) },
		"version": func(a, b store.Cluster) int {
			a1, a2, a3 := version(a)
			b1, b2, b3 := version(b)
			return cmp.Or(cmp.Compare(a1, b1), cmp.Compare(a2, b2), cmp.Compare(a3, b3))
		},
		"created":  func(a, b store.Cluster) int { return a.CreatedAt.Compare(b.CreatedAt) },
		"archived": func(a, b store.Cluster) int { return a.ArchivedAt.Compare(*b.ArchivedAt) },
	}
	for name, q := range filters(workspace) {
		for _, archived := range []bool{false, true} {
			q.Archived = archived
			var fit []store.Cluster
			for _, c := range all {
				labels := true
				for k, v := range q.Labels {
					labels = labels && c.Labels[k] == v
				}
				text := true
				for _, w := range q.Words {
					text = text && strings.Contains(c.Name+" "+c.KubernetesVersion, w)
				}
				if labels && text && (c.ArchivedAt != nil) == archived && (q.Statuses == nil || slices.Contains(q.Statuses, c.Status)) {
					fit = append(fit, c)
				}
			}
			for _, sort := range slices.Sorted(maps.Keys(compare)) {
				if sort == "archived" && !archived {
					continue
				}
				for _, direction := range []string{"", "-"} {
					q.Sort, q.Limit = direction+sort, 211
					slices.SortFunc(fit, func(a, b store.Cluster) int {
						order := cmp.Or(compare[sort](a, b), cmp.Compare(a.Name, b.Name))
						if direction == "-" {
							return -order
						}
						return order
					})
					var got []string
					for q.Start = 0; q.Start <= len(fit); q.Start += q.Limit {
						page, err := s.ClusterPage(t.Context(), q)
						require.NoError(t, err)
						for _, line := range page {
							got = append(got, line.Name)
						}
					}
					var want []string
					for _, c := range fit {
						want = append(want, c.Name)
					}
					require.Equal(t, want, got, "%s by %s, archived %v", name, q.Sort, archived)
				}
			}
			counts, err := s.CountEach(t.Context(), []store.ClusterQuery{q, q})
			require.NoError(t, err)
			require.Equal(t, []int64{int64(len(fit)), int64(len(fit))}, counts, name)
		}
	}
	page, err := s.ClusterPage(t.Context(), store.ClusterQuery{WorkspaceID: workspace, Sort: "no such order", Limit: 1})
	require.NoError(t, err)
	require.Equal(t, "edge-prod-102", page[0].Name, "an order that is not known is that by name")
}
