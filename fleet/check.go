package fleet

import (
	"context"

	"commander/internal/fault"
	"commander/store"
)

// StartChecks starts checks of clusters that are due, the longest waiting first, and reports how many.
func (f *Fleet) StartChecks(ctx context.Context, batch int) (int, error) {
	ids, err := f.Store.ClustersDueForCheck(ctx, batch)
	if err != nil {
		return 0, store.AsFault(err)
	}
	started := 0
	for _, id := range ids {
		_, err := f.startOn(ctx, System, id, store.TaskCheck, func(c store.Cluster) bool { return c.WasCreated })
		switch {
		case err == nil:
			started++
		case !fault.Is(err, fault.Conflict): // a conflict is somebody who was faster
			return started, err
		}
	}
	return started, nil
}

// afterCheck notes that a cluster was looked at. A difference starts the change that ends it, or
// waits for a person in manual mode; the check before this one is forgotten.
func (f *Fleet) afterCheck(ctx context.Context, tx *store.Tx, task store.Task, cluster *store.Cluster, outOfSync bool) error {
	if err := tx.SetClusterChecked(ctx, cluster.ID); err != nil {
		return err
	}
	if err := tx.DeleteOlderChecks(ctx, store.DeleteOlderChecksParams{ClusterID: cluster.ID, ID: task.ID}); err != nil {
		return err
	}
	switch {
	case cluster.Status == store.ClusterDelete:
		return nil // the deletion waits for this check to end
	case task.Status != store.TaskSucceeded:
		return f.move(ctx, tx, cluster, store.ClusterUnknown)
	case !outOfSync:
		return f.move(ctx, tx, cluster, store.ClusterInSync)
	case cluster.SyncMode == store.SyncManual:
		return f.move(ctx, tx, cluster, store.ClusterPendingChanges)
	}
	_, err := f.start(ctx, tx, System, cluster, store.TaskConverge, "")
	return err
}
