package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// useRecords notes which records a cluster uses from now on, in the transaction that writes its
// configuration; what it used before and does not any more is free. The catalogs must be locked.
// It fails with Conflict when an exclusive record serves another cluster: the unique index decides,
// whatever was read before.
func useRecords(ctx context.Context, tx *store.Tx, clusterID uuid.UUID, taken []takenRecord) error {
	kept := make([]uuid.UUID, 0, len(taken))
	for _, t := range taken {
		kept = append(kept, t.ID)
	}
	if err := tx.FreeRecordsOf(ctx, store.FreeRecordsOfParams{ClusterID: clusterID, Kept: kept}); err != nil {
		return fmt.Errorf("free the records of cluster %s: %w", clusterID, err)
	}
	for _, t := range taken {
		err := tx.UseRecord(ctx, store.UseRecordParams{RecordID: t.ID, ClusterID: clusterID, Exclusive: t.exclusive, Revision: t.Revision})
		if store.Unique(err, "record_uses_exclusive") {
			return fault.New(fault.Conflict, "inventory.record.taken_now", t.Label)
		}
		if err != nil {
			return fmt.Errorf("take record %s for cluster %s: %w", t.ID, clusterID, err)
		}
	}
	return nil
}

// takenRecord is a record that a cluster is to use.
type takenRecord struct {
	store.Record
	exclusive bool
}

// RecordsOfCluster lists the records that a cluster uses, with their catalogs.
func (f *Fleet) RecordsOfCluster(ctx context.Context, actor Actor, id uuid.UUID) ([]store.RecordsOfClusterRow, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return nil, err
	}
	if err := Allowed(actor, InventoryView, cluster.WorkspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.RecordsOfCluster(ctx, id)
	return rows, store.AsFault(err)
}
