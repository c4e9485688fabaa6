package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// RecordUser is a cluster that uses a record.
type RecordUser struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// RecordLine is a record in the list of its catalog. Shown holds masks in place of secrets.
type RecordLine struct {
	store.Record
	Shown store.Values
	Users []RecordUser
}

// RecordFilter chooses records of a catalog.
type RecordFilter struct {
	Search string
	// State is free, used, misfits or archived; empty chooses all outside of the archive.
	State string
	// Sort is name or users (how many clusters use it), with a minus for descending order.
	Sort         string
	Limit, Start int
}

// RecordList is a page of a catalog's records.
type RecordList struct {
	Catalog store.Catalog
	Schema  schema.Schema
	Lines   []RecordLine
	Total   int64 // that the filter lets through
	Counts  store.CountRecordsRow
}

// Records lists the records of a catalog.
func (f *Fleet) Records(ctx context.Context, actor Actor, catalogID uuid.UUID, filter RecordFilter) (RecordList, error) {
	catalog, err := f.Catalog(ctx, actor, catalogID)
	if err != nil {
		return RecordList{}, err
	}
	described, err := parseCatalog(catalog.Params)
	if err != nil {
		return RecordList{}, err
	}
	list := RecordList{Catalog: catalog, Schema: described.Schema}
	rows, err := f.Store.RecordRows(ctx, store.RecordRowsParams{
		CatalogID: catalogID, Search: filter.Search, State: filter.State, Sort: filter.Sort, PageSize: filter.Limit, PageOffset: filter.Start,
	})
	if err != nil {
		return list, store.AsFault(err)
	}
	for _, row := range rows {
		line := RecordLine{Record: row.Record}
		values, err := recordValues(f.Store.Keys, row.Record)
		if err != nil {
			return list, err
		}
		line.Shown = described.masked(values)
		if err := json.Unmarshal(row.Users, &line.Users); err != nil {
			return list, fmt.Errorf("read who uses record %s: %w", row.Record.ID, err)
		}
		list.Lines, list.Total = append(list.Lines, line), row.Total
	}
	list.Counts, err = f.Store.CountRecords(ctx, catalogID)
	return list, store.AsFault(err)
}

// RecordView is a record with all that its page shows. Values hold the secrets as well.
type RecordView struct {
	store.Record
	Catalog       store.Catalog
	Schema        schema.Schema
	Values, Shown store.Values
	Users         []RecordUser
	// Problems say why the values do not fit the schema, by field.
	Problems map[string]fault.Message
}

// Record reads a record that the actor may see.
func (f *Fleet) Record(ctx context.Context, actor Actor, id uuid.UUID) (RecordView, error) {
	row, err := f.Store.Record(ctx, id)
	if err != nil {
		return RecordView{}, store.AsFault(err)
	}
	view := RecordView{Record: row}
	if view.Catalog, err = f.Catalog(ctx, actor, row.CatalogID); err != nil {
		return view, err
	}
	described, err := parseCatalog(view.Catalog.Params)
	if err != nil {
		return view, err
	}
	view.Schema = described.Schema
	if view.Values, err = recordValues(f.Store.Keys, row); err != nil {
		return view, err
	}
	view.Shown = described.masked(view.Values)
	_, view.Problems = described.Check(view.Values, nil)
	users, err := f.Store.RecordUsers(ctx, id)
	for _, u := range users {
		view.Users = append(view.Users, RecordUser{u.ID, u.Name})
	}
	return view, store.AsFault(err)
}

// RecordInfo is a record as the API lists it. Shown holds masks in place of secrets.
type RecordInfo struct {
	store.Record
	Shown     store.Values
	ClusterID *uuid.UUID // the first that uses it; nil while it is free
}

// AllRecords lists the records of a workspace, the oldest first.
func (f *Fleet) AllRecords(ctx context.Context, actor Actor, workspaceID uuid.UUID, withArchived bool) ([]RecordInfo, error) {
	catalogs, err := f.Catalogs(ctx, actor, workspaceID, true)
	if err != nil {
		return nil, err
	}
	described := map[uuid.UUID]catalogSchema{}
	for _, c := range catalogs {
		if described[c.Catalog.ID], err = parseCatalog(c.Catalog.Params); err != nil {
			return nil, err
		}
	}
	rows, err := f.Store.RecordsOfWorkspace(ctx, store.RecordsOfWorkspaceParams{WorkspaceID: workspaceID, WithArchived: withArchived})
	if err != nil {
		return nil, store.AsFault(err)
	}
	out := make([]RecordInfo, 0, len(rows))
	for _, row := range rows {
		values, err := recordValues(f.Store.Keys, row.Record)
		if err != nil {
			return nil, err
		}
		info := RecordInfo{Record: row.Record, Shown: described[row.Record.CatalogID].masked(values)}
		if row.ClusterID != uuid.Nil {
			info.ClusterID = &row.ClusterID
		}
		out = append(out, info)
	}
	return out, nil
}

// recordValues opens the values of a record, secrets included.
func recordValues(keys *store.Keyring, row store.Record) (store.Values, error) {
	values, secret := store.Values{}, store.Values{}
	for key, value := range row.Plain {
		values[key] = value
	}
	if err := keys.UnsealJSON("records", "secrets", row.ID, row.Secrets, row.SecretsKey, &secret); err != nil {
		return nil, err
	}
	for key, value := range secret {
		values[key] = value
	}
	return values, nil
}

// uniqueHashes are the hashes of the unique values among some, by key.
func uniqueHashes(ctx context.Context, tx *store.Tx, described catalogSchema, catalogID uuid.UUID, values store.Values) (map[string][]byte, error) {
	claimed, err := described.uniqueValues(values)
	if err != nil || len(claimed) == 0 {
		return nil, err
	}
	hasher, err := tx.Hasher(ctx, "records")
	if err != nil {
		return nil, err
	}
	hashes := make(map[string][]byte, len(claimed))
	for key, value := range claimed {
		hashes[key] = hasher.Sum(catalogID[:], []byte(key), value)
	}
	return hashes, nil
}

// claimValues notes the unique values of a record of a locked catalog, instead of those that it
// had. When another record has one of them already, it says which, and the transaction must end.
func claimValues(ctx context.Context, tx *store.Tx, described catalogSchema, catalogID, recordID uuid.UUID, values store.Values) (key string, twin *store.Record, err error) {
	if err := tx.DeleteRecordValues(ctx, recordID); err != nil {
		return "", nil, err
	}
	if key, twin, err = findTwin(ctx, tx, described, catalogID, values); err != nil || twin != nil {
		return key, twin, err
	}
	hashes, err := uniqueHashes(ctx, tx, described, catalogID, values)
	if err != nil {
		return "", nil, err
	}
	for key, hash := range hashes {
		if err := tx.InsertRecordValue(ctx, store.InsertRecordValueParams{RecordID: recordID, CatalogID: catalogID, Key: key, Hash: hash}); err != nil {
			return "", nil, fmt.Errorf("note the value of %s: %w", key, err)
		}
	}
	return "", nil, nil
}

func notUnique(key string, twin *store.Record) *fault.Error {
	return fault.Fields(map[string]fault.Message{key: {Key: "inventory.record.not_unique", Args: []any{twin.Label}}})
}

// CreateRecord adds a record to a catalog. It fails with Invalid and the problem of each field:
// values must fit the schema, and those of unique fields must be new.
func (f *Fleet) CreateRecord(ctx context.Context, actor Actor, catalogID uuid.UUID, values store.Values) (store.Record, error) {
	var record store.Record
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		catalog, workspace, err := catalogForUpdate(ctx, tx, actor, catalogID)
		if err != nil {
			return err
		}
		if catalog.ArchivedAt != nil {
			return fault.New(fault.Conflict, "inventory.archived", catalog.Name)
		}
		described, err := parseCatalog(catalog.Params)
		if err != nil {
			return err
		}
		clean, problems := described.Check(values, nil)
		if len(problems) > 0 {
			return fault.Fields(problems)
		}
		if record, err = f.insertRecord(ctx, tx, actor, catalog, described, clean); err != nil {
			return err
		}
		return f.audit(ctx, tx, actor, recordChange("record.create", workspace, record, map[string]any{"values": described.masked(clean)}))
	})
	return record, err
}

// recordChange is an audited act on a record.
func recordChange(action string, workspace store.Workspace, record store.Record, changes map[string]any) change {
	changes["label"], changes["catalog"] = record.Label, record.CatalogID
	return change{Action: action, ObjectType: "Record", ObjectID: record.ID, Workspace: workspace, Changes: changes}
}

// insertRecord writes a record of a locked catalog. It fails with Invalid when a unique value is taken.
func (f *Fleet) insertRecord(ctx context.Context, tx *store.Tx, actor Actor, catalog store.Catalog, described catalogSchema, values store.Values) (store.Record, error) {
	row := store.InsertRecordParams{ID: uuid.New(), CatalogID: catalog.ID, CreatedBy: actor.Signature()}
	row.Label = described.labelOf(row.ID, values)
	plain, secret := described.split(values)
	row.Plain = plain
	var err error
	if row.Secrets, row.SecretsKey, err = tx.Keys.SealJSON("records", "secrets", row.ID, secret); err != nil {
		return store.Record{}, err
	}
	record, err := tx.InsertRecord(ctx, row)
	if err != nil {
		return record, fmt.Errorf("write a record of catalog %s: %w", catalog.Slug, err)
	}
	key, twin, err := claimValues(ctx, tx, described, catalog.ID, record.ID, values)
	if twin != nil {
		return record, notUnique(key, twin)
	}
	return record, err
}

// recordForUpdate locks a record after its catalog.
func recordForUpdate(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID) (store.Record, store.Catalog, store.Workspace, error) {
	found, err := tx.Record(ctx, id)
	if err != nil {
		return found, store.Catalog{}, store.Workspace{}, err
	}
	catalog, workspace, err := catalogForUpdate(ctx, tx, actor, found.CatalogID)
	if err != nil {
		return found, catalog, workspace, err
	}
	record, err := tx.RecordForUpdate(ctx, id)
	return record, catalog, workspace, err
}

// userNames are the clusters that use a record, as many as a message can name.
func userNames(ctx context.Context, tx *store.Tx, id uuid.UUID) (string, error) {
	users, err := tx.RecordUsers(ctx, id)
	names := make([]string, 0, mostNamed)
	for _, u := range users[:min(len(users), mostNamed)] {
		names = append(names, u.Name)
	}
	return strings.Join(names, ", "), err
}
