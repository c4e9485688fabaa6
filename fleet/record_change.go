package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// ChangeRecord replaces the values of a record; masks keep the secrets that are saved. Clusters
// that use it get a new wanted configuration, which waits for a person to apply it. It fails with
// Conflict when somebody changed the record since revision, and with Invalid as CreateRecord does.
func (f *Fleet) ChangeRecord(ctx context.Context, actor Actor, id uuid.UUID, revision int, values store.Values) (store.Record, error) {
	var after store.Record
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, catalog, workspace, err := recordForUpdate(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		switch {
		case catalog.ArchivedAt != nil, before.ArchivedAt != nil:
			return fault.New(fault.Conflict, "inventory.archived", before.Label)
		case before.Revision != revision:
			return fault.New(fault.Conflict, "inventory.stale_revision", before.Label)
		}
		described, err := parseCatalog(catalog.Params)
		if err != nil {
			return err
		}
		saved, err := recordValues(tx.Keys, before)
		if err != nil {
			return err
		}
		clean, problems := described.Check(values, saved)
		if len(problems) > 0 {
			return fault.Fields(problems)
		}
		if sameValue(clean, saved) && before.SchemaMatches {
			after = before
			return nil // nothing to do, least of all for the clusters
		}
		if after, err = setRecord(ctx, tx, described, before, clean); err != nil {
			return err
		}
		old, wanted := described.masked(saved), described.masked(clean)
		changes := map[string]any{}
		for key := range wanted {
			if !sameValue(saved[key], clean[key]) {
				changes[key] = []any{old[key], wanted[key]}
			}
		}
		if err := f.audit(ctx, tx, actor, recordChange("record.change", workspace, after, changes)); err != nil {
			return err
		}
		return f.rerenderLater(ctx, tx, id)
	})
	return after, err
}

func setRecord(ctx context.Context, tx *store.Tx, described catalogSchema, before store.Record, values store.Values) (store.Record, error) {
	row := store.SetRecordParams{ID: before.ID, Label: described.labelOf(before.ID, values)}
	plain, secret := described.split(values)
	row.Plain = plain
	var err error
	if row.Secrets, row.SecretsKey, err = tx.Keys.SealJSON("records", "secrets", before.ID, secret); err != nil {
		return before, err
	}
	key, twin, err := claimValues(ctx, tx, described, before.CatalogID, before.ID, values)
	switch {
	case err != nil:
		return before, err
	case twin != nil:
		return before, notUnique(key, twin)
	}
	after, err := tx.SetRecord(ctx, row)
	if err != nil {
		return after, fmt.Errorf("change record %s: %w", before.ID, err)
	}
	return after, nil
}

// DeleteRecord deletes a record for good. It fails with Conflict and the names of clusters that use it.
func (f *Fleet) DeleteRecord(ctx context.Context, actor Actor, id uuid.UUID) (store.Record, error) {
	return f.moveRecord(ctx, actor, "record.delete", id, func(tx *store.Tx, before store.Record, _ store.Catalog) (store.Record, error) {
		return before, tx.DeleteRecord(ctx, id)
	})
}

// ArchiveRecord moves a record to the archive; its unique values are free again. It fails with
// Conflict and the names of clusters that use it.
func (f *Fleet) ArchiveRecord(ctx context.Context, actor Actor, id uuid.UUID) (store.Record, error) {
	return f.moveRecord(ctx, actor, "record.archive", id, func(tx *store.Tx, before store.Record, _ store.Catalog) (store.Record, error) {
		if before.ArchivedAt != nil {
			return before, fault.New(fault.Conflict, "inventory.archived", before.Label)
		}
		if err := tx.DeleteRecordValues(ctx, id); err != nil {
			return before, err
		}
		return tx.ArchiveRecord(ctx, id)
	})
}

// RestoreRecord takes a record out of the archive. What the schema makes of it by now is noted
// with it. It fails with Conflict when another record has one of its unique values by now.
func (f *Fleet) RestoreRecord(ctx context.Context, actor Actor, id uuid.UUID) (store.Record, error) {
	return f.moveRecord(ctx, actor, "record.restore", id, func(tx *store.Tx, before store.Record, catalog store.Catalog) (store.Record, error) {
		switch {
		case before.ArchivedAt == nil:
			return before, fault.New(fault.Conflict, "inventory.not_archived", before.Label)
		case catalog.ArchivedAt != nil:
			return before, fault.New(fault.Conflict, "inventory.archived", catalog.Name)
		}
		described, err := parseCatalog(catalog.Params)
		if err != nil {
			return before, err
		}
		values, err := recordValues(tx.Keys, before)
		if err != nil {
			return before, err
		}
		_, twin, err := claimValues(ctx, tx, described, catalog.ID, id, values)
		switch {
		case err != nil:
			return before, err
		case twin != nil:
			return before, fault.New(fault.Conflict, "inventory.record.twin", before.Label, twin.Label)
		}
		return tx.RestoreRecord(ctx, id)
	})
}

// moveRecord does something to a record that no cluster uses.
func (f *Fleet) moveRecord(ctx context.Context, actor Actor, action string, id uuid.UUID,
	move func(*store.Tx, store.Record, store.Catalog) (store.Record, error),
) (store.Record, error) {
	var after store.Record
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, catalog, workspace, err := recordForUpdate(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		names, err := userNames(ctx, tx, id)
		if err != nil {
			return err
		}
		if names != "" {
			return fault.New(fault.Conflict, "inventory.record.used", before.Label, names)
		}
		if after, err = move(tx, before, catalog); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, recordChange(action, workspace, after, map[string]any{}))
	})
	return after, err
}
