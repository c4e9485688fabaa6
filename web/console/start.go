package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/workspaces"
)

// Start shows the workspaces that a person may see.
func (c *Console) Start(w http.ResponseWriter, r *http.Request) error {
	rows, err := c.Fleet.Workspaces(r.Context(), actor(r))
	if err != nil {
		return err
	}
	start := workspaces.Start{CanCreate: fleet.May(actor(r).Everywhere, fleet.WorkspacesEdit)}
	for _, row := range rows {
		start.Rows = append(start.Rows, workspaces.Row{
			Slug: row.Slug, Name: row.Name, Role: roleName(actor(r).Role(row.ID)),
			Clusters: int(row.Clusters), Attention: int(row.Attention), Running: int(row.Running), Waiting: int(row.Waiting),
			Templates: int(row.Templates), Records: int(row.Records),
		})
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("workspaces.title"), section: layout.SectionStart, content: workspaces.StartBody(start),
	})
}

func roleName(role store.Role) i18n.Message {
	if role == store.RoleFull {
		return i18n.M("role.full")
	}
	return i18n.M("role.read")
}
