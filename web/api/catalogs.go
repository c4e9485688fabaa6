package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
)

type catalog struct {
	ID              uuid.UUID       `json:"id"`
	CurrentRevision int             `json:"current_revision"`
	Name            string          `json:"name"`
	Slug            string          `json:"slug"`
	Exclusive       bool            `json:"exclusive"`
	Params          json.RawMessage `json:"params"`
	CreatedAt       moment          `json:"created_at"`
	UpdatedAt       moment          `json:"updated_at"`
	ArchivedAt      *moment         `json:"archived_at"`
	ArchiveNumber   *int            `json:"archive_number"`
}

func catalogOf(c store.Catalog) catalog {
	return catalog{
		ID: c.ID, CurrentRevision: c.Revision, Name: c.Name, Slug: c.Slug, Exclusive: c.Exclusive, Params: c.Params,
		CreatedAt: moment(c.CreatedAt), UpdatedAt: moment(c.ChangedAt), ArchivedAt: optional(c.ArchivedAt), ArchiveNumber: c.ArchiveNumber,
	}
}

// importReport tells what became of the records of an import.
type importReport struct {
	Catalog catalog         `json:"catalog"`
	Created bool            `json:"created"`
	Taken   int             `json:"taken"`
	Misfits []importProblem `json:"misfits"`
	Refused []importProblem `json:"refused"`
}

type importProblem struct {
	Number  int               `json:"number"` // from 1, as the document has them
	Label   string            `json:"label"`
	Details map[string]string `json:"details"`
}

func (a *api) listCatalogs(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.Catalogs(r.Context(), c.actor, c.workspace.ID, r.URL.Query().Get("without_archived") != "true")
	if err != nil {
		return err
	}
	out := make([]catalog, 0, len(rows))
	for _, row := range rows {
		out = append(out, catalogOf(row.Catalog))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) showCatalog(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	found, err := a.fleet.Catalog(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, catalogOf(found))
	return nil
}

// importCatalog makes a catalog with its records, or adds records to the one with the slug.
func (a *api) importCatalog(w http.ResponseWriter, r *http.Request) error {
	var body fleet.Import
	if err := read(w, r, &body); err != nil {
		return err
	}
	c := callerOf(r.Context())
	report, err := a.fleet.ImportRecords(r.Context(), c.actor, c.workspace.ID, body)
	if err != nil {
		return err
	}
	problems := func(found []fleet.ImportProblem) []importProblem {
		out := []importProblem{}
		for _, p := range found {
			details := map[string]string{}
			for field, m := range p.Fields {
				details[field] = i18n.T(r.Context(), m.Key, m.Args...)
			}
			out = append(out, importProblem{p.Number, p.Label, details})
		}
		return out
	}
	send(w, http.StatusOK, importReport{catalogOf(report.Catalog), report.Created, report.Taken, problems(report.Misfits), problems(report.Refused)})
	return nil
}

// changeCatalog renames a catalog and changes its schema, which no cluster may rely on.
func (a *api) changeCatalog(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body struct {
		CurrentRevision *int            `json:"current_revision"`
		Name            *string         `json:"name"`
		Params          json.RawMessage `json:"params"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"current_revision", body.CurrentRevision != nil}, attribute{"name", body.Name != nil}, attribute{"params", body.Params != nil}); err != nil {
		return err
	}
	after, err := a.fleet.ChangeCatalog(r.Context(), callerOf(r.Context()).actor, id, *body.CurrentRevision, *body.Name, body.Params)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, catalogOf(after))
	return nil
}

func (a *api) archiveCatalog(w http.ResponseWriter, r *http.Request) error {
	return a.onCatalog(w, r, a.fleet.ArchiveCatalog)
}

func (a *api) restoreCatalog(w http.ResponseWriter, r *http.Request) error {
	return a.onCatalog(w, r, a.fleet.RestoreCatalog)
}

// onCatalog does something with a catalog and answers with it.
func (a *api) onCatalog(w http.ResponseWriter, r *http.Request, do func(context.Context, fleet.Actor, uuid.UUID) (store.Catalog, error)) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	after, err := do(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, catalogOf(after))
	return nil
}
