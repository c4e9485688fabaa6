package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// RecordID is the key of a record's id among its values in a cluster's parameters.
const RecordID = schema.RecordID

// least is how many records are picked for a field that picks by itself.
func least(f *schema.Field) int {
	if f.MinItems == nil {
		return 1
	}
	return *f.MinItems
}

// withRecords parts a schema: fields whose values are records are the inventory's to check, all
// others the schema's.
func withRecords(parameters schema.Schema) (plain schema.Schema, records []*schema.Field) {
	for _, b := range parameters {
		if b.Field != nil && b.Field.Catalog != "" {
			records = append(records, b.Field)
		} else {
			plain = append(plain, b)
		}
	}
	return plain, records
}

// resolution is what the inventory makes of parameters: each record by what it holds now.
type resolution struct {
	// values are the parameters that are no records. records are the others, shown the same with
	// masks in place of their secrets.
	values, records, shown store.Values
	taken                  []takenRecord
	problems               map[string]fault.Message
}

// recordSource is where records are read: with locks for who takes them, without for previews.
type recordSource struct {
	store.Querier
	keys        *store.Keyring
	workspaceID uuid.UUID
	clusterID   uuid.UUID
	// take locks the catalogs, so that what is read stays true until the transaction ends.
	take bool
	// promised are exclusive records that clusters get before this one: none of them is picked.
	promised map[uuid.UUID]bool
}

// source reads records for a cluster of a workspace; uuid.Nil stands for a cluster to come.
func (f *Fleet) source(q store.Querier, workspaceID, clusterID uuid.UUID, take bool) recordSource {
	return recordSource{Querier: q, keys: f.Store.Keys, workspaceID: workspaceID, clusterID: clusterID, take: take}
}

// idsIn are the ids of the records in a value: a record, an id alone, or a list of those.
func idsIn(value any) (ids []uuid.UUID, valid bool) {
	switch v := value.(type) {
	case nil:
		return nil, true
	case string:
		if v == "" {
			return nil, true
		}
		id, err := uuid.Parse(v)
		return []uuid.UUID{id}, err == nil
	case map[string]any:
		if len(v) == 0 {
			return nil, true
		}
		text, _ := v[RecordID].(string)
		id, err := uuid.Parse(text)
		return []uuid.UUID{id}, err == nil
	case []any:
		for _, one := range v {
			some, valid := idsIn(one)
			if !valid || len(some) > 1 {
				return nil, false
			}
			ids = append(ids, some...)
		}
		return ids, true
	}
	return nil, false
}

// resolve finds the records that parameters of a cluster name, checks that the cluster may use them,
// and picks some where nobody chose. What a record held when the cluster was saved does not count:
// what it holds now does.
func (s recordSource) resolve(ctx context.Context, fields []*schema.Field, values, saved store.Values) (resolution, error) {
	out := resolution{values: clone(values), records: store.Values{}, shown: store.Values{}, problems: map[string]fault.Message{}}
	if len(fields) == 0 {
		return out, nil
	}
	r := &resolver{recordSource: s, fields: fields, chosen: map[string][]uuid.UUID{}, out: &out}
	if err := r.load(ctx, values); err != nil {
		return out, err
	}
	for _, field := range fields {
		delete(out.values, field.Key)
		before, _ := idsIn(saved[field.Key])
		if err := r.put(ctx, field, before); err != nil {
			return out, err
		}
		if _, bad := out.problems[field.Key]; bad {
			r.keep(field)
		}
	}
	return out, nil
}

func clone(values store.Values) store.Values {
	out := make(store.Values, len(values))
	for key, value := range values {
		out[key] = value
	}
	return out
}

// resolver is one resolution at work.
type resolver struct {
	recordSource
	fields   []*schema.Field
	chosen   map[string][]uuid.UUID // by field
	catalogs map[uuid.UUID]store.Catalog
	schemas  map[uuid.UUID]catalogSchema
	records  map[uuid.UUID]store.RecordsByIDRow
	out      *resolution
}

// load reads the catalogs, locked when records are to be taken, and then the records.
func (r *resolver) load(ctx context.Context, values store.Values) error {
	slugs, ids := []string{}, []uuid.UUID{}
	for _, field := range r.fields {
		slugs = append(slugs, field.Catalog)
		chosen, valid := idsIn(values[field.Key])
		if !valid {
			r.out.problems[field.Key] = fault.Message{Key: "inventory.record.malformed"}
			continue
		}
		r.chosen[field.Key] = chosen
		ids = append(ids, chosen...)
	}
	var catalogs []store.Catalog
	var err error
	if r.take {
		catalogs, err = r.LockCatalogs(ctx, store.LockCatalogsParams{WorkspaceID: r.workspaceID, Slugs: slugs, Records: ids})
	} else {
		catalogs, err = r.CatalogsFor(ctx, store.CatalogsForParams{WorkspaceID: r.workspaceID, Slugs: slugs, Records: ids})
	}
	if err != nil {
		return fmt.Errorf("read the catalogs: %w", err)
	}
	r.catalogs, r.schemas, r.records = map[uuid.UUID]store.Catalog{}, map[uuid.UUID]catalogSchema{}, map[uuid.UUID]store.RecordsByIDRow{}
	for _, c := range catalogs {
		r.catalogs[c.ID] = c
		if r.schemas[c.ID], err = parseCatalog(c.Params); err != nil {
			return err
		}
	}
	rows, err := r.RecordsByID(ctx, store.RecordsByIDParams{ClusterID: r.clusterID, Ids: ids})
	if err != nil {
		return fmt.Errorf("read the records: %w", err)
	}
	for _, row := range rows {
		r.records[row.Record.ID] = row
	}
	return nil
}

// put checks the records of a field, picks some when it picks by itself, and puts them in.
func (r *resolver) put(ctx context.Context, field *schema.Field, before []uuid.UUID) error {
	if _, bad := r.out.problems[field.Key]; bad {
		return nil
	}
	ids := r.chosen[field.Key]
	if len(ids) == 0 && field.Autoselect && len(before) == 0 {
		picked, err := r.pick(ctx, field)
		if err != nil || picked == nil {
			return err
		}
		ids = picked
	}
	if problem := checkChoice(field, ids, before); problem != nil {
		r.out.problems[field.Key] = *problem
		return nil
	}
	if len(ids) == 0 {
		return nil
	}
	objects := make([]any, 0, len(ids))
	shown := make([]any, 0, len(ids))
	var taken []takenRecord
	for _, id := range ids {
		row, problem := r.usable(field, id)
		if problem != nil {
			r.out.problems[field.Key] = *problem
			return nil
		}
		object, masked, err := r.object(row.Record)
		if err != nil {
			return err
		}
		objects, shown = append(objects, object), append(shown, masked)
		taken = append(taken, takenRecord{row.Record, r.catalogs[row.Record.CatalogID].Exclusive})
	}
	r.out.taken = append(r.out.taken, taken...)
	if field.List() {
		r.out.records[field.Key], r.out.shown[field.Key] = objects, shown
	} else {
		r.out.records[field.Key], r.out.shown[field.Key] = objects[0], shown[0]
	}
	return nil
}

// checkChoice says whether a choice fits the field, whatever the records are.
func checkChoice(f *schema.Field, ids, before []uuid.UUID) *fault.Message {
	seen := map[uuid.UUID]bool{}
	for _, id := range ids {
		if seen[id] {
			return &fault.Message{Key: "inventory.record.twice"}
		}
		seen[id] = true
	}
	switch {
	case len(ids) == 0 && f.Optional:
	case len(ids) == 0:
		return &fault.Message{Key: "parameter.required"}
	case !f.List() && len(ids) > 1:
		return &fault.Message{Key: "inventory.record.one"}
	case f.MinItems != nil && len(ids) < *f.MinItems:
		return &fault.Message{Key: "inventory.record.few", Args: []any{*f.MinItems}}
	case f.MaxItems != nil && len(ids) > *f.MaxItems:
		return &fault.Message{Key: "inventory.record.many", Args: []any{*f.MaxItems}}
	}
	if f.Immutable && len(before) > 0 && !slices.Equal(ids, before) {
		return &fault.Message{Key: "inventory.record.immutable"}
	}
	return nil
}

// keep leaves a choice that cannot be used in the parameters by its ids alone, so that whoever
// mends it sees what was chosen.
func (r *resolver) keep(field *schema.Field) {
	var bare []any
	for _, id := range r.chosen[field.Key] {
		bare = append(bare, map[string]any{RecordID: id.String()})
	}
	switch {
	case len(bare) == 0:
	case field.List():
		r.out.records[field.Key], r.out.shown[field.Key] = bare, bare
	default:
		r.out.records[field.Key], r.out.shown[field.Key] = bare[0], bare[0]
	}
}

// usable says whether a cluster may use a record in a field, or why not.
func (r *resolver) usable(field *schema.Field, id uuid.UUID) (store.RecordsByIDRow, *fault.Message) {
	row, there := r.records[id]
	catalog, ours := r.catalogs[row.Record.CatalogID]
	switch {
	case !there || !ours:
		return row, &fault.Message{Key: "inventory.record.unknown"}
	case field.Immutable && catalog.Slug != field.Catalog:
		return row, &fault.Message{Key: "inventory.record.other_catalog", Args: []any{field.Catalog}}
	case row.Record.ArchivedAt != nil || catalog.ArchivedAt != nil:
		return row, &fault.Message{Key: "inventory.record.archived", Args: []any{row.Record.Label}}
	case catalog.Exclusive && row.UserID != uuid.Nil:
		return row, &fault.Message{Key: "inventory.record.taken", Args: []any{row.Record.Label, row.UserName}}
	case !row.Record.SchemaMatches:
		return row, &fault.Message{Key: "inventory.record.misfit", Args: []any{row.Record.Label}}
	}
	return row, nil
}

// pick chooses free records that no field of the same form has yet; nil with a problem noted when
// there are too few.
func (r *resolver) pick(ctx context.Context, field *schema.Field) ([]uuid.UUID, error) {
	var catalog store.Catalog
	for _, c := range r.catalogs {
		if c.Slug == field.Catalog && c.ArchivedAt == nil {
			catalog = c
		}
	}
	if catalog.ID == uuid.Nil {
		r.out.problems[field.Key] = fault.Message{Key: "inventory.no_catalog", Args: []any{field.Catalog}}
		return nil, nil
	}
	used := map[uuid.UUID]bool{}
	if catalog.Exclusive {
		maps.Copy(used, r.promised)
	}
	for _, ids := range r.chosen {
		for _, id := range ids {
			used[id] = true
		}
	}
	rows, err := r.FreeRecords(ctx, store.FreeRecordsParams{
		CatalogID: catalog.ID, ClusterID: r.clusterID, Exclusive: catalog.Exclusive, Most: least(field) + len(used),
	})
	if err != nil {
		return nil, fmt.Errorf("look for free records of %s: %w", catalog.Slug, err)
	}
	var ids []uuid.UUID
	for _, row := range rows {
		if len(ids) < least(field) && !used[row.ID] {
			ids = append(ids, row.ID)
			r.records[row.ID] = store.RecordsByIDRow{Record: row}
		}
	}
	if len(ids) < least(field) {
		r.out.problems[field.Key] = fault.Message{Key: "inventory.none_free", Args: []any{catalog.Name}}
		return nil, nil
	}
	r.chosen[field.Key] = ids
	return ids, nil
}

// object is a record as templates get it, and as people see it.
func (r *resolver) object(row store.Record) (object, masked map[string]any, err error) {
	values, err := recordValues(r.keys, row)
	if err != nil {
		return nil, nil, err
	}
	object, masked = clone(values), r.schemas[row.CatalogID].masked(values)
	object[RecordID], masked[RecordID] = row.ID.String(), row.ID.String()
	return object, masked, nil
}
