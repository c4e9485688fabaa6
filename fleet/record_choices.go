package fleet

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/store"
)

// mostChoices bounds the records that a form offers for one field at once; the others are searched for.
const mostChoices = 500

// Wanted is what a person asks a field of records for.
type Wanted struct {
	Catalog string // its slug; empty for the one that the field has by itself
	Find    string // a text in the labels
}

// Choices are the records that a field of a cluster's form can be filled with.
type Choices struct {
	Catalog store.Catalog // the zero value when the workspace has none of that name
	Records []RecordChoice
	More    int // that are not among Records
}

// RecordChoice is a record that a form offers.
type RecordChoice struct {
	ID, Label string
	// User is another cluster that uses the record. When the catalog is exclusive, the record
	// cannot be chosen.
	User             string
	Taken            bool
	Misfit, Archived bool
}

// RecordChoices finds what the fields of a form offer, by key. wanted says which catalog a person
// pointed a field at; otherwise it is the one of the record that is chosen, or the one that the template
// names. What is chosen is always among the records. clusterID is uuid.Nil for a cluster to come.
func (f *Fleet) RecordChoices(ctx context.Context, actor Actor, workspaceID, clusterID uuid.UUID, parameters schema.Schema, values store.Values, wanted map[string]Wanted) (map[string]Choices, error) {
	_, fields := withRecords(parameters)
	if len(fields) == 0 {
		return nil, nil
	}
	all, err := f.Catalogs(ctx, actor, workspaceID, true)
	if err != nil {
		return nil, err
	}
	chosen := map[string][]uuid.UUID{}
	var ids []uuid.UUID
	for _, field := range fields {
		chosen[field.Key], _ = idsIn(values[field.Key])
		ids = append(ids, chosen[field.Key]...)
	}
	homes, err := f.Store.CatalogsOfRecords(ctx, store.CatalogsOfRecordsParams{Ids: ids, WorkspaceID: workspaceID})
	if err != nil {
		return nil, store.AsFault(err)
	}
	home := map[uuid.UUID]uuid.UUID{}
	for _, row := range homes {
		home[row.ID] = row.CatalogID
	}
	out := map[string]Choices{}
	for _, field := range fields {
		choices := Choices{}
		for _, row := range all {
			if pointsAt(field, row.Catalog, wanted[field.Key].Catalog, chosen[field.Key], home) {
				choices.Catalog = row.Catalog
				break
			}
		}
		if choices.Catalog.ID != uuid.Nil {
			if err := f.fillChoices(ctx, &choices, clusterID, chosen[field.Key], wanted[field.Key].Find); err != nil {
				return nil, err
			}
		}
		out[field.Key] = choices
	}
	return out, nil
}

// pointsAt tells whether a field offers the records of a catalog.
func pointsAt(field *schema.Field, catalog store.Catalog, pointed string, chosen []uuid.UUID, home map[uuid.UUID]uuid.UUID) bool {
	switch {
	case pointed != "" && !field.Immutable:
		return catalog.Slug == pointed && catalog.ArchivedAt == nil
	case len(chosen) > 0 && home[chosen[0]] != uuid.Nil:
		return home[chosen[0]] == catalog.ID
	}
	return catalog.Slug == field.Catalog && catalog.ArchivedAt == nil
}

func (f *Fleet) fillChoices(ctx context.Context, choices *Choices, clusterID uuid.UUID, chosen []uuid.UUID, find string) error {
	if chosen == nil {
		chosen = []uuid.UUID{}
	}
	find = strings.TrimSpace(find)
	rows, err := f.Store.RecordChoices(ctx, store.RecordChoicesParams{
		CatalogID: choices.Catalog.ID, ClusterID: clusterID, Chosen: chosen, Search: find, Most: mostChoices,
	})
	if err != nil {
		return fmt.Errorf("read the records of catalog %s: %w", choices.Catalog.Slug, store.AsFault(err))
	}
	for _, row := range rows {
		choices.Records = append(choices.Records, RecordChoice{
			ID: row.ID.String(), Label: row.Label, User: row.UserName, Taken: choices.Catalog.Exclusive && row.UserName != "",
			Misfit: !row.SchemaMatches, Archived: row.Archived,
		})
	}
	if len(rows) < mostChoices {
		return nil
	}
	total, err := f.Store.CountRecordChoices(ctx, store.CountRecordChoicesParams{CatalogID: choices.Catalog.ID, Chosen: chosen, Search: find})
	choices.More = int(total) + len(chosen) - len(rows)
	return store.AsFault(err)
}
