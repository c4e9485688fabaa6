package fleet

import (
	"context"
	"errors"
	"maps"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// mostMarked bounds how many clusters one request may mark: each is a transaction of its own.
const mostMarked = 500

// Marks is what people note about many clusters at once. Nothing of it is applied to the clusters.
type Marks struct {
	// Set are labels to give, Remove keys of labels to take away.
	Set    store.Labels
	Remove []string
	// Locked protects from deletion or lifts the protection; nil leaves it.
	Locked *bool
}

// Refusal is why one of many was left as it is.
type Refusal struct {
	ID   uuid.UUID
	Name string
	Why  *fault.Error
}

// MarkClusters notes the same about several clusters of a workspace and returns how many have it
// now. What keeps one cluster from being marked is told and does not keep the others. It fails
// with Invalid when a label cannot be used, or when nothing or too much is chosen.
func (f *Fleet) MarkClusters(ctx context.Context, actor Actor, workspaceID uuid.UUID, ids []uuid.UUID, marks Marks) (int, []Refusal, error) {
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return 0, nil, err
	}
	if len(ids) == 0 || len(ids) > mostMarked {
		return 0, nil, fault.New(fault.Invalid, "clusters.choose", mostMarked)
	}
	if err := checkLabels(marks.Set); err != nil {
		return 0, nil, err
	}
	for _, key := range marks.Remove {
		if !labelKey.MatchString(key) {
			return 0, nil, badLabel("cluster.label.key", key)
		}
	}
	marked := 0
	var refused []Refusal
	for _, id := range ids {
		cluster, err := f.markOne(ctx, actor, workspaceID, id, marks)
		var why *fault.Error
		switch {
		case err == nil:
			marked++
		case errors.As(err, &why) && why.Kind != fault.Unavailable && why.Kind != fault.Internal:
			if why.Kind == fault.NotFound {
				cluster.Name = "" // it may be somebody else's
			}
			refused = append(refused, Refusal{ID: id, Name: cluster.Name, Why: why})
		default:
			return marked, refused, err
		}
	}
	return marked, refused, nil
}

func (f *Fleet) markOne(ctx context.Context, actor Actor, workspaceID, id uuid.UUID, marks Marks) (store.Cluster, error) {
	noted := change{Action: "cluster.labels.change", ObjectID: id}
	if marks.Locked != nil {
		noted = change{Action: "cluster.lock", ObjectID: id}
	}
	return f.mark(ctx, actor, noted, func(tx *store.Tx, cluster *store.Cluster) (map[string]any, error) {
		if cluster.WorkspaceID != workspaceID {
			return nil, fault.New(fault.NotFound, "fault.not_found")
		}
		changes := map[string]any{}
		if marks.Locked != nil && *marks.Locked != cluster.IsLocked {
			changes["is_locked"] = []any{cluster.IsLocked, *marks.Locked}
			cluster.IsLocked = *marks.Locked
			if err := tx.SetClusterLock(ctx, store.SetClusterLockParams{ID: id, IsLocked: cluster.IsLocked}); err != nil {
				return nil, err
			}
		}
		after := marks.apply(cluster.Labels)
		if maps.Equal(after, cluster.Labels) {
			return changes, nil
		}
		if err := checkLabels(after); err != nil {
			return nil, err
		}
		changes["labels"] = []any{cluster.Labels, after}
		cluster.Labels = after
		return changes, tx.SetClusterLabels(ctx, store.SetClusterLabelsParams{ID: id, Labels: after})
	})
}

// apply returns labels as they are with the marks.
func (m Marks) apply(labels store.Labels) store.Labels {
	after := store.Labels{}
	maps.Copy(after, labels)
	maps.Copy(after, m.Set)
	for _, key := range m.Remove {
		delete(after, key)
	}
	return after
}
