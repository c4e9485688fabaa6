package fleet

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"commander/store"
)

// Counts are the numbers of a workspace that stand on each of its pages.
type Counts struct {
	Statuses map[store.ClusterStatus]int64 // of the clusters outside of the archive
	Archived int64                         // clusters
	Busy     int64                         // tasks that wait or run
}

// Of is how many clusters outside of the archive are in one of some statuses; none means all.
func (c Counts) Of(statuses ...store.ClusterStatus) int64 {
	var sum int64
	for status, clusters := range c.Statuses {
		if len(statuses) == 0 || slices.Contains(statuses, status) {
			sum += clusters
		}
	}
	return sum
}

// Counts counts what is in a workspace.
func (f *Fleet) Counts(ctx context.Context, workspaceID uuid.UUID) (Counts, error) {
	rows, err := f.Store.WorkspaceCounts(ctx, workspaceID)
	counts := Counts{Statuses: make(map[store.ClusterStatus]int64, len(rows))}
	for _, row := range rows {
		switch row.Thing {
		case "cluster":
			counts.Statuses[row.Status] = row.Number
		case "archived":
			counts.Archived = row.Number
		case "task":
			counts.Busy += row.Number
		}
	}
	return counts, store.AsFault(err)
}
