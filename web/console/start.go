package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/workspaces"
)

// Start shows the workspaces that a person may see.
func (c *Console) Start(w http.ResponseWriter, r *http.Request) error {
	rows, err := c.Fleet.Workspaces(r.Context(), actor(r))
	if err != nil {
		return err
	}
	start := workspaces.Start{CanCreate: fleet.May(actor(r).Everywhere, fleet.WorkspacesEdit)}
	all := make([]workspaces.Row, 0, len(rows))
	for _, row := range rows {
		all = append(all, workspaces.Row{
			Slug: row.Slug, Name: row.Name, Role: roleName(actor(r).Role(row.ID)),
			Clusters: int(row.Clusters), Attention: int(row.Attention), Running: int(row.Running), Waiting: int(row.Waiting),
			Templates: int(row.Templates), Records: int(row.Records),
		})
	}
	query, total := paths.ParseQuery(r.URL.Query()), 0
	start.Rows, total = workspaceRows.find(c, query, all)
	start.Any, start.Table = len(all) > 0, c.table(query, paths.Start(), workspaces.SortName, "workspaces.filter", len(start.Rows), total)
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("workspaces.title"), section: layout.SectionStart, content: workspaces.StartBody(start),
	})
}

var workspaceRows = handful[workspaces.Row]{
	text: func(row workspaces.Row) string { return row.Name + " " + row.Slug },
	orders: map[string]func(a, b workspaces.Row) int{
		workspaces.SortName:      byName(func(row workspaces.Row) string { return row.Name }),
		workspaces.SortAttention: by(func(row workspaces.Row) int { return row.Attention + row.Waiting }),
		workspaces.SortClusters:  by(func(row workspaces.Row) int { return row.Clusters }),
		workspaces.SortRunning:   by(func(row workspaces.Row) int { return row.Running }),
		workspaces.SortTemplates: by(func(row workspaces.Row) int { return row.Templates }),
		workspaces.SortRecords:   by(func(row workspaces.Row) int { return row.Records }),
	},
}

func roleName(role store.Role) i18n.Message {
	if role == store.RoleFull {
		return i18n.M("role.full")
	}
	return i18n.M("role.read")
}
