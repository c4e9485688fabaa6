package fleet

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ClusterChange is a new wanted configuration of a cluster.
type ClusterChange struct {
	// Revision is the one that the change was made from; a stale one is refused.
	Revision          int
	Name              string
	TemplateVersionID uuid.UUID
	Values            store.Values
	// Explicit are keys of values that somebody set although they are the defaults. Other values
	// count as set when they differ from their default.
	Explicit []string
	// Registry is another registry or mode; nil keeps what the cluster has.
	Registry *RegistryChoice
	// KeepErrors saves a configuration with errors when the cluster was not created yet.
	KeepErrors bool
	// Install starts the installation of a cluster that was only saved so far.
	Install bool
}

// ChangeCluster gives a cluster a new wanted configuration and starts the task that brings it
// there: nil when there is nothing to do. It fails with Conflict when somebody changed the
// cluster since Revision or it is being deleted, and with Invalid when the configuration has errors.
func (f *Fleet) ChangeCluster(ctx context.Context, actor Actor, id uuid.UUID, wanted ClusterChange) (store.Cluster, *store.Task, error) {
	before, err := f.cluster(ctx, actor, ClustersEdit, id)
	if err != nil {
		return before, nil, err
	}
	wanted.Name = strings.TrimSpace(wanted.Name)
	version, err := f.versionFor(ctx, before, wanted.TemplateVersionID)
	if err != nil {
		return before, nil, err
	}
	var after store.Cluster
	var task *store.Task
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		after, task, err = f.changeIn(ctx, tx, actor, id, version, wanted)
		return err
	})
	if store.Unique(err, "clusters_name") {
		err = nameTaken(wanted.Name)
	}
	return after, task, err
}

// changeIn is ChangeCluster within a transaction, with a version that the cluster may have.
func (f *Fleet) changeIn(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID, version store.ClusterTemplateVersion, wanted ClusterChange) (after store.Cluster, task *store.Task, err error) {
	cluster, workspace, err := clusterForUpdate(ctx, tx, actor, ClustersEdit, id)
	if err != nil {
		return cluster, nil, err
	}
	if err := changeable(cluster, wanted.Revision); err != nil {
		return cluster, nil, err
	}
	current, err := f.configuration(ctx, tx.Querier, id, cluster.Revision)
	if err != nil {
		return cluster, nil, err
	}
	rendered, err := f.rerender(ctx, tx, cluster, version, wanted.Values, current)
	if err != nil {
		return cluster, nil, err
	}
	found := asFault(rendered.errors)
	if problem := checkName(wanted.Name); problem != nil {
		found.Fields[Name] = *problem
		return cluster, nil, found
	}
	keepErrors := wanted.KeepErrors && !cluster.WasCreated
	if len(rendered.errors) > 0 && !keepErrors {
		return cluster, nil, found
	}
	if after, err = f.saveChange(ctx, tx, actor, workspace, cluster, current, version, wanted.Name, rendered, wanted.Explicit); err != nil {
		return cluster, nil, err
	}
	if wanted.Registry != nil {
		if err := useRegistry(ctx, tx, &after, *wanted.Registry); err != nil {
			return after, nil, err
		}
	}
	task, err = f.afterChange(ctx, tx, actor, &after, current, rendered, wanted.Install)
	return after, task, err
}

func changeable(cluster store.Cluster, revision int) error {
	switch {
	case cluster.ArchivedAt != nil:
		return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
	case goes(cluster):
		return fault.New(fault.Conflict, "cluster.being_deleted", cluster.Name)
	case cluster.Status == store.ClusterDetaching, cluster.Status == store.ClusterReadyToJoin, cluster.Status == store.ClusterJoining:
		return fault.New(fault.Conflict, "cluster.not_now", cluster.Name)
	case cluster.Revision != revision:
		return fault.New(fault.Conflict, "cluster.stale_revision", revision, cluster.Revision)
	}
	return nil
}

func (f *Fleet) rerender(ctx context.Context, tx *store.Tx, cluster store.Cluster, version store.ClusterTemplateVersion, values store.Values, current Configuration) (rendering, error) {
	private, err := f.Store.Keys.Unseal("clusters", "ssh_private_key", cluster.ID, cluster.SshPrivateKey, cluster.SshPrivateKeyKey)
	if err != nil {
		return rendering{}, err
	}
	parameters, err := parametersOf(version)
	if err != nil {
		return rendering{}, err
	}
	id := identity{cluster: cluster.ID, revision: cluster.Revision + 1, keys: sshKeys{cluster.SshPublicKey, string(private)}}
	source := f.source(tx.Querier, cluster.WorkspaceID, cluster.ID, true)
	return f.renderWith(ctx, source, version, values, current.savedFor(parameters), id)
}

func (f *Fleet) saveChange(ctx context.Context, tx *store.Tx, actor Actor, workspace store.Workspace, cluster store.Cluster,
	current Configuration, version store.ClusterTemplateVersion, name string, rendered rendering, explicit []string,
) (store.Cluster, error) {
	status := cluster.Status
	switch {
	case cluster.WasCreated:
	case len(rendered.errors) > 0:
		status = store.ClusterConfigurationError
	case status == store.ClusterConfigurationError:
		status = store.ClusterNew
	}
	after, err := tx.SetClusterConfiguration(ctx, store.SetClusterConfigurationParams{
		ID: cluster.ID, Name: name, Status: status, TemplateVersionID: &version.ID,
	})
	if err != nil {
		return after, fmt.Errorf("change cluster %s: %w", cluster.ID, err)
	}
	row, err := rendered.seal(tx.Keys, version, cluster.ID, after.Revision, actor.Signature())
	if err != nil {
		return after, err
	}
	parameters, err := parametersOf(version)
	if err != nil {
		return after, err
	}
	row.Given = givenKeys(parameters, rendered.values, &current, explicit)
	if _, err := tx.InsertClusterRevision(ctx, row); err != nil {
		return after, fmt.Errorf("write the configuration of cluster %s: %w", cluster.ID, err)
	}
	if err := useRecords(ctx, tx, cluster.ID, rendered.taken); err != nil {
		return after, err
	}
	if err := takeValues(ctx, tx, cluster.WorkspaceID, cluster.ID, parameters, rendered.values); err != nil {
		return after, err
	}
	tx.Changed(store.ClusterTopic(cluster.ID), store.WorkspaceClustersTopic(cluster.WorkspaceID))
	return after, f.audit(ctx, tx, actor, change{
		Action: "cluster.parameters.change", ObjectType: "Cluster", ObjectID: cluster.ID, Workspace: workspace,
		Changes: differences(cluster, after, current.Parameters, row.Parameters),
	})
}

// differences are [old, new] pairs of what changed; secrets are in neither map.
func differences(before, after store.Cluster, old, wanted store.Values) map[string]any {
	pairs := map[string]any{}
	if before.Name != after.Name {
		pairs["name"] = []any{before.Name, after.Name}
	}
	if before.TemplateVersionID == nil || *before.TemplateVersionID != *after.TemplateVersionID {
		pairs["template_version_id"] = []any{before.TemplateVersionID, after.TemplateVersionID}
	}
	for key, value := range wanted {
		if !reflect.DeepEqual(old[key], value) {
			pairs[key] = []any{old[key], value}
		}
	}
	for key, value := range old {
		if _, kept := wanted[key]; !kept {
			pairs[key] = []any{value, nil}
		}
	}
	return pairs
}

// afterChange starts what brings the cluster to its new configuration. A cluster in
// "Configuration error" was meant to be installed, so mending it installs it.
func (f *Fleet) afterChange(ctx context.Context, tx *store.Tx, actor Actor, after *store.Cluster, before Configuration, rendered rendering, install bool) (*store.Task, error) {
	if len(rendered.errors) > 0 {
		return nil, nil
	}
	kind := store.TaskConverge
	if !after.WasCreated {
		mended := len(before.RenderErrors) > 0
		if !install && !mended && after.Status != store.ClusterCreationFailed {
			return nil, nil
		}
		kind = store.TaskBootstrap
	} else if sameInfrastructure(before.Rendering.Real, rendered.both.Real) && after.Status == store.ClusterInSync {
		// Only the agent has something to do, and it looks by itself.
		applied := after.Revision
		err := tx.SetClusterApplied(ctx, store.SetClusterAppliedParams{ID: after.ID, AppliedRevision: &applied})
		return nil, err
	}
	if kind == store.TaskConverge {
		return f.changeNow(ctx, tx, actor, after)
	}
	task, err := f.start(ctx, tx, actor, after, kind)
	return &task, err
}

func sameInfrastructure(a, b store.Rendered) bool {
	return a.ClusterConfiguration == b.ClusterConfiguration && a.ProviderConfiguration == b.ProviderConfiguration
}

// InstallCluster starts the installation of a cluster that was saved without it.
func (f *Fleet) InstallCluster(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	return f.startOn(ctx, actor, id, store.TaskBootstrap, func(c store.Cluster) bool {
		return !c.WasCreated && (c.Status == store.ClusterNew || c.Status == store.ClusterCreationFailed)
	})
}

// Converge starts a task that brings a cluster to its wanted configuration, whether or not a
// difference is known.
func (f *Fleet) Converge(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	return f.startOn(ctx, actor, id, store.TaskConverge, func(c store.Cluster) bool {
		return c.WasCreated && !goes(c) && c.Status != store.ClusterDetaching
	})
}

func (f *Fleet) startOn(ctx context.Context, actor Actor, id uuid.UUID, kind store.TaskKind, fits func(store.Cluster) bool) (store.Task, error) {
	var task store.Task
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		cluster, workspace, err := clusterForUpdate(ctx, tx, actor, ClustersEdit, id)
		if err != nil {
			return err
		}
		if cluster.ArchivedAt != nil || !fits(cluster) {
			return fault.New(fault.Conflict, "cluster.not_now", cluster.Name)
		}
		if task, err = f.start(ctx, tx, actor, &cluster, kind); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, change{
			Action: "cluster." + string(kind), ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"task": task.ID},
		})
	})
	return task, err
}
