package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"commander/store"
)

// RerenderArgs ask for new configurations of the clusters that use a record that was changed.
type RerenderArgs struct {
	RecordID uuid.UUID `json:"record_id"`
}

// Kind names the job in River.
func (RerenderArgs) Kind() string { return "record.rerender" }

// rerenderLater asks for new configurations, in the transaction that changed the record.
func (f *Fleet) rerenderLater(ctx context.Context, tx *store.Tx, recordID uuid.UUID) error {
	users, err := tx.StaleRecordUsers(ctx, recordID)
	if err != nil || len(users) == 0 {
		return err
	}
	_, err = f.Queue.InsertTx(ctx, tx.Tx, RerenderArgs{recordID}, &river.InsertOpts{Queue: river.QueueDefault})
	if err != nil {
		return fmt.Errorf("ask for new configurations: %w", err)
	}
	return nil
}

// ErrBusy says that something runs on a cluster, which must end first.
var ErrBusy = errors.New("a task runs on a cluster")

// Rerender gives the clusters that use a record a new wanted configuration with what the record
// holds now. Nothing is applied: an installed cluster has pending changes, which a person applies.
// A configuration that the new values break keeps a cluster as it is, which the audit tells. It
// fails with ErrBusy when a task runs on one of them; it can be repeated, and does only what is missing.
func (f *Fleet) Rerender(ctx context.Context, recordID uuid.UUID) error {
	clusters, err := f.Store.StaleRecordUsers(ctx, recordID)
	if err != nil {
		return store.AsFault(err)
	}
	busy := false
	for _, id := range clusters {
		err := f.Store.InTx(ctx, func(tx *store.Tx) error { return f.rerenderCluster(ctx, tx, id) })
		if errors.Is(err, ErrBusy) {
			busy = true // the others need not wait
			continue
		}
		if err != nil {
			return fmt.Errorf("render cluster %s with the new values of record %s: %w", id, recordID, err)
		}
	}
	if busy {
		return ErrBusy
	}
	return nil
}

// pendingAfter are the statuses of installed clusters that a new configuration turns into pending
// changes; the others wait for something more important already.
var pendingAfter = map[store.ClusterStatus]bool{
	store.ClusterInSync: true, store.ClusterUnknown: true, store.ClusterPendingChanges: true,
}

func (f *Fleet) rerenderCluster(ctx context.Context, tx *store.Tx, id uuid.UUID) error {
	cluster, workspace, err := clusterForUpdate(ctx, tx, System, ClustersEdit, id)
	if err != nil {
		return err
	}
	if cluster.ArchivedAt != nil || goes(cluster) || cluster.TemplateVersionID == nil {
		return nil
	}
	active, err := tx.ActiveTasks(ctx, id)
	if err != nil {
		return err
	}
	for _, task := range active {
		if task.Status == store.TaskQueued || task.Status == store.TaskRunning {
			return ErrBusy
		}
	}
	version, err := tx.TemplateVersion(ctx, *cluster.TemplateVersionID)
	if err != nil {
		return err
	}
	current, err := f.configuration(ctx, tx.Querier, id, cluster.Revision)
	if err != nil {
		return err
	}
	rendered, err := f.rerender(ctx, tx, cluster, version, current.Values, current)
	if err != nil {
		return err
	}
	if len(rendered.errors) > 0 && cluster.WasCreated {
		return f.audit(ctx, tx, System, change{
			Action: "cluster.rerender.refuse", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"errors": rendered.errors},
		})
	}
	after, err := f.saveChange(ctx, tx, System, workspace, cluster, current, version, cluster.Name, rendered, nil)
	if err != nil {
		return err
	}
	if !after.WasCreated || !pendingAfter[after.Status] {
		return nil
	}
	return f.move(ctx, tx, &after, store.ClusterPendingChanges)
}
