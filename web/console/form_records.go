package console

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// offer fills a field with the records of its catalog, and lets a person point it at another one
// unless the template forbids it.
func (s source) offer(ctx context.Context, f *schema.Field, field *ui.Field) {
	choices, find := s.offers[f.Key], s.wanted[f.Key].Find
	for _, r := range choices.Records {
		field.Options = append(field.Options, ui.Option{Value: r.ID, Text: r.Label, Note: noteOf(ctx, r), Refused: r.Taken || r.Misfit || r.Archived})
	}
	switch {
	case f.Autoselect:
		field.Placeholder = i18n.T(ctx, "field.pick")
	default:
		field.Placeholder = i18n.T(ctx, "field.choose")
	}
	switch {
	case choices.Catalog.ID == uuid.Nil:
		field.Note = i18n.M("field.no_catalog", f.Catalog)
	case len(choices.Records) == 0 && find == "":
		field.Note = i18n.M("field.no_records", choices.Catalog.Name)
	case len(choices.Records) == 0:
		field.Note = i18n.M("field.none_found")
	case choices.More > 0:
		field.Note = i18n.M("field.more_records", choices.More)
	}
	if choices.More > 0 || find != "" {
		field.Find = &ui.Find{Name: clusters.FindField(f.Key), Value: find, Refresh: s.refresh}
	}
	if f.Immutable || len(s.catalogs) < 2 && choices.Catalog.ID != uuid.Nil {
		return
	}
	field.Source = &ui.Source{
		Name: clusters.CatalogField(f.Key), Shown: clusters.ShownField(f.Key), Value: choices.Catalog.Slug, Refresh: s.refresh,
	}
	if choices.Catalog.ID == uuid.Nil {
		field.Source.Options = append(field.Source.Options, ui.Option{Text: i18n.T(ctx, "field.choose")})
	}
	for _, c := range s.catalogs {
		field.Source.Options = append(field.Source.Options, ui.Option{Value: c.Slug, Text: c.Name})
	}
}

// noteOf says who has a record, or why it cannot be chosen.
func noteOf(ctx context.Context, r fleet.RecordChoice) string {
	switch {
	case r.Archived:
		return i18n.T(ctx, "cluster.status.archived")
	case r.Misfit:
		return i18n.T(ctx, "records.misfit")
	case r.Taken:
		return i18n.T(ctx, "field.taken", r.User)
	case r.User != "":
		return i18n.T(ctx, "field.used", r.User)
	}
	return ""
}

// parameterSource is what the form of a cluster is made from. clusterID is uuid.Nil for a new one,
// picked are the records of the preview: those that were picked for a field fill it.
func (c *Console) parameterSource(r *http.Request, d draft, t *typed, clusterID uuid.UUID, saved, picked store.Values, refresh string) (source, error) {
	for _, f := range d.schema.Fields() {
		pointed := t.wanted[f.Key].Catalog
		if f.Autoselect && t.values[f.Key] == "" && (pointed == "" || pointed == f.Catalog) {
			t.values[f.Key] = f.Typed(picked[f.Key])
		}
	}
	s := source{schema: d.schema, values: t.values, wanted: t.wanted, saved: saved, forget: t.forget, refresh: refresh}
	var err error
	s.offers, err = c.Fleet.RecordChoices(r.Context(), actor(r), d.workspace.ID, clusterID, d.schema, t.valuesFor(d.schema, saved), t.wanted)
	if err != nil || len(s.offers) == 0 {
		return s, err
	}
	rows, err := c.Fleet.Catalogs(r.Context(), actor(r), d.workspace.ID, false)
	for _, row := range rows {
		s.catalogs = append(s.catalogs, row.Catalog)
	}
	return s, err
}

// asked is the one field that a page asks for anew, by the id of its box.
func asked(r *http.Request, form clusters.Form) (ui.Field, bool) { return askedOf(r, form.Blocks) }

func askedOf(r *http.Request, all []clusters.Block) (ui.Field, bool) {
	for _, b := range all {
		if b.Field.Name != "" && b.Field.BoxID() == r.Header.Get("HX-Target") {
			return b.Field, true
		}
	}
	return ui.Field{}, false
}
