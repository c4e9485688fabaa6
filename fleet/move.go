package fleet

import (
	"context"
	"fmt"
	"reflect"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// Move is what goes along with a cluster to another workspace.
type Move struct {
	// Moved and Copied are records of the inventory by their labels; Made are catalogs, by their
	// slugs, that the other workspace does not have yet.
	Moved, Copied, Made []string
}

// PlanMove says what would go along with a cluster.
func (f *Fleet) PlanMove(ctx context.Context, actor Actor, id, to uuid.UUID) (Move, error) {
	var plan Move
	cluster, err := f.cluster(ctx, actor, ClustersEdit, id)
	if err != nil {
		return plan, err
	}
	if err := Allowed(actor, ClustersEdit, to); err != nil {
		return plan, err
	}
	rows, err := f.Store.RecordsOfCluster(ctx, cluster.ID)
	if err != nil {
		return plan, store.AsFault(err)
	}
	made := map[string]bool{}
	for _, row := range rows {
		if row.Catalog.Exclusive {
			plan.Moved = append(plan.Moved, row.Record.Label)
		} else {
			plan.Copied = append(plan.Copied, row.Record.Label)
		}
		_, err := f.Store.CatalogBySlug(ctx, store.CatalogBySlugParams{WorkspaceID: to, Slug: row.Catalog.Slug})
		if notThere(err) && !made[row.Catalog.Slug] {
			made[row.Catalog.Slug] = true
			plan.Made = append(plan.Made, row.Catalog.Slug)
		} else if err != nil && !notThere(err) {
			return plan, store.AsFault(err)
		}
	}
	return plan, nil
}

// MoveCluster takes a cluster to another workspace. Its template stays behind; of its records the
// exclusive ones are moved and the shared ones copied, into catalogs of the same slug, which are made
// where they are missing. It fails with Conflict while anything is done to the cluster, and with
// Invalid when the other workspace has a cluster of that name or a record of the same values.
func (f *Fleet) MoveCluster(ctx context.Context, actor Actor, id, to uuid.UUID) (store.Cluster, error) {
	if err := Allowed(actor, ClustersEdit, to); err != nil {
		return store.Cluster{}, err
	}
	var cluster store.Cluster
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		var from store.Workspace
		var err error
		if cluster, from, err = clusterForUpdate(ctx, tx, actor, ClustersEdit, id); err != nil {
			return err
		}
		target, err := tx.Workspace(ctx, to)
		if err != nil {
			return err
		}
		active, err := tx.ActiveTasks(ctx, id)
		switch {
		case err != nil:
			return err
		case cluster.ArchivedAt != nil:
			return fault.New(fault.Conflict, "cluster.archived", cluster.Name)
		case from.ID == to:
			return fault.New(fault.Conflict, "cluster.move.same", cluster.Name)
		case len(active) > 0:
			return fault.New(fault.Conflict, "cluster.task_running", cluster.Name)
		}
		moved, err := f.moveRecords(ctx, tx, actor, cluster, target)
		if err != nil {
			return err
		}
		if err := f.leaveTemplate(ctx, tx, actor, &cluster); err != nil {
			return err
		}
		if err := tx.MoveCluster(ctx, store.MoveClusterParams{ID: id, WorkspaceID: to, Name: cluster.Name}); err != nil {
			return fmt.Errorf("move cluster %s: %w", id, err)
		}
		if err := tx.MoveTasksOfCluster(ctx, store.MoveTasksOfClusterParams{ClusterID: id, WorkspaceID: to}); err != nil {
			return err
		}
		if err := tx.MoveMaintenanceWindows(ctx, store.MoveMaintenanceWindowsParams{ClusterID: &id, WorkspaceID: to}); err != nil {
			return err
		}
		cluster.WorkspaceID = to
		for _, w := range []uuid.UUID{from.ID, to} {
			tx.Changed(store.WorkspaceClustersTopic(w), store.WorkspaceTasksTopic(w))
		}
		tx.Changed(store.ClusterTopic(id))
		for _, w := range []store.Workspace{from, target} { // both histories tell of it
			if err := f.audit(ctx, tx, actor, change{
				Action: "cluster.move", ObjectType: "Cluster", ObjectID: id, Workspace: w,
				Changes: map[string]any{"workspace": []any{from.Slug, target.Slug}, "moved": moved.Moved, "copied": moved.Copied, "made": moved.Made},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if store.Unique(err, "clusters_name") {
		return cluster, nameTaken(cluster.Name)
	}
	return cluster, store.AsFault(err)
}

// moveRecords takes the records of a cluster along.
func (f *Fleet) moveRecords(ctx context.Context, tx *store.Tx, actor Actor, cluster store.Cluster, to store.Workspace) (Move, error) {
	var done Move
	rows, err := tx.RecordsOfCluster(ctx, cluster.ID)
	if err != nil {
		return done, err
	}
	var uses []takenRecord
	for _, row := range rows {
		// The catalog's lock first, as everywhere, and then the record as it is now.
		from, err := tx.CatalogForUpdate(ctx, row.Catalog.ID)
		if err != nil {
			return done, err
		}
		catalog, made, err := f.catalogThere(ctx, tx, actor, from, to)
		if err != nil {
			return done, err
		}
		if made {
			done.Made = append(done.Made, catalog.Slug)
		}
		record, err := tx.RecordForUpdate(ctx, row.Record.ID)
		if err != nil {
			return done, err
		}
		described, err := parseCatalog(catalog.Params)
		if err != nil {
			return done, err
		}
		values, err := recordValues(tx.Keys, record)
		if err != nil {
			return done, err
		}
		if from.Exclusive {
			done.Moved = append(done.Moved, record.Label)
			record, err = moveRecordTo(ctx, tx, catalog, described, record, values)
		} else {
			done.Copied = append(done.Copied, record.Label)
			record, err = f.copyRecordTo(ctx, tx, actor, catalog, described, values)
		}
		if err != nil {
			return done, err
		}
		uses = append(uses, takenRecord{Record: record, exclusive: catalog.Exclusive})
	}
	if err := tx.FreeRecordsOf(ctx, store.FreeRecordsOfParams{ClusterID: cluster.ID, Kept: []uuid.UUID{}}); err != nil {
		return done, fmt.Errorf("free the records of cluster %s: %w", cluster.ID, err)
	}
	return done, useRecords(ctx, tx, cluster.ID, uses)
}

// catalogThere is the catalog of the same slug in another workspace, made when there is none.
func (f *Fleet) catalogThere(ctx context.Context, tx *store.Tx, actor Actor, from store.Catalog, to store.Workspace) (store.Catalog, bool, error) {
	there, err := tx.CatalogBySlugForUpdate(ctx, store.CatalogBySlugForUpdateParams{WorkspaceID: to.ID, Slug: from.Slug})
	if err == nil || !notThere(err) {
		return there, false, err
	}
	there, err = f.insertCatalog(ctx, tx, actor, to, NewCatalog{Name: from.Name, Slug: from.Slug, Exclusive: from.Exclusive, Params: from.Params})
	return there, true, err
}

// moveRecordTo puts a record into another catalog, where its unique values must be free.
func moveRecordTo(ctx context.Context, tx *store.Tx, catalog store.Catalog, described catalogSchema, record store.Record, values store.Values) (store.Record, error) {
	if _, err := tx.MoveRecord(ctx, store.MoveRecordParams{ID: record.ID, CatalogID: catalog.ID}); err != nil {
		return record, fmt.Errorf("move record %s: %w", record.ID, err)
	}
	_, problems := described.Check(values, nil)
	fit := store.SetRecordFitParams{ID: record.ID, Label: described.labelOf(record.ID, values), SchemaMatches: len(problems) == 0}
	plain, secret := described.split(values)
	fit.Plain = plain
	var err error
	if fit.Secrets, fit.SecretsKey, err = tx.Keys.SealJSON("records", "secrets", record.ID, secret); err != nil {
		return record, err
	}
	if err := tx.SetRecordFit(ctx, fit); err != nil {
		return record, fmt.Errorf("fit record %s into its new catalog: %w", record.ID, err)
	}
	if key, twin, err := claimValues(ctx, tx, described, catalog.ID, record.ID, values); err != nil {
		return record, err
	} else if twin != nil {
		return record, notUnique(key, twin)
	}
	return tx.RecordForUpdate(ctx, record.ID)
}

// copyRecordTo makes a record of the same values in another catalog, or finds the one that an
// earlier copy made.
func (f *Fleet) copyRecordTo(ctx context.Context, tx *store.Tx, actor Actor, catalog store.Catalog, described catalogSchema, values store.Values) (store.Record, error) {
	known, err := tx.RecordsOfCatalog(ctx, catalog.ID)
	if err != nil {
		return store.Record{}, err
	}
	for _, other := range known {
		if other.ArchivedAt != nil {
			continue
		}
		have, err := recordValues(tx.Keys, other)
		if err != nil {
			return other, err
		}
		if reflect.DeepEqual(have, values) {
			return other, nil
		}
	}
	return f.insertRecord(ctx, tx, actor, catalog, described, values)
}

// leaveTemplate makes the configuration of a cluster one that no template made: what was rendered
// stays as it is, parameters included.
func (f *Fleet) leaveTemplate(ctx context.Context, tx *store.Tx, actor Actor, cluster *store.Cluster) error {
	if cluster.TemplateVersionID == nil {
		return nil
	}
	current, err := f.configuration(ctx, tx.Querier, cluster.ID, cluster.Revision)
	if err != nil {
		return err
	}
	after, err := tx.SetClusterConfiguration(ctx, store.SetClusterConfigurationParams{ID: cluster.ID, Name: cluster.Name, Status: cluster.Status})
	if err != nil {
		return fmt.Errorf("change cluster %s: %w", cluster.ID, err)
	}
	row := store.InsertClusterRevisionParams{
		ID: uuid.New(), ClusterID: cluster.ID, Revision: after.Revision, Parameters: current.Parameters,
		RenderErrors: current.RenderErrors, CreatedBy: actor.Signature(),
	}
	secret := store.Values{}
	for key, value := range current.Values {
		if shown, plain := current.Parameters[key]; !plain || !sameValue(shown, value) {
			secret[key] = value
		}
	}
	if row.SecretParameters, row.SecretParametersKey, err = tx.Keys.SealJSON("cluster_revisions", "secret_parameters", row.ID, secret); err != nil {
		return err
	}
	if row.Rendered, row.RenderedKey, err = tx.Keys.SealJSON("cluster_revisions", "rendered", row.ID, current.Rendering); err != nil {
		return err
	}
	if _, err := tx.InsertClusterRevision(ctx, row); err != nil {
		return fmt.Errorf("write the configuration of cluster %s: %w", cluster.ID, err)
	}
	if err := tx.FreeParameterValues(ctx, store.FreeParameterValuesParams{ClusterID: cluster.ID, Kept: [][]byte{}}); err != nil {
		return fmt.Errorf("free the unique values of cluster %s: %w", cluster.ID, err)
	}
	if cluster.AppliedRevision != nil && *cluster.AppliedRevision == cluster.Revision {
		applied := after.Revision
		if err := tx.SetClusterApplied(ctx, store.SetClusterAppliedParams{ID: cluster.ID, AppliedRevision: &applied}); err != nil {
			return err
		}
	}
	cluster.Revision, cluster.TemplateVersionID = after.Revision, nil
	return nil
}
