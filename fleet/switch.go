package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"commander/internal/fault"
	"commander/store"
)

// SwitchArgs ask for the next step of a move of many clusters.
type SwitchArgs struct {
	SwitchID uuid.UUID `json:"switch_id"`
}

// Kind names the job in River.
func (SwitchArgs) Kind() string { return "clusters.switch" }

// SwitchTarget is a cluster of a plan as the person looked at it.
type SwitchTarget struct {
	ID       uuid.UUID
	Revision int
}

// SwitchPlan moves many clusters to a version of a template.
type SwitchPlan struct {
	VersionID uuid.UUID
	// Clusters are moved in this order. One that is named twice is moved once.
	Clusters []SwitchTarget
	// WaveSize is how many clusters make a wave: the next begins when all of one are through.
	WaveSize int
	// Parallel is how many changes run at once, at most.
	Parallel int
	// StopAtFailure starts nothing more once a change has failed. A refused cluster is no failure:
	// nothing was changed.
	StopAtFailure bool
	// Nonce is that of the form, so that a double submit makes one move. Nil for the API.
	Nonce *uuid.UUID
}

// The bounds of a plan.
const (
	mostSwitched = 10_000
	mostParallel = 100
)

// mostAttempts lets the job of a move outlive every outage of the database: River's counter ends there.
const mostAttempts = 30_000

func (p SwitchPlan) check() error {
	problems := map[string]fault.Message{}
	switch {
	case len(p.Clusters) == 0:
		problems["clusters"] = fault.Message{Key: "cluster.switch.none"}
	case len(p.Clusters) > mostSwitched:
		problems["clusters"] = fault.Message{Key: "cluster.switch.many", Args: []any{mostSwitched}}
	}
	if p.WaveSize < 1 || p.WaveSize > mostSwitched {
		problems["wave_size"] = fault.Message{Key: "cluster.switch.bounds", Args: []any{1, mostSwitched}}
	}
	if p.Parallel < 1 || p.Parallel > mostParallel {
		problems["parallel"] = fault.Message{Key: "cluster.switch.bounds", Args: []any{1, mostParallel}}
	}
	if len(problems) > 0 {
		return fault.Fields(problems)
	}
	return nil
}

// switchVersion reads the version of a move, its template and workspace. What the actor may not look
// at is not there.
func (f *Fleet) switchVersion(ctx context.Context, actor Actor, p Permission, versionID uuid.UUID) (store.ClusterTemplateVersion, store.Workspace, error) {
	version, err := f.Store.TemplateVersion(ctx, versionID)
	if err != nil {
		return version, store.Workspace{}, unknownVersion(err)
	}
	template, err := f.Store.Template(ctx, version.TemplateID)
	if err != nil {
		return version, store.Workspace{}, unknownVersion(err)
	}
	if err := Allowed(actor, p, template.WorkspaceID); err != nil {
		return version, store.Workspace{}, err
	}
	workspace, err := f.Store.Workspace(ctx, template.WorkspaceID)
	if err != nil {
		return version, workspace, store.AsFault(err)
	}
	version, err = f.usableVersion(ctx, workspace.ID, versionID)
	return version, workspace, err
}

// SwitchClusters begins a move of many clusters: each is moved as UpgradeCluster does, in waves, by a
// job that goes on after restarts. It fails with Invalid when the plan makes no sense.
func (f *Fleet) SwitchClusters(ctx context.Context, actor Actor, plan SwitchPlan) (store.BulkSwitch, error) {
	version, workspace, err := f.switchVersion(ctx, actor, ClustersEdit, plan.VersionID)
	if err != nil {
		return store.BulkSwitch{}, err
	}
	if err := plan.check(); err != nil {
		return store.BulkSwitch{}, err
	}
	targets, err := f.targets(ctx, workspace.ID, plan.Clusters)
	if err != nil {
		return store.BulkSwitch{}, err
	}
	var made store.BulkSwitch
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		if plan.Nonce != nil {
			made, err = tx.BulkSwitchByNonce(ctx, store.BulkSwitchByNonceParams{FormNonce: plan.Nonce, WorkspaceID: workspace.ID})
			if err == nil || !notThere(err) {
				return err // the same form, sent twice
			}
		}
		row := store.InsertBulkSwitchParams{
			ID: uuid.New(), WorkspaceID: workspace.ID, TemplateVersionID: version.ID, WaveSize: plan.WaveSize, Parallel: plan.Parallel,
			StopAtFailure: plan.StopAtFailure, ActorType: string(actor.Type), ActorName: actor.Name, FormNonce: plan.Nonce,
		}
		if actor.ID != uuid.Nil {
			row.ActorID = &actor.ID
		}
		if made, err = tx.InsertBulkSwitch(ctx, row); err != nil {
			return fmt.Errorf("write the move to version %s: %w", version.ID, err)
		}
		if err := insertTargets(ctx, tx, made, targets); err != nil {
			return err
		}
		opts := &river.InsertOpts{Queue: river.QueueDefault, MaxAttempts: mostAttempts}
		if _, err := f.Queue.InsertTx(ctx, tx.Tx, SwitchArgs{made.ID}, opts); err != nil {
			return fmt.Errorf("ask for the move to version %s: %w", version.ID, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "clusters.switch", ObjectType: "ClusterTemplate", ObjectID: version.TemplateID, Workspace: workspace,
			Changes: map[string]any{
				"version": version.Number, "clusters": len(targets), "wave_size": plan.WaveSize, "parallel": plan.Parallel, "stop_at_failure": plan.StopAtFailure,
			},
		})
	})
	if store.Unique(err, "bulk_switches_form_nonce_key") { // its twin was faster by a moment
		made, err = f.Store.BulkSwitchByNonce(ctx, store.BulkSwitchByNonceParams{FormNonce: plan.Nonce, WorkspaceID: workspace.ID})
		return made, store.AsFault(err)
	}
	return made, err
}

// targets are the clusters of a plan without repetitions. One of another workspace is as unknown as
// none.
func (f *Fleet) targets(ctx context.Context, workspaceID uuid.UUID, planned []SwitchTarget) ([]SwitchTarget, error) {
	seen := map[uuid.UUID]bool{}
	var targets []SwitchTarget
	var ids []uuid.UUID
	for _, t := range planned {
		if !seen[t.ID] {
			seen[t.ID] = true
			targets, ids = append(targets, t), append(ids, t.ID)
		}
	}
	known, err := f.Store.CountClustersAmong(ctx, store.CountClustersAmongParams{WorkspaceID: workspaceID, Ids: ids})
	if err != nil {
		return nil, fmt.Errorf("look for the clusters of a move: %w", store.AsFault(err))
	}
	if int(known) < len(targets) {
		return nil, fault.Fields(map[string]fault.Message{"clusters": {Key: "fault.not_found"}})
	}
	return targets, nil
}

func insertTargets(ctx context.Context, tx *store.Tx, move store.BulkSwitch, targets []SwitchTarget) error {
	rows := store.InsertBulkSwitchClustersParams{SwitchID: move.ID}
	for i, t := range targets {
		rows.Clusters, rows.Revisions = append(rows.Clusters, t.ID), append(rows.Revisions, t.Revision)
		rows.Positions, rows.Waves = append(rows.Positions, i), append(rows.Waves, i/move.WaveSize+1)
	}
	if err := tx.InsertBulkSwitchClusters(ctx, rows); err != nil {
		return fmt.Errorf("write the clusters of move %s: %w", move.ID, err)
	}
	return nil
}
