package console

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/inventory"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// Catalogs lists the catalogs of a workspace, those in the archive last.
func (c *Console) Catalogs(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	rows, err := c.Fleet.Catalogs(r.Context(), actor(r), workspace.ID, true)
	if err != nil {
		return err
	}
	list := inventory.List{Slug: workspace.Slug, Any: len(rows) > 0, CanCreate: mayEditInventory(r, workspace)}
	all := make([]inventory.Row, 0, len(rows))
	for _, row := range rows {
		all = append(all, inventory.Row{
			ID: row.Catalog.ID.String(), Name: row.Catalog.Name, Slug: row.Catalog.Slug, Exclusive: row.Catalog.Exclusive,
			Records: int(row.Records), Used: int(row.Used), Archived: row.Catalog.ArchivedAt != nil,
		})
	}
	query, total := paths.ParseQuery(r.URL.Query()), 0
	list.Rows, total = catalogRows.find(c, query, all)
	list.Table = c.table(query, paths.Catalogs(workspace.Slug), inventory.SortName, "catalogs.filter", len(list.Rows), total)
	return c.inventoryPage(w, r, http.StatusOK, workspace, page{title: i18n.M("inventory.title"), content: inventory.ListBody(list)})
}

var catalogRows = handful[inventory.Row]{
	text: func(row inventory.Row) string { return row.Name + " " + row.Slug },
	orders: map[string]func(a, b inventory.Row) int{
		inventory.SortName:    byName(func(row inventory.Row) string { return row.Name }),
		inventory.SortRecords: by(func(row inventory.Row) int { return row.Records }),
		inventory.SortUsed:    by(func(row inventory.Row) int { return row.Used }),
	},
}

func mayEditInventory(r *http.Request, workspace store.Workspace) bool {
	return fleet.May(actor(r).Role(workspace.ID), fleet.InventoryEdit)
}

func (c *Console) inventoryPage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, p page) error {
	p.section, p.workspace = layout.SectionInventory, &workspace
	return c.show(w, r, status, p)
}

// catalogTyped is the form of a catalog as a person left it.
type catalogTyped struct {
	name, slug string
	schema     *schemaWork
	exclusive  bool
	revision   int
}

func catalogTypedIn(r *http.Request) (catalogTyped, error) {
	if err := parseForm(r); err != nil {
		return catalogTyped{}, err
	}
	form := r.PostForm
	t := catalogTyped{
		name: form.Get(inventory.FieldName), slug: form.Get(inventory.FieldSlug), schema: schemaWorkIn(form, inventory.FieldParams),
		exclusive: form.Get(inventory.FieldExclusive) == "true",
	}
	t.schema.catalog = true
	var err error
	t.revision, err = revisionIn(r)
	return t, err
}

// schemaOf is the work on a text that nobody has touched yet.
func schemaOf(text string) *schemaWork {
	return &schemaWork{name: inventory.FieldParams, text: text, catalog: true}
}

// revisionIn is the one that a posted form was drawn from, 0 when it names none.
func revisionIn(r *http.Request) (int, error) {
	text := r.PostForm.Get(inventory.FieldRevision)
	if text == "" {
		return 0, nil
	}
	revision, err := strconv.Atoi(text)
	if err != nil {
		return 0, fault.Wrap(fault.Invalid, err, "fault.form")
	}
	return revision, nil
}

const firstFields = "- key: name\n  title: Name\n  type: string\n  unique: true\n"

// NewCatalog is the form of a new catalog.
func (c *Console) NewCatalog(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.catalogForm(w, r, http.StatusOK, workspace, nil, catalogTyped{schema: schemaOf(firstFields), exclusive: true}, nil)
}

// catalogForm answers with the form; saved is nil for a new catalog.
func (c *Console) catalogForm(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, saved *store.Catalog, t catalogTyped, refusal *fault.Error) error {
	form := inventory.Form{Slug: workspace.Slug, CanSave: mayEditInventory(r, workspace), Revision: strconv.Itoa(t.revision)}
	title := i18n.M("catalogs.new")
	var problems map[string]fault.Message
	if refusal != nil {
		problems, form.Message = refusal.Fields, respond.Message(refusal)
	}
	if saved != nil {
		form.ID, form.Name, form.Archived = saved.ID.String(), saved.Name, saved.ArchivedAt != nil
		title = i18n.Plain(saved.Name)
		users, err := c.Fleet.CatalogUsers(r.Context(), actor(r), saved.ID)
		if err != nil {
			return err
		}
		names := make([]string, len(users))
		for i, u := range users {
			names[i] = u.Name
		}
		form.UsedBy = strings.Join(names, ", ")
	}
	form.Fields = catalogFields(r.Context(), t, saved, problems)
	if problem := problems[fleet.ParamsField]; t.schema.problem.Key == "" {
		t.schema.problem = problem
	}
	form.Schema = t.schema.model(r.Context(), paths.SchemaBuilder(workspace.Slug))
	return c.inventoryPage(w, r, status, workspace, page{title: title, content: inventory.FormBody(form)})
}

func catalogFields(ctx context.Context, t catalogTyped, saved *store.Catalog, problems map[string]fault.Message) []ui.Field {
	fields := []ui.Field{{Name: inventory.FieldName, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "catalogs.name"), Value: t.name}}
	if saved == nil {
		fields = append(fields,
			ui.Field{Name: inventory.FieldSlug, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "catalogs.slug"), Hint: i18n.T(ctx, "catalogs.slug_hint"), Value: t.slug},
			ui.Field{
				Name: inventory.FieldExclusive, Kind: ui.Select, Span: 2, Title: i18n.T(ctx, "catalogs.mode"), Value: strconv.FormatBool(t.exclusive),
				Options: []ui.Option{{Value: "true", Text: i18n.T(ctx, "catalogs.exclusive")}, {Value: "false", Text: i18n.T(ctx, "catalogs.shared")}},
			})
	}
	focused := false
	for i := range fields {
		fields[i].Problem = i18n.Message(problems[fields[i].Name])
		fields[i].Focus = !focused && !fields[i].Problem.IsZero()
		focused = focused || fields[i].Focus
	}
	return fields
}

// CreateCatalog makes a catalog.
func (c *Console) CreateCatalog(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t, err := catalogTypedIn(r)
	if err != nil {
		return err
	}
	if t.schema.again {
		return c.catalogForm(w, r, t.schema.status(), workspace, nil, t, nil)
	}
	made, err := c.createCatalog(r, workspace.ID, t)
	if refusal, is := refused(err); is {
		return c.catalogForm(w, r, respond.Status(refusal), workspace, nil, t, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalog(workspace.Slug, made.ID.String()))
}

func (c *Console) createCatalog(r *http.Request, workspaceID uuid.UUID, t catalogTyped) (store.Catalog, error) {
	return c.Fleet.CreateCatalog(r.Context(), actor(r), workspaceID, fleet.NewCatalog{
		Name: t.name, Slug: t.slug, Exclusive: t.exclusive, Params: json.RawMessage(t.schema.text),
	})
}

// catalog is the one in a request's address, in the workspace of the same address.
func (c *Console) catalog(r *http.Request) (store.Workspace, store.Catalog, error) {
	workspace, err := c.workspace(r)
	if err != nil {
		return workspace, store.Catalog{}, err
	}
	parsed, err := id(r)
	if err != nil {
		return workspace, store.Catalog{}, err
	}
	found, err := c.Fleet.Catalog(r.Context(), actor(r), parsed)
	if err == nil && found.WorkspaceID != workspace.ID {
		err = fault.New(fault.NotFound, "fault.not_found")
	}
	return workspace, found, err
}

// CatalogSettings is the form of a catalog's name and fields.
func (c *Console) CatalogSettings(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.catalog(r)
	if err != nil {
		return err
	}
	t := catalogTyped{name: found.Name, schema: schemaOf(fleet.CatalogText(found)), revision: found.Revision}
	return c.catalogForm(w, r, http.StatusOK, workspace, &found, t, nil)
}

// SaveCatalog gives a catalog another name or other fields.
func (c *Console) SaveCatalog(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.catalog(r)
	if err != nil {
		return err
	}
	t, err := catalogTypedIn(r)
	if err != nil {
		return err
	}
	if t.schema.again {
		return c.catalogForm(w, r, t.schema.status(), workspace, &found, t, nil)
	}
	_, err = c.Fleet.ChangeCatalog(r.Context(), actor(r), found.ID, t.revision, t.name, json.RawMessage(t.schema.text))
	if refusal, is := refused(err); is {
		return c.catalogForm(w, r, respond.Status(refusal), workspace, &found, t, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalog(workspace.Slug, found.ID.String()))
}

// ArchiveCatalog moves a catalog to the archive.
func (c *Console) ArchiveCatalog(w http.ResponseWriter, r *http.Request) error {
	return c.moveCatalog(w, r, c.Fleet.ArchiveCatalog)
}

// RestoreCatalog takes a catalog out of the archive.
func (c *Console) RestoreCatalog(w http.ResponseWriter, r *http.Request) error {
	return c.moveCatalog(w, r, c.Fleet.RestoreCatalog)
}

func (c *Console) moveCatalog(w http.ResponseWriter, r *http.Request, move func(context.Context, fleet.Actor, uuid.UUID) (store.Catalog, error)) error {
	workspace, found, err := c.catalog(r)
	if err != nil {
		return err
	}
	if _, err := move(r.Context(), actor(r), found.ID); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalogs(workspace.Slug))
}
