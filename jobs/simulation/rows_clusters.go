package simulation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/fleet"
	"commander/store"
)

// The queries about clusters that the task machine asks, over rows.

func (r *rows) Workspace(context.Context, uuid.UUID) (store.Workspace, error) {
	return r.workspace, nil
}

func (r *rows) Template(context.Context, uuid.UUID) (store.ClusterTemplate, error) {
	return r.template, nil
}

func (r *rows) TemplateVersion(context.Context, uuid.UUID) (store.ClusterTemplateVersion, error) {
	return r.version, nil
}

func (r *rows) InsertCluster(_ context.Context, p store.InsertClusterParams) (store.Cluster, error) {
	cluster := store.Cluster{
		ID: p.ID, WorkspaceID: p.WorkspaceID, Name: p.Name, TemplateVersionID: p.TemplateVersionID, ClusterType: p.ClusterType, Status: p.Status,
		Revision: 1, SyncMode: store.SyncAuto, CheckIntervalMinutes: 1, SshPublicKey: p.SshPublicKey, SshPrivateKey: p.SshPrivateKey,
		SshPrivateKeyKey: p.SshPrivateKeyKey, CreatedAt: r.now, ChangedAt: r.now,
	}
	r.clusters.insert(cluster)
	return cluster, nil
}

func clusterOf(id uuid.UUID) func(*store.Cluster) bool {
	return func(c *store.Cluster) bool { return c.ID == id }
}

func (r *rows) cluster(id uuid.UUID) *store.Cluster { return r.clusters.find(clusterOf(id)) }

func (r *rows) Cluster(_ context.Context, id uuid.UUID) (store.Cluster, error) {
	return read(r.cluster(id))
}

func (r *rows) ClusterForUpdate(ctx context.Context, id uuid.UUID) (store.Cluster, error) {
	return r.Cluster(ctx, id)
}

func (r *rows) ClusterOfTaskForUpdate(ctx context.Context, task uuid.UUID) (store.Cluster, error) {
	of := r.task(task)
	if of == nil {
		return store.Cluster{}, pgx.ErrNoRows
	}
	return r.Cluster(ctx, of.ClusterID)
}

func (r *rows) set(id uuid.UUID, change func(c *store.Cluster)) error {
	cluster := r.clusters.change(clusterOf(id))
	from := cluster.Status
	if change(cluster); cluster.Status != from && !fleet.ClusterCanBecome(from, cluster.Status) {
		r.forbidden = fmt.Sprintf("cluster %s goes from %s to %s", cluster.Name, from, cluster.Status)
	}
	cluster.ChangedAt = r.now
	return nil
}

func (r *rows) SetClusterStatus(_ context.Context, p store.SetClusterStatusParams) error {
	return r.set(p.ID, func(c *store.Cluster) { c.Status = p.Status })
}

func (r *rows) SetClusterConfiguration(_ context.Context, p store.SetClusterConfigurationParams) (store.Cluster, error) {
	err := r.set(p.ID, func(c *store.Cluster) {
		c.Name, c.TemplateVersionID, c.Status = p.Name, p.TemplateVersionID, p.Status
		c.Revision++
	})
	return *r.cluster(p.ID), err
}

func (r *rows) SetClusterApplied(_ context.Context, p store.SetClusterAppliedParams) error {
	now := r.now
	return r.set(p.ID, func(c *store.Cluster) {
		c.AppliedRevision, c.AppliedAt, c.CheckedAt, c.WasCreated = p.AppliedRevision, &now, &now, true
	})
}

func (r *rows) SetClusterChecked(_ context.Context, id uuid.UUID) error {
	now := r.now
	return r.set(id, func(c *store.Cluster) { c.CheckedAt = &now })
}

func (r *rows) SetDestructiveChange(_ context.Context, p store.SetDestructiveChangeParams) error {
	return r.set(p.ID, func(c *store.Cluster) { c.DestructiveChangeID = p.DestructiveChangeID })
}

func (r *rows) ArchiveCluster(_ context.Context, p store.ArchiveClusterParams) error {
	now := r.now
	return r.set(p.ID, func(c *store.Cluster) { c.Status, c.LeftBehind, c.ArchivedAt = p.Status, p.LeftBehind, &now })
}

// ClustersDueForCheck leaves out whoever waits for a window: nobody has any here.
func (r *rows) ClustersDueForCheck(_ context.Context, batch int) ([]uuid.UUID, error) {
	var due []*store.Cluster
	for _, c := range r.clusters.rows {
		fits := c.ArchivedAt == nil && c.WasCreated && (c.Status == store.ClusterPendingChanges && c.SyncMode == store.SyncAuto ||
			slices.Contains([]store.ClusterStatus{store.ClusterInSync, store.ClusterUnknown, store.ClusterSynchronizationFailure}, c.Status))
		if !fits || c.CheckedAt != nil && !c.CheckedAt.Before(r.now.Add(-time.Duration(c.CheckIntervalMinutes)*time.Minute)) {
			continue
		}
		if r.tasks.find(func(t *store.Task) bool { return t.ClusterID == c.ID && is(t.Status, active...) }) == nil {
			due = append(due, c)
		}
	}
	next := func(c *store.Cluster) time.Time {
		return moment(c.CheckedAt).Add(time.Duration(c.CheckIntervalMinutes) * time.Minute)
	}
	slices.SortStableFunc(due, func(a, b *store.Cluster) int { return next(a).Compare(next(b)) })
	ids := []uuid.UUID{}
	for _, c := range due[:min(batch, len(due))] {
		ids = append(ids, c.ID)
	}
	return ids, nil
}

func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func (r *rows) InsertClusterRevision(_ context.Context, p store.InsertClusterRevisionParams) (store.ClusterRevision, error) {
	row := store.ClusterRevision{
		ID: p.ID, ClusterID: p.ClusterID, Revision: p.Revision, TemplateVersionID: p.TemplateVersionID, Parameters: p.Parameters,
		SecretParameters: p.SecretParameters, SecretParametersKey: p.SecretParametersKey, Rendered: p.Rendered, RenderedKey: p.RenderedKey,
		RenderErrors: p.RenderErrors, CreatedBy: p.CreatedBy, CreatedAt: r.now, Given: p.Given,
	}
	r.revisions.insert(row)
	return row, nil
}

func (r *rows) ClusterRevision(_ context.Context, p store.ClusterRevisionParams) (store.ClusterRevision, error) {
	return read(r.revisions.find(func(c *store.ClusterRevision) bool { return c.ClusterID == p.ClusterID && c.Revision == p.Revision }))
}

func stateOf(cluster uuid.UUID) func(*store.ClusterState) bool {
	return func(s *store.ClusterState) bool { return s.ClusterID == cluster }
}

func (r *rows) ClusterState(_ context.Context, cluster uuid.UUID) (store.ClusterState, error) {
	return read(r.states.find(stateOf(cluster)))
}

func (r *rows) SetClusterState(_ context.Context, p store.SetClusterStateParams) error {
	r.states.delete(stateOf(p.ClusterID))
	r.states.insert(store.ClusterState{
		ClusterID: p.ClusterID, State: p.State, StateKey: p.StateKey, TaskID: p.TaskID, Attempt: p.Attempt, Phase: p.Phase, WrittenAt: r.now,
	})
	return nil
}

func (r *rows) DeleteClusterState(_ context.Context, cluster uuid.UUID) error {
	r.states.delete(stateOf(cluster))
	return nil
}

// What the rules write beside and the machine never reads: only audits are kept, to compare how runs end.

func (r *rows) InsertAudit(_ context.Context, p store.InsertAuditParams) error {
	r.audits.insert(p)
	return nil
}

func (r *rows) InsertAgentToken(context.Context, store.InsertAgentTokenParams) (store.AgentToken, error) {
	return store.AgentToken{}, nil
}

func (r *rows) RevokeOlderAgentTokens(context.Context, uuid.UUID) (int64, error) { return 0, nil }

func (r *rows) RevokeAgentTokens(context.Context, uuid.UUID) (int64, error) { return 0, nil }

func (r *rows) RevokeKubeTokensOfCluster(context.Context, uuid.UUID) (int64, error) { return 0, nil }

func (r *rows) FreeRecordsOf(context.Context, store.FreeRecordsOfParams) error { return nil }

func (r *rows) FreeParameterValues(context.Context, store.FreeParameterValuesParams) error {
	return nil
}

func (r *rows) SetClusterCheck(context.Context, store.SetClusterCheckParams) error { return nil }

func (r *rows) DeleteClusterCheck(context.Context, uuid.UUID) error { return nil }

func (r *rows) DeleteClusterConnection(context.Context, uuid.UUID) error { return nil }

// Nobody has windows, wants to be told, or is reached by a kubeconfig here.

func (r *rows) ChannelsForEvent(context.Context, store.ChannelsForEventParams) ([]store.NotificationChannel, error) {
	return nil, nil
}

func (r *rows) ClusterConnection(context.Context, uuid.UUID) (store.ClusterConnection, error) {
	return store.ClusterConnection{}, pgx.ErrNoRows
}

func (r *rows) MaintenanceWindowsFor(context.Context, uuid.UUID) ([]store.MaintenanceWindow, error) {
	return nil, nil
}
