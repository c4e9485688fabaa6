package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// CancelSwitch starts nothing more of a move; changes that run go on. It fails with Conflict when
// the move does not run.
func (f *Fleet) CancelSwitch(ctx context.Context, actor Actor, id uuid.UUID) (store.BulkSwitch, error) {
	var move store.BulkSwitch
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if move, err = tx.BulkSwitchForUpdate(ctx, id); err != nil {
			return err
		}
		if err := Allowed(actor, ClustersEdit, move.WorkspaceID); err != nil {
			return err
		}
		if move.Status != store.SwitchRunning {
			return fault.New(fault.Conflict, "cluster.switch.over")
		}
		workspace, err := tx.Workspace(ctx, move.WorkspaceID)
		if err != nil {
			return err
		}
		version, err := tx.TemplateVersion(ctx, move.TemplateVersionID)
		if err != nil {
			return err
		}
		if move, err = stopSwitch(ctx, tx, move, store.SwitchCancelled, fault.Message{Key: "cluster.switch.cancelled", Args: []any{actor.Signature()}}); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "clusters.switch.cancel", ObjectType: "ClusterTemplate", ObjectID: version.TemplateID, Workspace: workspace,
			Changes: map[string]any{"version": version.Number},
		})
	})
	return move, err
}
