package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/render"
	"commander/internal/fault"
	"commander/store"
)

// AttachCluster tests the connection to a cluster that was not made here and saves it as ready to
// join: nothing in it is touched. It fails with Invalid when the name cannot be used or the
// cluster cannot be reached, and with Conflict when another Commander owns it.
func (f *Fleet) AttachCluster(ctx context.Context, actor Actor, workspaceID uuid.UUID, name, kubeconfig string, nonce *uuid.UUID) (store.Cluster, error) {
	var cluster store.Cluster
	if err := Allowed(actor, ClustersEdit, workspaceID); err != nil {
		return cluster, err
	}
	name = strings.TrimSpace(name)
	if problem := checkName(name); problem != nil {
		return cluster, fault.Fields(map[string]fault.Message{Name: *problem})
	}
	to, err := readKubeconfig(kubeconfig)
	if err != nil {
		return cluster, err
	}
	found, err := to.test(ctx)
	if err != nil {
		return cluster, err
	}
	if found.owner != "" {
		return cluster, f.owned(ctx, actor, found.owner)
	}
	keys, err := newSSHKeys()
	if err != nil {
		return cluster, err
	}
	id := uuid.New()
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		if nonce != nil {
			if cluster, err = tx.ClusterByNonce(ctx, nonce); err == nil {
				return nil // the form was sent twice
			}
		}
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		row := store.InsertClusterParams{
			ID: id, WorkspaceID: workspaceID, Name: name, ClusterType: "static", Status: store.ClusterReadyToJoin,
			SshPublicKey: keys.public, FormNonce: nonce,
		}
		row.SshPrivateKey, row.SshPrivateKeyKey = tx.Keys.Seal("clusters", "ssh_private_key", id, []byte(keys.private))
		if cluster, err = tx.InsertCluster(ctx, row); err != nil {
			return fmt.Errorf("write cluster %s: %w", name, err)
		}
		if err := tx.SetClusterAttached(ctx, id); err != nil {
			return err
		}
		cluster.Attached = true
		if err := f.putDocuments(ctx, tx, id, 1, store.Actual{}, actor.Signature()); err != nil {
			return err
		}
		sealed, key := tx.Keys.Seal("cluster_connections", "kubeconfig", id, to.kubeconfig())
		if err := tx.SetClusterConnection(ctx, store.SetClusterConnectionParams{
			ClusterID: id, Kubeconfig: sealed, KubeconfigKey: key, Server: to.server, Version: found.version,
		}); err != nil {
			return fmt.Errorf("write the connection of cluster %s: %w", id, err)
		}
		tx.Changed(store.WorkspaceClustersTopic(workspaceID), store.ClusterTopic(id))
		return f.audit(ctx, tx, actor, change{
			Action: "cluster.attach", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": name, "server": to.server},
		})
	})
	if store.Unique(err, "clusters_name") {
		err = nameTaken(name)
	}
	return cluster, err
}

// owned says whose a cluster is that bears a mark: this Commander's, when the actor may know it.
func (f *Fleet) owned(ctx context.Context, actor Actor, owner string) error {
	if id, err := uuid.Parse(owner); err == nil {
		if known, err := f.cluster(ctx, actor, ClustersView, id); err == nil {
			if known.ArchivedAt == nil {
				return badKubeconfig("attach.already_here", known.Name)
			}
			return badKubeconfig("attach.marked_by_archived", known.Name)
		}
	}
	return badKubeconfig("attach.owned", owner)
}

// putDocuments writes a configuration that no template made: the documents of the cluster itself.
func (f *Fleet) putDocuments(ctx context.Context, tx *store.Tx, id uuid.UUID, revision int, documents store.Actual, by string) error {
	normal := func(text string) string {
		if out, err := render.Normalise(text); err == nil {
			return out
		}
		return text // as it is: a check says what is wrong with it
	}
	real := store.Rendered{ClusterConfiguration: normal(documents.ClusterConfiguration), ProviderConfiguration: normal(documents.ProviderConfiguration)}
	r := rendering{values: store.Values{}, both: store.Rendering{Real: real, Shown: maskActual(documents, Configuration{})}}
	row, err := r.seal(tx.Keys, store.ClusterTemplateVersion{Params: json.RawMessage("[]")}, id, revision, by)
	if err != nil {
		return err
	}
	row.TemplateVersionID = nil
	if _, err := tx.InsertClusterRevision(ctx, row); err != nil {
		return fmt.Errorf("write the configuration of cluster %s: %w", id, err)
	}
	return nil
}

// JoinCluster starts taking over a cluster that is ready to join.
func (f *Fleet) JoinCluster(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	return f.startOn(ctx, actor, id, store.TaskAttach, func(c store.Cluster) bool { return c.Status == store.ClusterReadyToJoin })
}

// DetachCluster starts releasing a cluster: the agent and the mark are removed, and it runs on by
// itself. It fails with Conflict when the cluster was never installed or is being deleted.
func (f *Fleet) DetachCluster(ctx context.Context, actor Actor, id uuid.UUID) (store.Task, error) {
	return f.startOn(ctx, actor, id, store.TaskDetach, func(c store.Cluster) bool {
		return c.WasCreated && !c.IsLocked && ClusterCanBecome(c.Status, store.ClusterDetaching)
	})
}

// afterAttach makes the documents that were found the configuration of the cluster.
func (f *Fleet) afterAttach(ctx context.Context, tx *store.Tx, task store.Task, cluster *store.Cluster, end Ending) error {
	documents := store.Actual{}
	if end.Actual != nil {
		documents = *end.Actual
	}
	after, err := tx.SetClusterConfiguration(ctx, store.SetClusterConfigurationParams{ID: cluster.ID, Name: cluster.Name, Status: cluster.Status})
	if err != nil {
		return fmt.Errorf("change cluster %s: %w", cluster.ID, err)
	}
	if err := f.putDocuments(ctx, tx, cluster.ID, after.Revision, documents, task.CreatedBy); err != nil {
		return err
	}
	// The state says from now on how the cluster is reached.
	if err := tx.DeleteClusterConnection(ctx, cluster.ID); err != nil {
		return err
	}
	cluster.Revision = after.Revision
	applied := after.Revision
	if err := tx.SetClusterApplied(ctx, store.SetClusterAppliedParams{ID: cluster.ID, AppliedRevision: &applied}); err != nil {
		return err
	}
	cluster.WasCreated = true
	return f.move(ctx, tx, cluster, store.ClusterInSync)
}
