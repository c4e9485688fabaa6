package fleet

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// SwitchView is a move with its clusters in the order of the plan.
type SwitchView struct {
	store.BulkSwitch
	Clusters []SwitchLine
}

// SwitchLine is one cluster of a move.
type SwitchLine struct {
	store.BulkSwitchCluster
	Name       string
	TaskStatus store.TaskStatus // empty without a task
	// Reason says why the cluster failed, was refused or skipped; nil otherwise.
	Reason *fault.Message
}

// BulkSwitch reads a move for its page.
func (f *Fleet) BulkSwitch(ctx context.Context, actor Actor, id uuid.UUID) (SwitchView, error) {
	move, err := f.Store.BulkSwitch(ctx, id)
	if err != nil {
		return SwitchView{}, store.AsFault(err)
	}
	view := SwitchView{BulkSwitch: move}
	if err := Allowed(actor, ClustersView, move.WorkspaceID); err != nil {
		return SwitchView{}, err
	}
	rows, err := f.Store.BulkSwitchClusters(ctx, id)
	if err != nil {
		return view, store.AsFault(err)
	}
	for _, row := range rows {
		line := SwitchLine{BulkSwitchCluster: row.BulkSwitchCluster, Name: row.Name, TaskStatus: store.TaskStatus(row.TaskStatus)}
		if body := row.BulkSwitchCluster.Reason; body != nil {
			if line.Reason, err = readReason(body); err != nil {
				return view, fmt.Errorf("read the reason of cluster %s: %w", row.Name, err)
			}
		}
		view.Clusters = append(view.Clusters, line)
	}
	return view, nil
}

// readReason gives a message back whose arguments may be messages themselves.
func readReason(body []byte) (*fault.Message, error) {
	var stored struct {
		Key  string            `json:"key"`
		Args []json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(body, &stored); err != nil {
		return nil, err
	}
	reason := &fault.Message{Key: stored.Key}
	for _, arg := range stored.Args {
		var inner fault.Message
		if json.Unmarshal(arg, &inner) == nil && inner.Key != "" {
			reason.Args = append(reason.Args, inner)
			continue
		}
		var plain any
		if err := json.Unmarshal(arg, &plain); err != nil {
			return nil, err
		}
		reason.Args = append(reason.Args, plain)
	}
	return reason, nil
}

// switchesShown is how many moves a template's page lists.
const switchesShown = 50

// BulkSwitches lists the moves to versions of a template, the newest first.
func (f *Fleet) BulkSwitches(ctx context.Context, actor Actor, templateID uuid.UUID) ([]store.BulkSwitchesOfTemplateRow, error) {
	template, err := f.Store.Template(ctx, templateID)
	if err != nil {
		return nil, store.AsFault(err)
	}
	if err := Allowed(actor, ClustersView, template.WorkspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.BulkSwitchesOfTemplate(ctx, store.BulkSwitchesOfTemplateParams{TemplateID: templateID, PageSize: switchesShown})
	return rows, store.AsFault(err)
}

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
		if move, err = stopSwitch(ctx, tx, move, store.SwitchCancelled, fault.Message{Key: "cluster.switch.cancelled", Args: []any{actor.Name}}); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "clusters.switch.cancel", ObjectType: "ClusterTemplate", ObjectID: version.TemplateID, Workspace: workspace,
			Changes: map[string]any{"version": version.Number},
		})
	})
	return move, err
}
