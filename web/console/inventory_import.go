package console

import (
	"context"
	"net/http"
	"slices"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/inventory"
	"commander/web/respond"
)

// CatalogImport is the form that takes a catalog from JSON.
func (c *Console) CatalogImport(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.importPage(w, r, http.StatusOK, workspace, inventory.Import{})
}

func (c *Console) importPage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, p inventory.Import) error {
	p.Slug = workspace.Slug
	return c.inventoryPage(w, r, status, workspace, page{title: i18n.M("catalogs.import_title"), content: inventory.ImportBody(p)})
}

// ImportCatalog adds the records of a document and reports what became of each.
func (c *Console) ImportCatalog(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	text := r.PostForm.Get(inventory.FieldDocument)
	var report fleet.ImportReport
	in, err := fleet.ParseImport([]byte(text))
	if err == nil {
		report, err = c.Fleet.ImportRecords(r.Context(), actor(r), workspace.ID, in)
	}
	if refusal, is := refused(err); is {
		message := respond.Message(refusal)
		for _, problem := range refusal.Fields {
			message = i18n.Message(problem)
		}
		return c.importPage(w, r, respond.Status(refusal), workspace, inventory.Import{Text: text, Message: message})
	}
	if err != nil {
		return err
	}
	return c.importPage(w, r, http.StatusOK, workspace, inventory.Import{Report: &inventory.Report{
		CatalogID: report.Catalog.ID.String(), Catalog: report.Catalog.Name, Created: report.Created, Taken: report.Taken,
		Misfits: importProblems(r.Context(), report.Misfits), Refused: importProblems(r.Context(), report.Refused),
	}})
}

func importProblems(ctx context.Context, found []fleet.ImportProblem) []inventory.Problem {
	out := make([]inventory.Problem, 0, len(found))
	for _, p := range found {
		shown := inventory.Problem{Number: p.Number, Label: p.Label}
		for field, m := range p.Fields {
			text := i18n.T(ctx, m.Key, m.Args...)
			if field != "" {
				text = field + ": " + text
			}
			shown.Texts = append(shown.Texts, text)
		}
		slices.Sort(shown.Texts)
		out = append(out, shown)
	}
	return out
}
