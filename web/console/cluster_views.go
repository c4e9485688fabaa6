package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// savedViews adds the workspace's saved views to a list. Their counts come later.
func (c *Console) savedViews(r *http.Request, workspace store.Workspace, list *clusters.List) error {
	views, err := c.Fleet.ClusterViews(r.Context(), actor(r), workspace.ID)
	if err != nil {
		return err
	}
	for _, view := range views {
		chip := viewFilter(workspace.Slug, view)
		chip.Later = true
		if chip.Pressed = paths.ReadHere(view.Query).Same(list.Query); chip.Pressed {
			list.View.ID, list.View.Name = view.ID.String(), view.Name
		}
		list.Saved = append(list.Saved, chip)
	}
	if list.View.ID != "" {
		list.Filters[0].Pressed = false // a saved view of all, in an order of its own
	}
	return nil
}

func viewFilter(slug string, view store.ClusterView) ui.Filter {
	return ui.Filter{
		Name: "view-" + view.ID.String(), Label: i18n.Plain(view.Name), Href: paths.ClusterList(slug, paths.ReadHere(view.Query)),
	}
}

// ClusterViews shows the saved views of a workspace, each with how many clusters it has.
func (c *Console) ClusterViews(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
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
	saved := clusters.SavedViews{Slug: workspace.Slug}
	for i, view := range views {
		filter := viewFilter(workspace.Slug, view)
		filter.Count = int(counts[i])
		saved.Views = append(saved.Views, filter)
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("view.title"), section: layout.SectionClusters, workspace: &workspace,
		content: clusters.ViewsBody(saved), fragment: clusters.ViewsFragment(saved),
	})
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
