package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ClusterSettings say how a cluster is kept as declared.
type ClusterSettings struct {
	// Mode says whether changes that destroy nothing are applied without asking.
	Mode store.SyncMode
	// CheckEvery is the pause between two checks in minutes.
	CheckEvery int
}

// longestCheckInterval is a day: a cluster that nobody looks at for longer is not kept.
const longestCheckInterval = 24 * 60

// SetClusterSettings changes how a cluster is kept as declared. It fails with Invalid when the
// settings make no sense, and with Conflict when the cluster is in the archive.
func (f *Fleet) SetClusterSettings(ctx context.Context, actor Actor, id uuid.UUID, wanted ClusterSettings) (store.Cluster, error) {
	problems := map[string]fault.Message{}
	if wanted.Mode != store.SyncAuto && wanted.Mode != store.SyncManual {
		problems["mode"] = fault.Message{Key: "cluster.settings.mode"}
	}
	if wanted.CheckEvery < 1 || wanted.CheckEvery > longestCheckInterval {
		problems["check_every"] = fault.Message{Key: "cluster.settings.check_every", Args: []any{longestCheckInterval}}
	}
	if len(problems) > 0 {
		return store.Cluster{}, fault.Fields(problems)
	}
	var after store.Cluster
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, workspace, err := clusterForUpdate(ctx, tx, actor, ClustersEdit, id)
		if err != nil {
			return err
		}
		if before.ArchivedAt != nil {
			return fault.New(fault.Conflict, "cluster.archived", before.Name)
		}
		after, err = tx.SetClusterSync(ctx, store.SetClusterSyncParams{
			ID: id, SyncMode: wanted.Mode, CheckIntervalMinutes: wanted.CheckEvery,
		})
		if err != nil {
			return err
		}
		tx.Changed(store.ClusterTopic(id))
		return f.audit(ctx, tx, actor, change{
			Action: "cluster.settings.change", ObjectType: "ClusterSettings", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{
				"cluster_manager.sync.mode":      []any{before.SyncMode, after.SyncMode},
				"cluster_manager.check_interval": []any{before.CheckIntervalMinutes, after.CheckIntervalMinutes},
			},
		})
	})
	return after, err
}
