package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/crypto/ssh"

	"commander/internal/fault"
	"commander/store"
)

// NewCluster is what a person or program asks for.
type NewCluster struct {
	WorkspaceID       uuid.UUID
	Name              string
	TemplateVersionID uuid.UUID
	Values            store.Values
	// Explicit are keys of values that somebody set although they are the defaults.
	Explicit []string
	// RegistryID is where the platform comes from; nil for the installation's own. RegistryMode
	// is RegistryDirect when it is empty.
	RegistryID   *uuid.UUID
	RegistryMode string
	Labels       store.Labels
	// Nonce is that of the form, so that a double submit makes one cluster. Nil for the API.
	Nonce *uuid.UUID
	// Install starts the installation; without it the cluster is only saved.
	Install bool
	// KeepErrors saves a cluster whose configuration has errors, as "Configuration error" and
	// without a task; without it errors are returned and nothing is saved.
	KeepErrors bool
}

var clusterName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$`)

func checkName(name string) *fault.Message {
	switch {
	case name == "":
		return &fault.Message{Key: "cluster.name.required"}
	case !clusterName.MatchString(name):
		return &fault.Message{Key: "cluster.name.invalid"}
	}
	return nil
}

// Name is the key under which problems with the name of a cluster are told.
const Name = "name"

// CreateCluster saves a cluster and, when asked to and when its configuration is sound, starts the
// installation; the task is nil otherwise. It fails with Invalid and the problem of each field
// when the name cannot be used, or when the configuration has errors and KeepErrors is not set.
func (f *Fleet) CreateCluster(ctx context.Context, actor Actor, wanted NewCluster) (store.Cluster, *store.Task, error) {
	if err := Allowed(actor, ClustersEdit, wanted.WorkspaceID); err != nil {
		return store.Cluster{}, nil, err
	}
	version, err := f.usableVersion(ctx, wanted.WorkspaceID, wanted.TemplateVersionID)
	if err != nil {
		return store.Cluster{}, nil, err
	}
	if err := checkLabels(wanted.Labels); err != nil {
		return store.Cluster{}, nil, err
	}
	parameters, err := parametersOf(version)
	if err != nil {
		return store.Cluster{}, nil, err
	}
	wanted.Name = strings.TrimSpace(wanted.Name)
	keys, err := newSSHKeys()
	if err != nil {
		return store.Cluster{}, nil, err
	}
	id := uuid.New()
	var cluster store.Cluster
	var task *store.Task
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		task = nil
		if wanted.Nonce != nil {
			cluster, err = tx.ClusterByNonce(ctx, wanted.Nonce)
			if err == nil {
				return f.repeatOfCreation(ctx, tx, cluster, &task)
			}
		}
		workspace, err := tx.Workspace(ctx, wanted.WorkspaceID)
		if err != nil {
			return err
		}
		// Rendered in the transaction that takes the records, so that both are of one moment.
		source := f.source(tx.Querier, workspace.ID, id, true)
		rendered, err := f.renderWith(ctx, source, version, wanted.Values, nil, identity{cluster: id, revision: 1, keys: keys})
		if err != nil {
			return err
		}
		if problem := checkName(wanted.Name); problem != nil {
			found := asFault(rendered.errors)
			found.Fields[Name] = *problem
			return found
		}
		if len(rendered.errors) > 0 && !wanted.KeepErrors {
			return asFault(rendered.errors)
		}
		cluster, err = insertCluster(ctx, tx, id, wanted, version, rendered, keys)
		if err != nil {
			return err
		}
		if wanted.RegistryID != nil || wanted.RegistryMode != "" {
			if err := useRegistry(ctx, tx, &cluster, RegistryChoice{wanted.RegistryID, wanted.RegistryMode}); err != nil {
				return err
			}
		}
		if len(wanted.Labels) > 0 {
			cluster.Labels = wanted.Labels
			if err := tx.SetClusterLabels(ctx, store.SetClusterLabelsParams{ID: id, Labels: wanted.Labels}); err != nil {
				return fmt.Errorf("write the labels of cluster %s: %w", id, err)
			}
		}
		row, err := rendered.seal(tx.Keys, version, id, 1, actor.Signature())
		if err != nil {
			return err
		}
		row.Given = givenKeys(parameters, rendered.values, nil, wanted.Explicit)
		if _, err := tx.InsertClusterRevision(ctx, row); err != nil {
			return fmt.Errorf("write the configuration of cluster %s: %w", id, err)
		}
		if err := useRecords(ctx, tx, id, rendered.taken); err != nil {
			return err
		}
		if err := takeValues(ctx, tx, workspace.ID, id, parameters, rendered.values); err != nil {
			return err
		}
		if err := f.audit(ctx, tx, actor, change{
			Action: "cluster.create", ObjectType: "Cluster", ObjectID: id, Workspace: workspace,
			Changes: map[string]any{"name": cluster.Name, "template_version": version.Number, "values": row.Parameters},
		}); err != nil {
			return err
		}
		tx.Changed(store.WorkspaceClustersTopic(workspace.ID), store.ClusterTopic(id))
		if !wanted.Install || len(rendered.errors) > 0 {
			return nil
		}
		started, err := f.start(ctx, tx, actor, &cluster, store.TaskBootstrap)
		task = &started
		return err
	})
	if store.Unique(err, "clusters_name") {
		return store.Cluster{}, nil, nameTaken(wanted.Name)
	}
	return cluster, task, err
}

func nameTaken(name string) *fault.Error {
	return fault.Fields(map[string]fault.Message{Name: {Key: "cluster.name.taken", Args: []any{name}}})
}

// repeatOfCreation answers a form that was sent twice with what the first sending made.
func (f *Fleet) repeatOfCreation(ctx context.Context, tx *store.Tx, cluster store.Cluster, task **store.Task) error {
	tasks, err := tx.TasksOfCluster(ctx, store.TasksOfClusterParams{ClusterID: cluster.ID, PageSize: 1})
	if err == nil && len(tasks) > 0 {
		*task = &tasks[0]
	}
	return err
}

func insertCluster(ctx context.Context, tx *store.Tx, id uuid.UUID, wanted NewCluster, version store.ClusterTemplateVersion, r rendering, keys sshKeys) (store.Cluster, error) {
	row := store.InsertClusterParams{
		ID: id, WorkspaceID: wanted.WorkspaceID, Name: wanted.Name, TemplateVersionID: &version.ID,
		ClusterType: clusterType(r.both.Real), Status: store.ClusterNew, SshPublicKey: keys.public, FormNonce: wanted.Nonce,
	}
	if len(r.errors) > 0 {
		row.Status = store.ClusterConfigurationError
	}
	row.SshPrivateKey, row.SshPrivateKeyKey = tx.Keys.Seal("clusters", "ssh_private_key", id, []byte(keys.private))
	cluster, err := tx.InsertCluster(ctx, row)
	if err != nil {
		return cluster, fmt.Errorf("write cluster %s: %w", wanted.Name, err)
	}
	return cluster, nil
}

func clusterType(rendered store.Rendered) string {
	if strings.Contains(rendered.ClusterConfiguration, "clusterType: Static") {
		return "static"
	}
	return "cloud"
}

// newSSHKeys makes the pair of a cluster in OpenSSH's formats.
func newSSHKeys() (sshKeys, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return sshKeys{}, fmt.Errorf("make SSH keys: %w", err)
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return sshKeys{}, fmt.Errorf("make SSH keys: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, "commander")
	if err != nil {
		return sshKeys{}, fmt.Errorf("make SSH keys: %w", err)
	}
	return sshKeys{
		public:  strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + " commander",
		private: string(pem.EncodeToMemory(block)),
	}, nil
}

// Preview is what a form would make, for people to read while they fill it.
type Preview struct {
	Shown  store.Rendered
	Errors store.RenderErrors
	// Records are the values of the fields that have records, those that were picked among them.
	Records store.Values
}

// PreviewCluster renders a form that is being filled. clusterID is nil for a new cluster;
// otherwise masks stand for what the cluster has saved.
func (f *Fleet) PreviewCluster(ctx context.Context, actor Actor, workspaceID, versionID uuid.UUID, clusterID *uuid.UUID, values store.Values) (Preview, error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return Preview{}, err
	}
	version, err := f.version(ctx, workspaceID, versionID)
	if err != nil {
		return Preview{}, err
	}
	parameters, err := parametersOf(version)
	if err != nil {
		return Preview{}, err
	}
	id := identity{keys: sshKeys{public: "ssh-ed25519 …", private: "…"}}
	var saved store.Values
	if clusterID != nil {
		cluster, err := f.cluster(ctx, actor, ClustersView, *clusterID)
		if err != nil {
			return Preview{}, err
		}
		current, err := f.configuration(ctx, f.Store.Querier, cluster.ID, cluster.Revision)
		if err != nil {
			return Preview{}, err
		}
		saved, id = current.savedFor(parameters), identity{cluster: cluster.ID, revision: cluster.Revision + 1, keys: sshKeys{public: cluster.SshPublicKey}}
	}
	rendered, err := f.renderWith(ctx, f.source(f.Store.Querier, workspaceID, id.cluster, false), version, values, saved, id)
	if err != nil {
		return Preview{}, err
	}
	taken, err := f.takenValues(ctx, actor, workspaceID, id.cluster, version, rendered.values, newPromises())
	return Preview{Shown: rendered.both.Shown, Errors: append(rendered.errors, taken.problems...), Records: rendered.records}, err
}

// cluster reads a cluster that the actor may see and checks the permission.
func (f *Fleet) cluster(ctx context.Context, actor Actor, p Permission, id uuid.UUID) (store.Cluster, error) {
	cluster, err := f.Store.Cluster(ctx, id)
	if err != nil {
		return cluster, store.AsFault(err)
	}
	return cluster, Allowed(actor, p, cluster.WorkspaceID)
}

// clusterForUpdate locks a cluster in a transaction, after checking the permission.
func clusterForUpdate(ctx context.Context, tx *store.Tx, actor Actor, p Permission, id uuid.UUID) (store.Cluster, store.Workspace, error) {
	cluster, err := tx.ClusterForUpdate(ctx, id)
	if err != nil {
		return cluster, store.Workspace{}, err
	}
	if err := Allowed(actor, p, cluster.WorkspaceID); err != nil {
		return cluster, store.Workspace{}, err
	}
	workspace, err := tx.Workspace(ctx, cluster.WorkspaceID)
	return cluster, workspace, err
}
