package console

import (
	"net/http"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
)

// archived shows what Commander still knows of a cluster that it no longer manages.
func (c *Console) archived(w http.ResponseWriter, r *http.Request, view fleet.ClusterView) error {
	a := clusters.Archived{
		ID: view.ID.String(), Name: view.Name, Slug: view.Workspace.Slug, Cleaned: view.LeftBehind == "",
		ArchivedAt: moment(view.ArchivedAt), ArchivedBy: view.ArchivedBy, Facts: factsOf(view), Tasks: taskRows(view, len(view.Tasks)),
		Sections: sections(view.Wanted.Rendering.Shown, view.Wanted.RenderErrors),
	}
	if view.ArchiveNumber != nil {
		a.Number = *view.ArchiveNumber
	}
	if view.LeftBehind != "" {
		a.Left = append([]string{i18n.T(r.Context(), view.LeftBehind)}, view.LeftItems...)
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsOverview, page{content: clusters.ArchivedBody(a)})
}
