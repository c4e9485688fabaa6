package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// savedViews adds the workspace's saved views to a list, each with its count.
func (c *Console) savedViews(r *http.Request, workspace store.Workspace, list *clusters.List) error {
	views, err := c.Fleet.ClusterViews(r.Context(), actor(r), workspace.ID)
	if err != nil {
		return err
	}
	filters := make([]fleet.ClusterFilter, len(views))
	for i, view := range views {
		filters[i] = filterOf(paths.ReadHere(view.Query))
	}
	counts, err := c.Fleet.CountClusters(r.Context(), actor(r), workspace.ID, filters)
	if err != nil {
		return err
	}
	for i, view := range views {
		query := paths.ReadHere(view.Query)
		shown := query.Same(list.Query)
		list.Filters = append(list.Filters, ui.Filter{
			Label: i18n.Plain(view.Name), Count: int(counts[i]), Href: paths.ClusterList(workspace.Slug, query), Pressed: shown,
		})
		if shown {
			list.View.ID, list.View.Name = view.ID.String(), view.Name
		}
	}
	if list.View.ID != "" {
		list.Filters[0].Pressed = false // a saved view of all, in an order of its own
	}
	return nil
}

// SaveClusterView gives what a list is asked for a name.
func (c *Console) SaveClusterView(w http.ResponseWriter, r *http.Request) error {
	return c.changeView(w, r, func(workspace store.Workspace, name string, query paths.Query) error {
		_, err := c.Fleet.SaveClusterView(r.Context(), actor(r), workspace.ID, name, paths.Here(query.At(0)))
		return err
	})
}

// RenameClusterView gives a saved view another name.
func (c *Console) RenameClusterView(w http.ResponseWriter, r *http.Request) error {
	view, err := id(r)
	if err != nil {
		return err
	}
	return c.changeView(w, r, func(workspace store.Workspace, name string, _ paths.Query) error {
		_, err := c.Fleet.RenameClusterView(r.Context(), actor(r), workspace.ID, view, name)
		return err
	})
}

// changeView acts on a saved view by the name in a form, and comes back to the list.
func (c *Console) changeView(w http.ResponseWriter, r *http.Request, act func(store.Workspace, string, paths.Query) error) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	query := paths.ReadHere(r.PostForm.Get(clusters.FieldQuery))
	name := r.PostForm.Get(clusters.FieldName)
	err = act(workspace, name, query)
	if refusal, is := refused(err); is {
		return c.clusterList(w, r, respond.Status(refusal), workspace, query, func(list *clusters.List) {
			list.View.Name, list.View.Problem = name, firstReason(refusal)
		})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.ClusterList(workspace.Slug, query.At(0)))
}

// DeleteClusterView forgets a saved view.
func (c *Console) DeleteClusterView(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	view, err := id(r)
	if err != nil {
		return err
	}
	if err := c.Fleet.DeleteClusterView(r.Context(), actor(r), workspace.ID, view); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Clusters(workspace.Slug))
}
