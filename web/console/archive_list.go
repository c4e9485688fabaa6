package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
)

// Archive lists the clusters of a workspace that are no longer managed.
func (c *Console) Archive(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	found, err := c.Fleet.Clusters(r.Context(), actor(r), workspace.ID, fleet.ClusterFilter{
		Archived: true, Search: query.Text, Sort: query.Order(), Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	list := clusters.ArchiveList{
		Slug: workspace.Slug, Any: found.Counts.Archived > 0,
		Table: c.table(query, paths.Archive(workspace.Slug), "-"+clusters.SortArchived, "clusters.filter", len(found.Lines), int(found.Total)),
	}
	for _, line := range found.Lines {
		list.Rows = append(list.Rows, archiveRow(line, found.ArchivedBy[line.ID]))
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("archive.title"), section: layout.SectionArchive, workspace: &workspace, counts: &found.Counts, content: clusters.ArchiveBody(list),
	})
}

func archiveRow(line store.ClusterLine, by string) clusters.ArchiveRow {
	row := clusters.ArchiveRow{
		ID: line.ID.String(), Name: line.Name, Template: line.TemplateName, ArchivedAt: moment(line.ArchivedAt), ArchivedBy: by,
		// Nothing is left of a cluster that was deleted to the end, or for which nothing was ever done.
		Cleaned: line.TaskID == nil || line.TaskKind == store.TaskDestroy && line.TaskStatus == store.TaskSucceeded,
	}
	if line.ArchiveNumber != nil {
		row.Number = *line.ArchiveNumber
	}
	return row
}
