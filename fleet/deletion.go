package fleet

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/internal/fault"
	"commander/store"
)

// DeleteCluster starts the deletion of a cluster and of all that was made for it. A cluster for
// which nothing was ever made goes to the archive at once: the task is nil then. It fails with
// Conflict when the cluster is locked against deletion or in the archive.
func (f *Fleet) DeleteCluster(ctx context.Context, actor Actor, id uuid.UUID) (store.Cluster, *store.Task, error) {
	var cluster store.Cluster
	var task *store.Task
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		task = nil
		var workspace store.Workspace
		var err error
		if cluster, workspace, err = clusterForUpdate(ctx, tx, actor, ClustersEdit, id); err != nil {
			return err
		}
		switch {
		case cluster.ArchivedAt != nil:
			return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
		case cluster.IsLocked:
			return fault.New(fault.Conflict, "cluster.locked", cluster.Name)
		case cluster.Attached:
			return fault.New(fault.Conflict, "cluster.attached", cluster.Name)
		}
		if err := f.audit(ctx, tx, actor, change{
			Action: "cluster.delete", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": cluster.Name},
		}); err != nil {
			return err
		}
		untouched, err := f.untouched(ctx, tx, cluster)
		if err != nil {
			return err
		}
		if untouched {
			return f.archive(ctx, tx, &cluster, store.ClusterDeleted, "")
		}
		if err := f.stopRunning(ctx, tx, cluster.ID); err != nil {
			return err
		}
		started, err := f.start(ctx, tx, actor, &cluster, store.TaskDestroy)
		task = &started
		return err
	})
	return cluster, task, err
}

// goes reports whether a cluster is on its way out. After a deletion that failed as well it can only
// be deleted or archived: some of it may be gone.
func goes(c store.Cluster) bool {
	return c.Status == store.ClusterDelete || c.Status == store.ClusterDeletionFailed
}

// untouched reports whether no installer ever worked on the cluster. What one has begun is in the state
// even when its task was cleaned away.
func (f *Fleet) untouched(ctx context.Context, tx *store.Tx, cluster store.Cluster) (bool, error) {
	if _, err := tx.ClusterState(ctx, cluster.ID); !notThere(err) {
		return false, err
	}
	tasks, err := tx.TasksOfCluster(ctx, store.TasksOfClusterParams{ClusterID: cluster.ID, PageSize: 100})
	if err != nil {
		return false, err
	}
	for _, task := range tasks {
		if task.StartedAt != nil {
			return false, nil
		}
	}
	return !cluster.WasCreated, nil
}

// stopRunning asks what runs on a cluster to stop at its next phase end, and cancels what waits.
func (f *Fleet) stopRunning(ctx context.Context, tx *store.Tx, clusterID uuid.UUID) error {
	active, err := tx.ActiveTasks(ctx, clusterID)
	if err != nil {
		return err
	}
	for _, task := range active {
		if task.Status == store.TaskRunning && task.Kind != store.TaskDestroy {
			if err := tx.RequestTaskStop(ctx, task.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// ArchiveCluster moves a cluster to the archive without touching what was made for it. It fails
// with Conflict while a task runs on it.
func (f *Fleet) ArchiveCluster(ctx context.Context, actor Actor, id uuid.UUID) (store.Cluster, error) {
	var cluster store.Cluster
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var workspace store.Workspace
		var err error
		if cluster, workspace, err = clusterForUpdate(ctx, tx, actor, ClustersEdit, id); err != nil {
			return err
		}
		switch {
		case cluster.ArchivedAt != nil:
			return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
		case cluster.IsLocked:
			return fault.New(fault.Conflict, "cluster.locked", cluster.Name)
		}
		active, err := tx.ActiveTasks(ctx, id)
		if err != nil {
			return err
		}
		if len(active) > 0 && active[0].Status == store.TaskRunning {
			return fault.New(fault.Conflict, "cluster.task_running", cluster.Name)
		}
		left, items, err := f.leftBehind(ctx, tx, cluster)
		if err != nil {
			return err
		}
		if err := f.archive(ctx, tx, &cluster, store.ClusterDeleted, left, items...); err != nil {
			return err
		}
		if err := f.audit(ctx, tx, actor, change{
			Action: "cluster.archive", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": cluster.Name},
		}); err != nil {
			return err
		}
		for _, task := range active {
			if !Lost(task) {
				continue
			}
			if err := f.auditGivenUp(ctx, tx, actor, task, "cluster.archive"); err != nil {
				return err
			}
		}
		return nil
	})
	return cluster, err
}

// leftBehind says what stays of a cluster that goes to the archive without a clean-up: the key of a
// sentence, empty for nothing, and the names of the machines that its agent saw last.
func (f *Fleet) leftBehind(ctx context.Context, tx *store.Tx, cluster store.Cluster) (string, []string, error) {
	untouched, err := f.untouched(ctx, tx, cluster)
	switch {
	case err != nil || untouched:
		return "", nil, err
	case cluster.Attached:
		return "cluster.left.mark", nil, nil
	}
	report, err := tx.AgentReport(ctx, cluster.ID)
	if notThere(err) {
		return "cluster.left.everything", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	names := make([]string, 0, len(report.Nodes))
	for _, node := range report.Nodes {
		names = append(names, node.Name)
	}
	return "cluster.left.everything", names, nil
}

// archive ends the life of a cluster in Commander: its name is free again, and every key to it is void.
func (f *Fleet) archive(ctx context.Context, tx *store.Tx, cluster *store.Cluster, status store.ClusterStatus, left string, items ...string) error {
	if err := f.endTasks(ctx, tx, cluster.ID); err != nil {
		return err
	}
	if err := tx.ArchiveCluster(ctx, store.ArchiveClusterParams{ID: cluster.ID, Status: status, LeftBehind: left, LeftItems: append(store.Names{}, items...)}); err != nil {
		return fmt.Errorf("archive cluster %s: %w", cluster.ID, err)
	}
	if _, err := tx.RevokeAgentTokens(ctx, cluster.ID); err != nil {
		return err
	}
	if _, err := tx.RevokeKubeTokensOfCluster(ctx, cluster.ID); err != nil {
		return err
	}
	if err := tx.FreeRecordsOf(ctx, store.FreeRecordsOfParams{ClusterID: cluster.ID, Kept: []uuid.UUID{}}); err != nil {
		return fmt.Errorf("free the records of cluster %s: %w", cluster.ID, err)
	}
	if err := tx.FreeParameterValues(ctx, store.FreeParameterValuesParams{ClusterID: cluster.ID, Kept: [][]byte{}}); err != nil {
		return fmt.Errorf("free the unique values of cluster %s: %w", cluster.ID, err)
	}
	if err := tx.DeleteClusterConnection(ctx, cluster.ID); err != nil {
		return err
	}
	if left == "" {
		if err := tx.DeleteClusterState(ctx, cluster.ID); err != nil {
			return err
		}
	}
	now := f.Clock.Now()
	cluster.Status, cluster.ArchivedAt = status, &now
	tx.Changed(store.ClusterTopic(cluster.ID), store.WorkspaceClustersTopic(cluster.WorkspaceID), store.WorkspaceTasksTopic(cluster.WorkspaceID))
	return nil
}

// endTasks closes what still waits on a cluster that goes to the archive.
func (f *Fleet) endTasks(ctx context.Context, tx *store.Tx, clusterID uuid.UUID) error {
	active, err := tx.ActiveTasks(ctx, clusterID)
	if err != nil {
		return err
	}
	for _, task := range active {
		status := store.TaskCancelled
		switch task.Status {
		case store.TaskRunning:
			continue // the one whose end brings the cluster here
		case store.TaskLost, store.TaskLostInCritical:
			status = store.TaskFailed
		}
		if err := f.close(ctx, tx, task, status, "task.cancelled_by_archiving"); err != nil {
			return err
		}
	}
	return nil
}

// notThere turns "no row" into nothing.
func notThere(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
