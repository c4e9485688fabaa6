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

// SwitchPreview is what a move would make of one cluster.
type SwitchPreview struct {
	ClusterID uuid.UUID
	Upgrade
	// Refusal says why the cluster would be refused; nil when it would be moved.
	Refusal *fault.Message
}

// PreviewSwitch tells what a move would make of each cluster, and which would be refused and why.
// Nothing is changed.
func (f *Fleet) PreviewSwitch(ctx context.Context, actor Actor, versionID uuid.UUID, ids []uuid.UUID) ([]SwitchPreview, error) {
	_, workspace, err := f.switchVersion(ctx, actor, ClustersView, versionID)
	if err != nil {
		return nil, err
	}
	out := make([]SwitchPreview, 0, len(ids))
	for _, id := range ids {
		line, err := f.previewSwitch(ctx, actor, workspace.ID, versionID, id)
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, nil
}

func (f *Fleet) previewSwitch(ctx context.Context, actor Actor, workspaceID, versionID, id uuid.UUID) (SwitchPreview, error) {
	out := SwitchPreview{ClusterID: id}
	cluster, err := f.Store.Cluster(ctx, id)
	if err != nil && !notThere(err) {
		return out, store.AsFault(err)
	}
	if err != nil || cluster.WorkspaceID != workspaceID {
		out.Refusal = &fault.Message{Key: "fault.not_found"}
		return out, nil
	}
	out.Upgrade, err = f.PreviewUpgrade(ctx, actor, id, versionID, nil)
	if err == nil {
		err = f.switchable(ctx, out.Upgrade)
	}
	var refused bool
	if out.Refusal, refused = refusal(err); err != nil && !refused {
		return out, err
	}
	return out, nil
}

// switchable says why a cluster would not be moved now.
func (f *Fleet) switchable(ctx context.Context, u Upgrade) error {
	if err := changeable(u.Cluster, u.Cluster.Revision); err != nil {
		return err
	}
	if len(u.Open) > 0 {
		return fault.Fields(map[string]fault.Message{ValueField(u.Open[0]): {Key: "parameter.required"}})
	}
	if len(u.Errors) > 0 {
		return asFault(u.Errors)
	}
	active, err := f.Store.ActiveTasks(ctx, u.Cluster.ID)
	for _, task := range active {
		if task.Status == store.TaskLost || task.Status == store.TaskLostInCritical {
			return fault.New(fault.Conflict, "cluster.task_lost", u.Cluster.Name)
		}
	}
	return store.AsFault(err)
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
	var made store.BulkSwitch
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		if plan.Nonce != nil {
			if made, err = tx.BulkSwitchByNonce(ctx, plan.Nonce); err == nil {
				return nil // the same form, sent twice
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
		count, err := insertTargets(ctx, tx, made, plan)
		if err != nil {
			return err
		}
		if _, err := f.Queue.InsertTx(ctx, tx.Tx, SwitchArgs{made.ID}, &river.InsertOpts{Queue: river.QueueDefault}); err != nil {
			return fmt.Errorf("ask for the move to version %s: %w", version.ID, err)
		}
		return f.audit(ctx, tx, actor, change{
			Action: "clusters.switch", ObjectType: "ClusterTemplate", ObjectID: version.TemplateID, Workspace: workspace,
			Changes: map[string]any{
				"version": version.Number, "clusters": count, "wave_size": plan.WaveSize, "parallel": plan.Parallel, "stop_at_failure": plan.StopAtFailure,
			},
		})
	})
	if store.Unique(err, "bulk_switches_form_nonce_key") { // its twin was faster by a moment
		made, err = f.Store.BulkSwitchByNonce(ctx, plan.Nonce)
		return made, store.AsFault(err)
	}
	return made, err
}

// insertTargets writes the clusters of a plan. One of another workspace is as unknown as none.
func insertTargets(ctx context.Context, tx *store.Tx, made store.BulkSwitch, plan SwitchPlan) (int, error) {
	seen := map[uuid.UUID]bool{}
	for _, target := range plan.Clusters {
		if seen[target.ID] {
			continue
		}
		cluster, err := tx.Cluster(ctx, target.ID)
		if err == nil && cluster.WorkspaceID != made.WorkspaceID || notThere(err) {
			return 0, fault.Fields(map[string]fault.Message{"clusters": {Key: "fault.not_found"}})
		}
		if err != nil {
			return 0, fmt.Errorf("read cluster %s: %w", target.ID, err)
		}
		err = tx.InsertBulkSwitchCluster(ctx, store.InsertBulkSwitchClusterParams{
			SwitchID: made.ID, ClusterID: target.ID, Position: len(seen), Wave: len(seen)/plan.WaveSize + 1, Revision: target.Revision,
		})
		if err != nil {
			return 0, fmt.Errorf("write cluster %s of a move: %w", target.ID, err)
		}
		seen[target.ID] = true
	}
	return len(seen), nil
}
