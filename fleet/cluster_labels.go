package fleet

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// mostLabels bounds the labels of one cluster.
const mostLabels = 32

var (
	labelKey   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$`)
)

// LabelsField is the key under which problems with labels are told.
const LabelsField = "labels"

// ParseLabels reads labels as people write them: key=value, apart by spaces, commas or new lines.
// A key may be there once. It fails with Invalid and the label that is wrong.
func ParseLabels(text string) (store.Labels, error) {
	labels := store.Labels{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,\t\r\n", r) }) {
		key, value, is := strings.Cut(word, "=")
		if _, twice := labels[key]; twice {
			return nil, badLabel("cluster.label.twice", key)
		}
		if !is {
			return nil, badLabel("cluster.label.invalid", word)
		}
		labels[key] = value
	}
	return labels, checkLabels(labels)
}

func badLabel(key string, args ...any) error {
	return fault.Fields(map[string]fault.Message{LabelsField: {Key: key, Args: args}})
}

func checkLabels(labels store.Labels) error {
	if len(labels) > mostLabels {
		return badLabel("cluster.label.many", mostLabels)
	}
	for key, value := range labels {
		if !labelKey.MatchString(key) || !labelValue.MatchString(value) {
			return badLabel("cluster.label.invalid", key+"="+value)
		}
	}
	return nil
}

// SetLabels replaces the labels of a cluster. They are no part of its configuration: nothing is
// applied. It fails with Invalid when a label cannot be used.
func (f *Fleet) SetLabels(ctx context.Context, actor Actor, id uuid.UUID, labels store.Labels) (store.Cluster, error) {
	if err := checkLabels(labels); err != nil {
		return store.Cluster{}, err
	}
	if labels == nil {
		labels = store.Labels{}
	}
	return f.mark(ctx, actor, change{Action: "cluster.labels.change", ObjectID: id}, func(tx *store.Tx, cluster *store.Cluster) (map[string]any, error) {
		changes := map[string]any{"labels": []any{cluster.Labels, labels}}
		cluster.Labels = labels
		return changes, tx.SetClusterLabels(ctx, store.SetClusterLabelsParams{ID: id, Labels: labels})
	})
}

// LockCluster protects a cluster from deletion and archiving, or lifts the protection.
func (f *Fleet) LockCluster(ctx context.Context, actor Actor, id uuid.UUID, locked bool) (store.Cluster, error) {
	return f.mark(ctx, actor, change{Action: "cluster.lock", ObjectID: id}, func(tx *store.Tx, cluster *store.Cluster) (map[string]any, error) {
		if cluster.IsLocked == locked {
			return nil, nil
		}
		changes := map[string]any{"is_locked": []any{cluster.IsLocked, locked}}
		cluster.IsLocked = locked
		return changes, tx.SetClusterLock(ctx, store.SetClusterLockParams{ID: id, IsLocked: locked})
	})
}

// mark changes what people note about a cluster, and writes it down unless nothing changes.
func (f *Fleet) mark(ctx context.Context, actor Actor, noted change, set func(*store.Tx, *store.Cluster) (map[string]any, error)) (store.Cluster, error) {
	var cluster store.Cluster
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if cluster, noted.Workspace, err = clusterForUpdate(ctx, tx, actor, ClustersEdit, noted.ObjectID); err != nil {
			return err
		}
		if cluster.ArchivedAt != nil {
			return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
		}
		noted.ObjectType = "Cluster"
		if noted.Changes, err = set(tx, &cluster); err != nil {
			return fmt.Errorf("mark cluster %s: %w", cluster.ID, err)
		}
		if len(noted.Changes) == 0 {
			return nil
		}
		tx.Changed(store.ClusterTopic(cluster.ID), store.WorkspaceClustersTopic(cluster.WorkspaceID))
		return f.audit(ctx, tx, actor, noted)
	})
	return cluster, err
}
