package console

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/inventory"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// shownColumns is how many fields the list of records has room for.
const shownColumns = 4

// recordStates are the saved views of a list of records.
var recordStates = []string{"", "free", "used", "misfits", "archived"}

// Catalog lists the records of a catalog.
func (c *Console) Catalog(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.catalog(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	list, err := c.Fleet.Records(r.Context(), actor(r), found.ID, fleet.RecordFilter{
		Search: query.Text, State: query.Status, Sort: query.Order(), Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	shown := inventory.Catalog{
		Slug: workspace.Slug, ID: found.ID.String(), Name: found.Name, Identifier: found.Slug, Exclusive: found.Exclusive,
		Archived: found.ArchivedAt != nil, CanEdit: mayEditInventory(r, workspace),
		Any:   list.Counts.Records+list.Counts.Archived > 0,
		Table: c.table(query, paths.Catalog(workspace.Slug, found.ID.String()), inventory.SortName, "records.filter", len(list.Lines), int(list.Total)),
	}
	fields := list.Schema.Fields()
	fields = fields[:min(len(fields), shownColumns)]
	for _, f := range fields {
		shown.Columns = append(shown.Columns, f.Title)
	}
	counts := map[string]int64{
		"": list.Counts.Records, "free": list.Counts.Records - list.Counts.Used, "used": list.Counts.Used,
		"misfits": list.Counts.Misfits, "archived": list.Counts.Archived,
	}
	for _, state := range recordStates {
		label := state
		if label == "" {
			label = "all"
		}
		shown.Table.Filters = append(shown.Table.Filters, ui.Filter{
			Label: i18n.M("filter." + label), Count: int(counts[state]), Pressed: query.Status == state,
			Href: paths.Asked(shown.Table.Address, query.Only(state)),
		})
	}
	for _, line := range list.Lines {
		row := inventory.Record{ID: line.ID.String(), Label: line.Label, Misfit: !line.SchemaMatches, Users: recordUsers(line.Users)}
		for _, f := range fields {
			row.Values = append(row.Values, schema.Text(line.Shown[f.Key]))
		}
		shown.Rows = append(shown.Rows, row)
	}
	return c.inventoryPage(w, r, http.StatusOK, workspace, page{title: i18n.Plain(found.Name), content: inventory.CatalogBody(shown)})
}

func recordUsers(users []fleet.RecordUser) []inventory.User {
	var out []inventory.User
	for _, u := range users {
		out = append(out, inventory.User{ID: u.ID.String(), Name: u.Name})
	}
	return out
}

// recordDraft is what the form of a record is made from; view has no id for a new record.
type recordDraft struct {
	workspace store.Workspace
	view      fleet.RecordView
}

// NewRecord is the form of a new record.
func (c *Console) NewRecord(w http.ResponseWriter, r *http.Request) error {
	d, err := c.newRecord(r)
	if err != nil {
		return err
	}
	return c.recordPage(w, r, http.StatusOK, d, typed{parameters: parameters{values: typedFrom(d.view.Schema, d.view.Schema.Defaults())}}, nil)
}

// newRecord is the draft of a record of the catalog in a request's address.
func (c *Console) newRecord(r *http.Request) (recordDraft, error) {
	workspace, found, err := c.catalog(r)
	if err != nil {
		return recordDraft{}, err
	}
	described, err := c.Fleet.CatalogSchema(r.Context(), actor(r), found.ID)
	return recordDraft{workspace, fleet.RecordView{Catalog: found, Schema: described}}, err
}

func (c *Console) recordPage(w http.ResponseWriter, r *http.Request, status int, d recordDraft, t typed, refusal *fault.Error) error {
	form := inventory.RecordForm{
		Slug: d.workspace.Slug, CatalogID: d.view.Catalog.ID.String(), Catalog: d.view.Catalog.Name, Revision: strconv.Itoa(t.revision),
		Users: recordUsers(d.view.Users), CanSave: mayEditInventory(r, d.workspace), CatalogGone: d.view.Catalog.ArchivedAt != nil,
	}
	title := i18n.M("records.new")
	found := d.view.Problems
	if d.view.ID != uuid.Nil {
		form.ID, form.Label, form.Misfit = d.view.ID.String(), d.view.Label, !d.view.SchemaMatches
		form.Archived = d.view.ArchivedAt != nil
		title = i18n.Plain(d.view.Label)
	}
	if refusal != nil {
		found, form.Message = refusal.Fields, respond.Message(refusal)
	}
	problems := map[string]fault.Message{}
	for key, m := range found {
		problems[fleet.ValueField(key)] = m
	}
	var saved store.Values
	if form.ID != "" {
		saved = d.view.Shown
	}
	form.Blocks = source{schema: d.view.Schema, values: t.values, saved: saved, forget: t.forget}.blocks(r.Context(), problems)
	focused := false
	for i := range form.Blocks {
		f := &form.Blocks[i].Field
		f.Focus = !focused && !f.Problem.IsZero()
		focused = focused || f.Focus
	}
	return c.inventoryPage(w, r, status, d.workspace, page{title: title, content: inventory.RecordBody(form)})
}

func recordTypedIn(r *http.Request) (typed, error) {
	if err := parseForm(r); err != nil {
		return typed{}, err
	}
	t := typed{parameters: parametersIn(r.PostForm)}
	var err error
	t.revision, err = revisionIn(r)
	return t, err
}

// CreateRecord adds a record to a catalog.
func (c *Console) CreateRecord(w http.ResponseWriter, r *http.Request) error {
	d, err := c.newRecord(r)
	if err != nil {
		return err
	}
	t, err := recordTypedIn(r)
	if err != nil {
		return err
	}
	_, err = c.Fleet.CreateRecord(r.Context(), actor(r), d.view.Catalog.ID, t.valuesFor(d.view.Schema, nil))
	if refusal, is := refused(err); is {
		return c.recordPage(w, r, respond.Status(refusal), d, t, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalog(d.workspace.Slug, d.view.Catalog.ID.String()))
}

// record is the one in a request's address, in the workspace of the same address.
func (c *Console) record(r *http.Request) (recordDraft, error) {
	workspace, err := c.workspace(r)
	if err != nil {
		return recordDraft{}, err
	}
	parsed, err := id(r)
	if err != nil {
		return recordDraft{}, err
	}
	view, err := c.Fleet.Record(r.Context(), actor(r), parsed)
	if err == nil && view.Catalog.WorkspaceID != workspace.ID {
		err = fault.New(fault.NotFound, "fault.not_found")
	}
	return recordDraft{workspace, view}, err
}

// Record is the form of a record.
func (c *Console) Record(w http.ResponseWriter, r *http.Request) error {
	d, err := c.record(r)
	if err != nil {
		return err
	}
	t := typed{revision: d.view.Revision, parameters: parameters{values: typedFrom(d.view.Schema, d.view.Shown)}}
	return c.recordPage(w, r, http.StatusOK, d, t, nil)
}

// SaveRecord replaces the values of a record. An empty secret keeps the saved one.
func (c *Console) SaveRecord(w http.ResponseWriter, r *http.Request) error {
	d, err := c.record(r)
	if err != nil {
		return err
	}
	t, err := recordTypedIn(r)
	if err != nil {
		return err
	}
	_, err = c.Fleet.ChangeRecord(r.Context(), actor(r), d.view.ID, t.revision, t.valuesFor(d.view.Schema, d.view.Shown))
	if refusal, is := refused(err); is {
		return c.recordPage(w, r, respond.Status(refusal), d, t, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalog(d.workspace.Slug, d.view.Catalog.ID.String()))
}

// DeleteRecord deletes a record that no cluster uses.
func (c *Console) DeleteRecord(w http.ResponseWriter, r *http.Request) error {
	return c.moveRecord(w, r, c.Fleet.DeleteRecord)
}

// ArchiveRecord moves a record that no cluster uses to the archive.
func (c *Console) ArchiveRecord(w http.ResponseWriter, r *http.Request) error {
	return c.moveRecord(w, r, c.Fleet.ArchiveRecord)
}

// RestoreRecord takes a record out of the archive.
func (c *Console) RestoreRecord(w http.ResponseWriter, r *http.Request) error {
	return c.moveRecord(w, r, c.Fleet.RestoreRecord)
}

func (c *Console) moveRecord(w http.ResponseWriter, r *http.Request, move func(context.Context, fleet.Actor, uuid.UUID) (store.Record, error)) error {
	d, err := c.record(r)
	if err != nil {
		return err
	}
	if _, err := move(r.Context(), actor(r), d.view.ID); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Catalog(d.workspace.Slug, d.view.Catalog.ID.String()))
}
