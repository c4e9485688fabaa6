package fleet

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/fleet/upgrade"
	"commander/internal/fault"
	"commander/store"
)

// Upgrade is what moving a cluster to another version of a template would make of it.
type Upgrade struct {
	Cluster store.Cluster
	// From is nil when the cluster has no template.
	From *store.ClusterTemplateVersion
	To   store.ClusterTemplateVersion
	// Schema is that of To, for the controls of what is asked.
	Schema schema.Schema
	// Items are what becomes of each parameter. Secrets are masks.
	Items []upgrade.Item
	// Open are the keys that must be answered and are not.
	Open []string
	// Before and After have masks in place of secrets. Errors keep After from being applied.
	Before, After store.Rendered
	Errors        store.RenderErrors

	unique []uniqueValue // that the cluster would have
	picked []uuid.UUID   // exclusive records that it would use
}

// Ready reports whether the move can be made.
func (u Upgrade) Ready() bool { return len(u.Open) == 0 && len(u.Errors) == 0 }

// problem says why a parameter is open.
func (u Upgrade) problem(key string) fault.Message {
	for _, item := range u.Items {
		if item.Key == key && item.Problem != nil {
			return *item.Problem
		}
	}
	return fault.Message{Key: "parameter.required"}
}

// UpgradeChoice is a move that a person has seen the list of.
type UpgradeChoice struct {
	// Revision is that of the cluster that the list was made from; a stale one is refused.
	Revision  int
	VersionID uuid.UUID
	// Answers are values for what is asked or in conflict, and instead of any other; an empty one
	// leaves out a parameter that may be left out.
	Answers store.Values
}

// merged is a merge with the answers of a person in it.
type merged struct {
	upgrade.Result
	open []string
}

func merge(current Configuration, old, next schema.Schema, answers store.Values) merged {
	m := merged{Result: upgrade.Merge(upgrade.Input{Old: old, New: next, Values: current.Values, Given: current.GivenKeys()})}
	for _, key := range m.Open() {
		if _, answered := answers[key]; !answered {
			m.open = append(m.open, key)
		}
	}
	for key, value := range answers {
		m.Given = slices.DeleteFunc(m.Given, func(k string) bool { return k == key })
		if schema.Empty(value) {
			delete(m.Values, key)
			continue
		}
		m.Values[key], m.Given = value, append(m.Given, key)
	}
	for i, item := range m.Items {
		if answer, is := answers[item.Key]; is && item.Outcome != upgrade.Removed {
			m.Items[i].New = answer
			if f := field(next, item.Key); f != nil {
				m.Items[i].New = f.Shown(answer)
			}
		}
	}
	return m
}

func field(s schema.Schema, key string) *schema.Field {
	for _, f := range s.Fields() {
		if f.Key == key {
			return f
		}
	}
	return nil
}

// problems say what keeps a merge from being made, by parameter.
func (m merged) problems() map[string]fault.Message {
	out := map[string]fault.Message{}
	for _, key := range m.open {
		out[ValueField(key)] = Upgrade{Items: m.Items}.problem(key)
	}
	return out
}

// schemas reads those of the version that a cluster has, if any, and of the one that it is to have.
func schemas(ctx context.Context, q store.Querier, cluster store.Cluster, to store.ClusterTemplateVersion) (from *store.ClusterTemplateVersion, old, next schema.Schema, err error) {
	if next, err = parametersOf(to); err != nil {
		return nil, nil, nil, err
	}
	if cluster.TemplateVersionID == nil {
		return nil, nil, next, nil
	}
	version, err := q.TemplateVersion(ctx, *cluster.TemplateVersionID)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("read the template of cluster %s: %w", cluster.ID, store.AsFault(err))
	}
	old, err = parametersOf(version)
	return &version, old, next, err
}

// PreviewUpgrade tells what a move to a version would make of a cluster. Nothing is changed. It fails
// with Conflict when the cluster has the version already, and with Invalid when it may not have it.
func (f *Fleet) PreviewUpgrade(ctx context.Context, actor Actor, id, versionID uuid.UUID, answers store.Values) (Upgrade, error) {
	cluster, err := f.cluster(ctx, actor, ClustersView, id)
	if err != nil {
		return Upgrade{}, err
	}
	return f.previewUpgrade(ctx, actor, cluster, versionID, answers, newPromises())
}

// previewUpgrade is PreviewUpgrade of a cluster that the actor may see, after others that were
// promised something.
func (f *Fleet) previewUpgrade(ctx context.Context, actor Actor, cluster store.Cluster, versionID uuid.UUID, answers store.Values, promised *promises) (out Upgrade, err error) {
	out.Cluster = cluster
	if out.To, err = f.upgradeTo(ctx, cluster, versionID); err != nil {
		return out, err
	}
	var old schema.Schema
	if out.From, old, out.Schema, err = schemas(ctx, f.Store.Querier, cluster, out.To); err != nil {
		return out, err
	}
	current, err := f.configuration(ctx, f.Store.Querier, cluster.ID, cluster.Revision)
	if err != nil {
		return out, err
	}
	m := merge(current, old, out.Schema, answers)
	identity := identity{cluster: cluster.ID, revision: cluster.Revision + 1, keys: sshKeys{public: cluster.SshPublicKey}}
	source := f.source(f.Store.Querier, cluster.WorkspaceID, cluster.ID, false)
	source.promised = promised.records
	rendered, err := f.renderWith(ctx, source, out.To, m.Values, current.savedFor(out.Schema), identity)
	if err != nil {
		return out, err
	}
	out.Items, out.Open = showRecords(m.Items, out.Schema, current.Shown, rendered.records), m.open
	out.Before, out.After, out.Errors = current.Rendering.Shown, rendered.both.Shown, rendered.errors
	for _, t := range rendered.taken {
		if t.exclusive {
			out.picked = append(out.picked, t.ID)
		}
	}
	taken, err := f.takenValues(ctx, actor, cluster.WorkspaceID, cluster.ID, out.To, rendered.values, promised)
	out.unique, out.Errors = taken.wanted, append(out.Errors, taken.problems...)
	return out, err
}

// showRecords puts records into the list as people may see them, before and after: what the
// inventory picked is among those.
func showRecords(items []upgrade.Item, next schema.Schema, before, after store.Values) []upgrade.Item {
	for i, item := range items {
		if item.Record {
			items[i].Old = before[item.Key]
		}
		if f := field(next, item.Key); f != nil && f.Catalog != "" {
			items[i].New = after[item.Key]
		}
	}
	return items
}

// upgradeTo reads a version that a cluster does not have and may have.
func (f *Fleet) upgradeTo(ctx context.Context, cluster store.Cluster, versionID uuid.UUID) (store.ClusterTemplateVersion, error) {
	if err := notOn(cluster, versionID); err != nil {
		return store.ClusterTemplateVersion{}, err
	}
	return f.usableVersion(ctx, cluster.WorkspaceID, versionID)
}

func notOn(cluster store.Cluster, versionID uuid.UUID) error {
	if cluster.TemplateVersionID != nil && *cluster.TemplateVersionID == versionID {
		return fault.New(fault.Conflict, "cluster.upgrade.same", cluster.Name)
	}
	return nil
}

// UpgradeCluster moves a cluster to another version of a template, or to another template: what
// somebody set stays, defaults follow. It returns the task that applies it, nil when there is nothing
// to apply. It fails with Conflict when somebody changed the cluster since Revision, and with Invalid
// and the problem of each parameter that is open or not valid.
func (f *Fleet) UpgradeCluster(ctx context.Context, actor Actor, id uuid.UUID, wanted UpgradeChoice) (after store.Cluster, task *store.Task, err error) {
	before, err := f.cluster(ctx, actor, ClustersEdit, id)
	if err != nil {
		return before, nil, err
	}
	version, err := f.upgradeTo(ctx, before, wanted.VersionID)
	if err != nil {
		return before, nil, err
	}
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		after, task, err = f.upgradeIn(ctx, tx, actor, id, version, wanted)
		return err
	})
	return after, task, err
}

// upgradeIn is UpgradeCluster within a transaction, to a version that may be used.
func (f *Fleet) upgradeIn(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID, version store.ClusterTemplateVersion, wanted UpgradeChoice) (store.Cluster, *store.Task, error) {
	cluster, _, err := clusterForUpdate(ctx, tx, actor, ClustersEdit, id)
	if err != nil {
		return cluster, nil, err
	}
	if err := changeable(cluster, wanted.Revision); err != nil {
		return cluster, nil, err
	}
	if err := notOn(cluster, version.ID); err != nil {
		return cluster, nil, err
	}
	_, old, next, err := schemas(ctx, tx.Querier, cluster, version)
	if err != nil {
		return cluster, nil, err
	}
	current, err := f.configuration(ctx, tx.Querier, id, cluster.Revision)
	if err != nil {
		return cluster, nil, err
	}
	m := merge(current, old, next, wanted.Answers)
	if len(m.open) > 0 {
		return cluster, nil, fault.Fields(m.problems())
	}
	return f.changeIn(ctx, tx, actor, id, version, ClusterChange{
		Revision: wanted.Revision, Name: cluster.Name, TemplateVersionID: version.ID, Values: m.Values, Explicit: m.Given,
	})
}

// UsableVersions are the versions of a workspace that clusters may get.
func (f *Fleet) UsableVersions(ctx context.Context, actor Actor, workspaceID uuid.UUID) ([]store.UsableVersionsRow, error) {
	if err := Allowed(actor, TemplatesView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.UsableVersions(ctx, workspaceID)
	return rows, store.AsFault(err)
}
