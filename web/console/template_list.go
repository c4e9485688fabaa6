package console

import (
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
)

// Templates lists the templates of a workspace.
func (c *Console) Templates(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	found, err := c.Fleet.TemplateList(r.Context(), actor(r), workspace.ID, fleet.TemplateFilter{
		Archived: query.Status == templates.StatusArchived, Search: query.Text, Sort: query.Order(), Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	list := templates.List{
		Slug: workspace.Slug, Any: found.Active+found.Archived > 0, CanEdit: mayEditTemplates(r, workspace),
		Table: c.table(query, paths.Templates(workspace.Slug), templates.SortName, "templates.filter", len(found.Lines), int(found.Total)),
	}
	list.Table.Kind = "templates"
	archived := query.Status == templates.StatusArchived
	list.Table.Filters = []ui.Filter{
		{Label: i18n.M("filter.all"), Count: int(found.Active), Href: paths.TemplateList(workspace.Slug, query.Only("")), Pressed: !archived},
		{Label: i18n.M("filter.archived"), Count: int(found.Archived), Href: paths.TemplateList(workspace.Slug, query.Only(templates.StatusArchived)), Pressed: archived},
	}
	for _, line := range found.Lines {
		t := line.ClusterTemplate
		row := templates.Row{
			ID: t.ID.String(), Name: t.Name, Comment: fleet.TextIn(language(r.Context()), "", t.Comment), Shipped: t.Immutable, ChangedAt: t.ChangedAt,
			Versions: int(line.Versions), Clusters: int(line.Clusters), Available: line.CurrentAvailable != nil && *line.CurrentAvailable,
		}
		if line.CurrentNumber != nil {
			row.Current = *line.CurrentNumber
		}
		list.Rows = append(list.Rows, row)
	}
	return c.templatePage(w, r, http.StatusOK, workspace, page{
		title: i18n.M("templates.title"), content: templates.ListBody(list),
	})
}

func mayEditTemplates(r *http.Request, workspace store.Workspace) bool {
	return fleet.May(actor(r).Role(workspace.ID), fleet.TemplatesEdit)
}

func (c *Console) templatePage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, p page) error {
	p.section, p.workspace = layout.SectionTemplates, &workspace
	return c.show(w, r, status, p)
}

// template is the one in a request's address, in the workspace of the same address.
func (c *Console) template(r *http.Request) (fleet.TemplateHead, error) {
	workspace, err := c.workspace(r)
	if err != nil {
		return fleet.TemplateHead{}, err
	}
	return c.templateIn(r, workspace, id)
}

// templateIn is a template of a workspace by the id that a request names.
func (c *Console) templateIn(r *http.Request, workspace store.Workspace, named func(*http.Request) (uuid.UUID, error)) (fleet.TemplateHead, error) {
	parsed, err := named(r)
	if err != nil {
		return fleet.TemplateHead{}, err
	}
	found, err := c.Fleet.TemplateHead(r.Context(), actor(r), parsed)
	if err == nil && found.WorkspaceID != workspace.ID {
		err = fault.New(fault.NotFound, "fault.not_found")
	}
	return found, err
}

// templateHead is what all pages of a template begin with.
func templateHead(r *http.Request, t fleet.TemplateHead, tab templates.Tab) templates.Head {
	may := fleet.May(actor(r).Role(t.WorkspaceID), fleet.ClustersEdit)
	return templates.Head{
		Slug: t.Workspace.Slug, ID: t.ID.String(), Name: t.Name, Comment: fleet.TextIn(language(r.Context()), "", t.ClusterTemplate.Comment),
		Shipped: t.Immutable, Archived: t.ArchivedAt != nil, Current: t.Current, Versions: t.Versions, Clusters: t.Clusters,
		CanEdit: mayEditTemplates(r, t.Workspace), CanCreate: may && t.ArchivedAt == nil && t.Current > 0, Tab: tab,
	}
}
