package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// longestQuery bounds what a saved view keeps of an address.
const longestQuery = 2_000

// ClusterViews lists the saved views of a workspace.
func (f *Fleet) ClusterViews(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.ClusterView, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return nil, err
	}
	views, err := f.Store.ClusterViews(ctx, workspaceID)
	return views, store.AsFault(err)
}

// SaveClusterView gives what a list of clusters is asked for a name, for everybody in the
// workspace. It fails with Invalid when the name is missing or taken.
func (f *Fleet) SaveClusterView(ctx context.Context, actor Actor, workspaceID uuid.UUID, name, query string) (store.ClusterView, error) {
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return store.ClusterView{}, err
	}
	if name = strings.TrimSpace(name); name == "" || len([]rune(name)) > longestName || len(query) > longestQuery {
		return store.ClusterView{}, fault.Fields(map[string]fault.Message{Name: {Key: "view.name", Args: []any{longestName}}})
	}
	var view store.ClusterView
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		view, err = tx.InsertClusterView(ctx, store.InsertClusterViewParams{
			WorkspaceID: workspaceID, Name: name, Query: query, CreatedBy: actor.Name,
		})
		if err != nil {
			return fmt.Errorf("write view %s: %w", name, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "view.create", ObjectType: "ClusterView", ObjectID: view.ID, Workspace: workspace,
			Changes: map[string]any{"name": name, "query": query},
		})
	})
	if store.Unique(err, "cluster_views_workspace_id_name_key") {
		err = fault.Fields(map[string]fault.Message{Name: {Key: "view.name.taken", Args: []any{name}}})
	}
	return view, err
}

// DeleteClusterView forgets a saved view of a workspace.
func (f *Fleet) DeleteClusterView(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) error {
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return err
	}
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		view, err := tx.ClusterView(ctx, id)
		if err != nil {
			return err
		}
		if view.WorkspaceID != workspaceID {
			return fault.New(fault.NotFound, "fault.not_found")
		}
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		if err := tx.DeleteClusterView(ctx, id); err != nil {
			return fmt.Errorf("delete view %s: %w", view.Name, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "view.delete", ObjectType: "ClusterView", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": view.Name},
		})
	})
}
