package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// NewCatalog is what people say of a catalog. Its slug and whether it is exclusive never change.
type NewCatalog struct {
	Name, Slug string
	// Exclusive lets each record serve one cluster at a time; otherwise records are shared.
	Exclusive bool
	// Params are the fields of its records, in YAML or JSON.
	Params json.RawMessage

	text string // of the params as they are stored beside the JSON
}

// SlugField is the key under which problems with a slug are told.
const SlugField = "slug"

// longestSlug bounds the identifier of a catalog: templates name it.
const longestSlug = 63

// checkSlug says what is wrong with an identifier.
func checkSlug(slug string) *fault.Message {
	switch {
	case slug == "":
		return &fault.Message{Key: "inventory.slug.required"}
	case len(slug) > longestSlug:
		return &fault.Message{Key: "inventory.slug.long", Args: []any{longestSlug}}
	case slug[0] < 'a' || slug[0] > 'z':
		return &fault.Message{Key: "inventory.slug.start"}
	}
	for _, r := range slug {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r) {
			return &fault.Message{Key: "inventory.slug.character", Args: []any{string(r)}}
		}
	}
	return nil
}

func cleanCatalogName(name string) (string, *fault.Message) {
	if name = strings.TrimSpace(name); name == "" || len([]rune(name)) > longestName {
		return name, &fault.Message{Key: "inventory.name", Args: []any{longestName}}
	}
	return name, nil
}

// check brings a new catalog into the form that is stored, or says what is wrong with each field.
func (c NewCatalog) check() (NewCatalog, error) {
	problems := map[string]fault.Message{}
	name, problem := cleanCatalogName(c.Name)
	if problem != nil {
		problems[Name] = *problem
	}
	c.Name, c.Slug = name, strings.TrimSpace(c.Slug)
	if problem := checkSlug(c.Slug); problem != nil {
		problems[SlugField] = *problem
	}
	_, text, params, err := readCatalog(string(c.Params))
	var bad *fault.Error
	if errors.As(err, &bad) {
		problems[ParamsField] = bad.Fields[ParamsField]
	}
	c.text, c.Params = text, params
	if len(problems) > 0 {
		return c, fault.Fields(problems)
	}
	return c, nil
}

// CreateCatalog makes an empty catalog. It fails with Invalid and the problem of each field.
func (f *Fleet) CreateCatalog(ctx context.Context, actor Actor, workspaceID uuid.UUID, wanted NewCatalog) (store.Catalog, error) {
	if err := Allowed(actor, InventoryEdit, workspaceID); err != nil {
		return store.Catalog{}, err
	}
	wanted, err := wanted.check()
	if err != nil {
		return store.Catalog{}, err
	}
	var catalog store.Catalog
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		workspace, err := tx.Workspace(ctx, workspaceID)
		if err != nil {
			return err
		}
		catalog, err = f.insertCatalog(ctx, tx, actor, workspace, wanted)
		return err
	})
	return catalog, slugTaken(err, wanted.Slug)
}

func (f *Fleet) insertCatalog(ctx context.Context, tx *store.Tx, actor Actor, workspace store.Workspace, wanted NewCatalog) (store.Catalog, error) {
	catalog, err := tx.InsertCatalog(ctx, store.InsertCatalogParams{
		WorkspaceID: workspace.ID, Name: wanted.Name, Slug: wanted.Slug, Exclusive: wanted.Exclusive,
		Params: wanted.Params, ParamsText: wanted.text, CreatedBy: actor.Signature(),
	})
	if err != nil {
		return catalog, fmt.Errorf("write catalog %s: %w", wanted.Slug, err)
	}
	return catalog, f.audit(ctx, tx, actor, change{
		Action: "catalog.create", ObjectType: "Catalog", ObjectID: catalog.ID, Workspace: workspace,
		Changes: map[string]any{"name": catalog.Name, "slug": catalog.Slug, "exclusive": catalog.Exclusive},
	})
}

func slugTaken(err error, slug string) error {
	if store.Unique(err, "catalogs_slug") {
		return fault.Fields(map[string]fault.Message{SlugField: {Key: "inventory.slug.taken", Args: []any{slug}}})
	}
	return err
}

// Catalogs lists the catalogs of a workspace with how many records each has.
func (f *Fleet) Catalogs(ctx context.Context, actor Actor, workspaceID uuid.UUID, withArchived bool) ([]store.CatalogsRow, error) {
	if err := Allowed(actor, InventoryView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.Catalogs(ctx, store.CatalogsParams{WorkspaceID: workspaceID, WithArchived: withArchived})
	return rows, store.AsFault(err)
}

// Catalog is one catalog that the actor may see.
func (f *Fleet) Catalog(ctx context.Context, actor Actor, id uuid.UUID) (store.Catalog, error) {
	catalog, err := f.Store.Catalog(ctx, id)
	if err != nil {
		return catalog, store.AsFault(err)
	}
	return catalog, Allowed(actor, InventoryView, catalog.WorkspaceID)
}

// CatalogSchema describes the records of a catalog that the actor may see.
func (f *Fleet) CatalogSchema(ctx context.Context, actor Actor, id uuid.UUID) (schema.Schema, error) {
	catalog, err := f.Catalog(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	described, err := parseCatalog(catalog.Params)
	return described.Schema, err
}

// CatalogText is the schema of a catalog as its author wrote it.
func CatalogText(catalog store.Catalog) string {
	if catalog.ParamsText != "" {
		return catalog.ParamsText
	}
	return storedText(catalog.Params)
}

// CatalogUsers are clusters that use a record of a catalog, as many as a message can name.
func (f *Fleet) CatalogUsers(ctx context.Context, actor Actor, id uuid.UUID) ([]store.CatalogUsersRow, error) {
	if _, err := f.Catalog(ctx, actor, id); err != nil {
		return nil, err
	}
	users, err := f.Store.CatalogUsers(ctx, store.CatalogUsersParams{CatalogID: id, Most: mostNamed})
	return users, store.AsFault(err)
}

// catalogForUpdate locks a catalog: records of one catalog are written and taken one after another.
func catalogForUpdate(ctx context.Context, tx *store.Tx, actor Actor, id uuid.UUID) (store.Catalog, store.Workspace, error) {
	catalog, err := tx.CatalogForUpdate(ctx, id)
	if err != nil {
		return catalog, store.Workspace{}, err
	}
	if err := Allowed(actor, InventoryEdit, catalog.WorkspaceID); err != nil {
		return catalog, store.Workspace{}, err
	}
	workspace, err := tx.Workspace(ctx, catalog.WorkspaceID)
	return catalog, workspace, err
}

// ChangeCatalog gives a catalog another name, and another schema as long as no cluster uses one of
// its records; how the schema is written can always change. What the schema makes of the records is noted with each. It fails with Conflict when
// somebody changed the catalog since revision, or with the names of who uses its records.
func (f *Fleet) ChangeCatalog(ctx context.Context, actor Actor, id uuid.UUID, revision int, name string, params json.RawMessage) (store.Catalog, error) {
	var after store.Catalog
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, workspace, err := catalogForUpdate(ctx, tx, actor, id)
		if err != nil {
			return err
		}
		wanted, err := NewCatalog{Name: name, Slug: before.Slug, Params: params}.check()
		if err != nil {
			return err
		}
		switch {
		case before.ArchivedAt != nil:
			return fault.New(fault.Conflict, "inventory.archived", before.Name)
		case before.Revision != revision:
			return fault.New(fault.Conflict, "inventory.stale_revision", before.Name)
		}
		changes := map[string]any{}
		if before.Name != wanted.Name {
			changes["name"] = []any{before.Name, wanted.Name}
		}
		other := !sameJSON(before.Params, wanted.Params)
		if other {
			if err := unused(ctx, tx, before, "inventory.schema.used"); err != nil {
				return err
			}
			changes["params"] = []any{before.Params, wanted.Params}
		} else {
			wanted.Params = before.Params
		}
		if after, err = tx.SetCatalog(ctx, store.SetCatalogParams{ID: id, Name: wanted.Name, Params: wanted.Params, ParamsText: wanted.text}); err != nil {
			return fmt.Errorf("change catalog %s: %w", before.Slug, err)
		}
		if other {
			if err := f.fitRecords(ctx, tx, before, after); err != nil {
				return err
			}
		}
		return f.audit(ctx, tx, actor, change{
			Action: "catalog.change", ObjectType: "Catalog", ObjectID: id, Workspace: workspace, Changes: changes,
		})
	})
	return after, err
}

// unused fails with Conflict and the names of clusters that use records of a locked catalog.
func unused(ctx context.Context, tx *store.Tx, catalog store.Catalog, key string) error {
	users, err := tx.CatalogUsers(ctx, store.CatalogUsersParams{CatalogID: catalog.ID, Most: mostNamed})
	if err != nil || len(users) == 0 {
		return err
	}
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.Name
	}
	return fault.New(fault.Conflict, key, catalog.Name, strings.Join(names, ", "))
}

// fitRecords notes what a changed schema makes of a catalog's records. It fails with Invalid when
// a field became unique and two records share a value.
func (f *Fleet) fitRecords(ctx context.Context, tx *store.Tx, before, after store.Catalog) error {
	described, err := parseCatalog(after.Params)
	if err != nil {
		return err
	}
	rows, err := tx.RecordsOfCatalog(ctx, before.ID)
	if err != nil {
		return err
	}
	if err := tx.DeleteCatalogValues(ctx, before.ID); err != nil {
		return err
	}
	for _, row := range rows {
		values, err := recordValues(tx.Keys, row)
		if err != nil {
			return err
		}
		_, problems := described.Check(values, nil)
		fit := store.SetRecordFitParams{ID: row.ID, Label: described.labelOf(row.ID, values), SchemaMatches: len(problems) == 0}
		plain, secret := described.split(values)
		fit.Plain = plain
		if fit.Secrets, fit.SecretsKey, err = tx.Keys.SealJSON("records", "secrets", row.ID, secret); err != nil {
			return err
		}
		if err := tx.SetRecordFit(ctx, fit); err != nil {
			return fmt.Errorf("note what record %s is by the new schema: %w", row.ID, err)
		}
		if row.ArchivedAt != nil {
			continue
		}
		if key, twin, err := claimValues(ctx, tx, described, row.CatalogID, row.ID, values); err != nil {
			return err
		} else if twin != nil {
			return badSchema("inventory.schema.not_unique", key, twin.Label, fit.Label)
		}
	}
	return nil
}

// ArchiveCatalog moves a catalog with its records to the archive. It fails with Conflict and the
// names of clusters that use them.
func (f *Fleet) ArchiveCatalog(ctx context.Context, actor Actor, id uuid.UUID) (store.Catalog, error) {
	return f.moveCatalog(ctx, actor, change{Action: "catalog.archive", ObjectID: id}, func(tx *store.Tx, before store.Catalog) (store.Catalog, error) {
		if before.ArchivedAt != nil {
			return before, fault.New(fault.Conflict, "inventory.archived", before.Name)
		}
		if err := unused(ctx, tx, before, "inventory.used"); err != nil {
			return before, err
		}
		return tx.ArchiveCatalog(ctx, id)
	})
}

// RestoreCatalog takes a catalog out of the archive. It fails with Conflict when another catalog
// has its slug by now.
func (f *Fleet) RestoreCatalog(ctx context.Context, actor Actor, id uuid.UUID) (store.Catalog, error) {
	var slug string
	after, err := f.moveCatalog(ctx, actor, change{Action: "catalog.restore", ObjectID: id}, func(tx *store.Tx, before store.Catalog) (store.Catalog, error) {
		if before.ArchivedAt == nil {
			return before, fault.New(fault.Conflict, "inventory.not_archived", before.Name)
		}
		slug = before.Slug
		return tx.RestoreCatalog(ctx, id)
	})
	if store.Unique(err, "catalogs_slug") {
		err = fault.New(fault.Conflict, "inventory.slug.taken", slug)
	}
	return after, err
}

func (f *Fleet) moveCatalog(ctx context.Context, actor Actor, noted change, move func(*store.Tx, store.Catalog) (store.Catalog, error)) (store.Catalog, error) {
	var after store.Catalog
	err := f.Store.InTx(ctx, func(tx *store.Tx) error {
		before, workspace, err := catalogForUpdate(ctx, tx, actor, noted.ObjectID)
		if err != nil {
			return err
		}
		if after, err = move(tx, before); err != nil {
			return err
		}
		noted.ObjectType, noted.Workspace = "Catalog", workspace
		noted.Changes = map[string]any{"name": after.Name, "slug": after.Slug}
		return f.audit(ctx, tx, actor, noted)
	})
	return after, err
}
