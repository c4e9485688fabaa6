package fleet

import (
	"context"
	"time"

	"github.com/google/uuid"

	"commander/store"
)

// ClusterFilter chooses and orders lines of the list of clusters.
type ClusterFilter struct {
	Archived bool
	// Search are words, each of which must be in the name or version of a cluster.
	Search   string
	Statuses []store.ClusterStatus
	// Labels are those that a cluster must have, all of them.
	Labels store.Labels
	// Sort is a column of name, status (the urgent ones first), nodes, version, created or archived,
	// with a minus for descending order; empty sorts by name, and archives by the time of archiving.
	Sort         string
	Limit, Start int
}

func (c ClusterFilter) query(workspaceID uuid.UUID) store.ClusterQuery {
	q := store.ClusterQuery{
		WorkspaceID: workspaceID, Archived: c.Archived, Words: searchWords(c.Search), Statuses: c.Statuses, Labels: c.Labels,
		Sort: c.Sort, Limit: c.Limit, Start: c.Start,
	}
	if q.Sort == "" {
		q.Sort = "name"
		if q.Archived {
			q.Sort = "-archived"
		}
	}
	return q
}

// ClusterList is a page of the list.
type ClusterList struct {
	Lines  []store.ClusterLine
	Total  int64 // that the filter lets through
	Counts Counts
	// ArchivedBy names who archived each cluster of an archive's page.
	ArchivedBy map[uuid.UUID]string
}

// Clusters lists the clusters of a workspace.
func (f *Fleet) Clusters(ctx context.Context, actor Actor, workspaceID uuid.UUID, filter ClusterFilter) (ClusterList, error) {
	out := ClusterList{}
	var err error
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return out, err
	}
	if out.Counts, err = f.Counts(ctx, workspaceID); err != nil {
		return out, err
	}
	query := filter.query(workspaceID)
	if out.Lines, err = f.Store.ClusterPage(ctx, query); err != nil {
		return out, store.AsFault(err)
	}
	if out.Total, err = f.total(ctx, query, out); err != nil || !filter.Archived {
		return out, err
	}
	ids := make([]uuid.UUID, len(out.Lines))
	for i, line := range out.Lines {
		ids[i] = line.ID
	}
	out.ArchivedBy, err = f.archivers(ctx, ids...)
	return out, err
}

// total is how many clusters a query finds on all pages. Most lists know without asking: a page
// that is not full is the last, and statuses are counted anyway.
func (f *Fleet) total(ctx context.Context, query store.ClusterQuery, page ClusterList) (int64, error) {
	shown := len(page.Lines)
	if shown > 0 && shown < query.Limit {
		return int64(query.Start + shown), nil
	}
	if !query.Archived && len(query.Words) == 0 && len(query.Labels) == 0 {
		return page.Counts.Of(query.Statuses...), nil
	}
	counts, err := f.Store.CountEach(ctx, []store.ClusterQuery{query})
	if err != nil {
		return 0, store.AsFault(err)
	}
	return counts[0], nil
}

// CountClusters tells how many clusters of a workspace each filter lets through.
func (f *Fleet) CountClusters(ctx context.Context, actor Actor, workspaceID uuid.UUID, filters []ClusterFilter) ([]int64, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return nil, err
	}
	queries := make([]store.ClusterQuery, len(filters))
	for i, filter := range filters {
		queries[i] = filter.query(workspaceID)
	}
	counts, err := f.Store.CountEach(ctx, queries)
	return counts, store.AsFault(err)
}

// NewerClusters tells how many clusters of a workspace were created after a moment.
func (f *Fleet) NewerClusters(ctx context.Context, actor Actor, workspaceID uuid.UUID, since time.Time) (int64, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return 0, err
	}
	n, err := f.Store.CountNewerClusters(ctx, store.CountNewerClustersParams{WorkspaceID: workspaceID, Since: since})
	return n, store.AsFault(err)
}
