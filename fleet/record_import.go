package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// mostImported bounds the records of one import.
const mostImported = 5_000

// Import is what a JSON document says of a catalog and its records.
type Import struct {
	Name      string           `json:"name"`
	Slug      string           `json:"slug"`
	Exclusive bool             `json:"exclusive"`
	Params    json.RawMessage  `json:"params"`
	Resources []ImportedRecord `json:"resources"`
}

// ImportedRecord is one record of an import.
type ImportedRecord struct {
	Values store.Values `json:"values"`
}

// ImportReport tells what became of an import. Records are numbered from 1, as the document has them.
type ImportReport struct {
	Catalog store.Catalog
	// Created says that the catalog is new; otherwise records were added to it and its name and
	// schema are as before.
	Created bool
	Taken   int
	// Misfits are records that were added to a catalog whose schema they do not fit: no cluster
	// can use them before they are mended.
	Misfits []ImportProblem
	Refused []ImportProblem
}

// ImportProblem says what is wrong with one record, by field; the field is empty for what
// concerns all of it.
type ImportProblem struct {
	Number int
	Label  string
	Fields map[string]fault.Message
}

// ParseImport reads a document. It fails with Invalid and what is wrong with it.
func ParseImport(body []byte) (Import, error) {
	var in Import
	decoder := json.NewDecoder(bytes.NewReader(body))
	err := decoder.Decode(&in)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		return in, fault.Wrap(fault.Invalid, err, "inventory.import.json", err.Error())
	}
	if len(in.Resources) > mostImported {
		return in, fault.New(fault.Invalid, "inventory.import.many", mostImported)
	}
	return in, nil
}

// ImportRecords adds the records of a document to the catalog with its slug, which is made when it
// is missing. The records of a new catalog must fit its schema; an existing catalog takes what
// does not fit and marks it. What cannot be taken is reported and keeps the others from nothing.
// It fails with Invalid when no catalog can be made of the document.
func (f *Fleet) ImportRecords(ctx context.Context, actor Actor, workspaceID uuid.UUID, in Import) (ImportReport, error) {
	if err := Allowed(actor, InventoryEdit, workspaceID); err != nil {
		return ImportReport{}, err
	}
	var report ImportReport
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		report = ImportReport{}
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		if report.Catalog, report.Created, err = f.importCatalog(ctx, tx, actor, workspace, in); err != nil {
			return err
		}
		described, err := parseCatalog(report.Catalog.Params)
		if err != nil {
			return err
		}
		for i, resource := range in.Resources {
			if err := f.importRecord(ctx, tx, actor, described, &report, i+1, resource.Values); err != nil {
				return err
			}
		}
		return f.audit(ctx, tx, actor, change{
			Action: "catalog.import", ObjectType: "Catalog", ObjectID: report.Catalog.ID, Workspace: workspace,
			Changes: map[string]any{"created": report.Created, "taken": report.Taken, "misfits": len(report.Misfits), "refused": len(report.Refused)},
		})
	})
	return report, slugTaken(err, in.Slug)
}

func (f *Fleet) importCatalog(ctx context.Context, tx *store.Tx, actor Actor, workspace store.Workspace, in Import) (_ store.Catalog, created bool, err error) {
	found, err := tx.CatalogBySlugForUpdate(ctx, store.CatalogBySlugForUpdateParams{WorkspaceID: workspace.ID, Slug: in.Slug})
	if !notThere(err) {
		return found, false, err
	}
	wanted, err := NewCatalog{Name: in.Name, Slug: in.Slug, Exclusive: in.Exclusive, Params: in.Params}.check()
	if err != nil {
		return found, false, err
	}
	found, err = f.insertCatalog(ctx, tx, actor, workspace, wanted)
	return found, true, err
}

func (f *Fleet) importRecord(ctx context.Context, tx *store.Tx, actor Actor, described catalogSchema, report *ImportReport, number int, values store.Values) error {
	if values == nil {
		report.Refused = append(report.Refused, ImportProblem{number, "", map[string]fault.Message{"": {Key: "inventory.import.no_values"}}})
		return nil
	}
	clean, problems := described.Check(values, nil)
	problem := ImportProblem{number, described.label(values), problems}
	if len(problems) > 0 && report.Created {
		report.Refused = append(report.Refused, problem)
		return nil
	}
	if len(problems) > 0 {
		clean = values // as it was given, to be mended by a person
	}
	// Unique values are looked up under the catalog's lock, so that a twin is found before anything is written.
	twinKey, twin, err := findTwin(ctx, tx, described, report.Catalog.ID, clean)
	if err != nil {
		return err
	}
	if twin != nil {
		problem.Fields = notUnique(twinKey, twin).Fields
		report.Refused = append(report.Refused, problem)
		return nil
	}
	record, err := f.insertRecord(ctx, tx, actor, report.Catalog, described, clean)
	if err != nil {
		return err
	}
	report.Taken++
	if len(problems) == 0 {
		return nil
	}
	report.Misfits = append(report.Misfits, problem)
	return tx.SetRecordFit(ctx, store.SetRecordFitParams{
		ID: record.ID, Plain: record.Plain, Secrets: record.Secrets, SecretsKey: record.SecretsKey, Label: record.Label, SchemaMatches: false,
	})
}

// findTwin is the record of a locked catalog that has a unique value already.
func findTwin(ctx context.Context, tx *store.Tx, described catalogSchema, catalogID uuid.UUID, values store.Values) (string, *store.Record, error) {
	hashes, err := uniqueHashes(ctx, tx, described, catalogID, values)
	if err != nil {
		return "", nil, err
	}
	for _, field := range described.unique { // in the order of the schema
		hash, has := hashes[field.Key]
		if !has {
			continue
		}
		other, err := tx.RecordOfValue(ctx, store.RecordOfValueParams{CatalogID: catalogID, Key: field.Key, Hash: hash})
		if err == nil {
			return field.Key, &other, nil
		}
		if !notThere(err) {
			return "", nil, err
		}
	}
	return "", nil, nil
}
