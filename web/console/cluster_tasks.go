package console

import (
	"net/http"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// ClusterTasks lists the newest tasks of a cluster.
func (c *Console) ClusterTasks(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsTasks, page{
		tab: i18n.M("cluster.tab.tasks"), content: clusters.TasksBody(c.clusterTasks(view, actor(r))),
	})
}

func (c *Console) clusterTasks(view fleet.ClusterView, who fleet.Actor) clusters.Tasks {
	rows := taskRows(view, len(view.Tasks))
	return clusters.Tasks{
		Head: c.head(view, who, clusters.TabTasks), Rows: rows,
		Pages: ui.Pages{From: 1, To: len(rows), Total: len(rows)},
	}
}
