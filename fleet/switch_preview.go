package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// SwitchPreview is what a move would make of one cluster.
type SwitchPreview struct {
	ClusterID uuid.UUID
	Upgrade
	// Refusal says why the cluster would be refused; nil when it would be moved.
	Refusal *fault.Message
}

// MostPreviewed bounds what a preview looks at: each cluster is rendered, which takes a few
// milliseconds.
const MostPreviewed = 500

// PreviewSwitch tells what a move would make of each cluster, in their order, and which would be
// refused and why: one that wants a unique value or the last free record that an earlier one gets is
// among those. Nothing is changed. It fails with Invalid for more than MostPreviewed clusters.
func (f *Fleet) PreviewSwitch(ctx context.Context, actor Actor, versionID uuid.UUID, ids []uuid.UUID) ([]SwitchPreview, error) {
	_, workspace, err := f.switchVersion(ctx, actor, ClustersView, versionID)
	if err != nil {
		return nil, err
	}
	if len(ids) > MostPreviewed {
		return nil, fault.Fields(map[string]fault.Message{"clusters": {Key: "cluster.switch.many", Args: []any{MostPreviewed}}})
	}
	promised := newPromises()
	seen := map[uuid.UUID]bool{}
	out := make([]SwitchPreview, 0, len(ids))
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		line, err := f.previewSwitch(ctx, actor, workspace.ID, versionID, id, promised)
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
	return out, nil
}

func (f *Fleet) previewSwitch(ctx context.Context, actor Actor, workspaceID, versionID, id uuid.UUID, promised *promises) (SwitchPreview, error) {
	out := SwitchPreview{ClusterID: id}
	cluster, err := f.Store.Cluster(ctx, id)
	if err != nil && !notThere(err) {
		return out, store.AsFault(err)
	}
	if err != nil || cluster.WorkspaceID != workspaceID {
		out.Refusal = &fault.Message{Key: "fault.not_found"}
		return out, nil
	}
	out.Upgrade, err = f.previewUpgrade(ctx, actor, cluster, versionID, nil, promised)
	if err == nil {
		err = f.switchable(ctx, out.Upgrade)
	}
	if err == nil {
		promised.keep(out.Upgrade)
		return out, nil
	}
	var refused bool
	if out.Refusal, refused = refusal(err); !refused {
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
		return fault.Fields(map[string]fault.Message{ValueField(u.Open[0]): u.problem(u.Open[0])})
	}
	if len(u.Errors) > 0 {
		return asFault(u.Errors)
	}
	active, err := f.Store.ActiveTasks(ctx, u.Cluster.ID)
	for _, task := range active {
		if Lost(task) {
			return fault.New(fault.Conflict, "cluster.task_lost", u.Cluster.Name)
		}
	}
	return store.AsFault(err)
}

// promises are what clusters get that are earlier in a preview: later ones cannot have it.
type promises struct {
	values  map[string]store.Cluster // by hash
	records map[uuid.UUID]bool
}

func newPromises() *promises {
	return &promises{values: map[string]store.Cluster{}, records: map[uuid.UUID]bool{}}
}

func (p *promises) keep(u Upgrade) {
	for _, v := range u.unique {
		p.values[string(v.hash)] = u.Cluster
	}
	for _, id := range u.picked {
		p.records[id] = true
	}
}
