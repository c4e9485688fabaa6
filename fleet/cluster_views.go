package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

const (
	// longestQuery bounds what a saved view keeps of an address.
	longestQuery = 2_000
	// mostViews bounds the saved views of a workspace: the list shows a count beside each.
	mostViews = 20
)

// ClusterViews lists the saved views of a workspace.
func (f *Fleet) ClusterViews(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.ClusterView, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return nil, err
	}
	views, err := f.Store.ClusterViews(ctx, workspaceID)
	return views, store.AsFault(err)
}

// SaveClusterView gives what a list of clusters is asked for a name, for everybody in the
// workspace. It fails with Invalid when the name is missing or taken, and when there are too many.
func (f *Fleet) SaveClusterView(ctx context.Context, actor Actor, workspaceID uuid.UUID, name, query string) (store.ClusterView, error) {
	name, err := cleanViewName(name)
	if err == nil && len(query) > longestQuery {
		err = fault.Fields(map[string]fault.Message{Name: {Key: "view.query", Args: []any{longestQuery}}})
	}
	if err != nil {
		return store.ClusterView{}, err
	}
	var view store.ClusterView
	err = f.changeViews(ctx, actor, workspaceID, name, func(tx *store.Tx, noted *change) error {
		there, err := tx.ClusterViews(ctx, workspaceID)
		if err != nil {
			return err
		}
		if len(there) >= mostViews {
			return fault.Fields(map[string]fault.Message{Name: {Key: "view.many", Args: []any{mostViews}}})
		}
		view, err = tx.InsertClusterView(ctx, store.InsertClusterViewParams{
			WorkspaceID: workspaceID, Name: name, Query: query, CreatedBy: actor.Signature(),
		})
		noted.Action, noted.ObjectID = "view.create", view.ID
		noted.Changes = map[string]any{"name": name, "query": query}
		return err
	})
	return view, err
}

// RenameClusterView gives a saved view another name. It fails with Invalid when the name is missing
// or taken.
func (f *Fleet) RenameClusterView(ctx context.Context, actor Actor, workspaceID, id uuid.UUID, name string) (store.ClusterView, error) {
	name, err := cleanViewName(name)
	if err != nil {
		return store.ClusterView{}, err
	}
	var view store.ClusterView
	err = f.changeViews(ctx, actor, workspaceID, name, func(tx *store.Tx, noted *change) error {
		before, err := viewOf(ctx, tx, workspaceID, id)
		if err != nil {
			return err
		}
		view, err = tx.RenameClusterView(ctx, store.RenameClusterViewParams{ID: id, Name: name})
		noted.Action, noted.ObjectID = "view.rename", id
		noted.Changes = map[string]any{"name": []any{before.Name, name}}
		return err
	})
	return view, err
}

// DeleteClusterView forgets a saved view of a workspace.
func (f *Fleet) DeleteClusterView(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) error {
	return f.changeViews(ctx, actor, workspaceID, "", func(tx *store.Tx, noted *change) error {
		view, err := viewOf(ctx, tx, workspaceID, id)
		if err != nil {
			return err
		}
		noted.Action, noted.ObjectID = "view.delete", id
		noted.Changes = map[string]any{"name": view.Name}
		return tx.DeleteClusterView(ctx, id)
	})
}

// changeViews changes the saved views of a workspace and writes it down. name is that of the view
// afterwards.
func (f *Fleet) changeViews(ctx context.Context, actor Actor, workspaceID uuid.UUID, name string, act func(*store.Tx, *change) error) error {
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return err
	}
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		noted := change{ObjectType: "ClusterView", Workspace: workspace}
		if err := act(tx, &noted); err != nil {
			return fmt.Errorf("change the views of workspace %s: %w", workspace.Slug, err)
		}
		return f.audit(ctx, tx, actor, noted)
	})
	if store.Unique(err, "cluster_views_workspace_id_name_key") {
		return fault.Fields(map[string]fault.Message{Name: {Key: "view.name.taken", Args: []any{name}}})
	}
	return err
}

func viewOf(ctx context.Context, tx *store.Tx, workspaceID, id uuid.UUID) (store.ClusterView, error) {
	view, err := tx.ClusterView(ctx, id)
	if err == nil && view.WorkspaceID != workspaceID {
		err = fault.New(fault.NotFound, "fault.not_found")
	}
	return view, err
}

func cleanViewName(name string) (string, error) {
	if name = strings.TrimSpace(name); name == "" || len([]rune(name)) > longestName {
		return name, fault.Fields(map[string]fault.Message{Name: {Key: "view.name", Args: []any{longestName}}})
	}
	return name, nil
}
