package console

import (
	"net/http"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/tasks"
)

// ClusterTasks lists the tasks of a cluster.
func (c *Console) ClusterTasks(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	query, address := paths.ParseQuery(r.URL.Query()), paths.ClusterTasks(view.ID.String())
	found, err := c.Fleet.ClusterTasks(r.Context(), actor(r), view.Cluster, c.taskFilter(query))
	if err != nil {
		return err
	}
	t := clusters.Tasks{
		Head: c.head(view, actor(r), clusters.TabTasks), Any: len(view.Tasks) > 0, Newest: newestTask(view),
		Table: c.table(query, address, "-"+tasks.SortCreated, "tasks.filter_actor", len(found.Tasks), int(found.Total)),
	}
	t.Table.Kind, t.Table.Filters = "tasks", taskFiltersOf(address, query, found.Statuses)
	for i := range t.Table.Filters {
		t.Table.Filters[i].Name = "" // live counts of that name are the workspace's
	}
	for _, task := range found.Tasks {
		t.Rows = append(t.Rows, taskRow(task, ""))
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsTasks, page{tab: i18n.M("cluster.tab.tasks"), content: clusters.TasksBody(t)})
}

// newestTask is the id of the newest task of a cluster, empty without one.
func newestTask(view fleet.ClusterView) string {
	if len(view.Tasks) == 0 {
		return ""
	}
	return view.Tasks[0].ID.String()
}
