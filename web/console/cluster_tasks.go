package console

import (
	"net/http"

	"commander/views/clusters"
	"commander/views/ui"
)

// ClusterTasks lists the newest tasks of a cluster.
func (c *Console) ClusterTasks(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	rows := taskRows(view, len(view.Tasks))
	return c.clusterPage(w, r, http.StatusOK, view, partsTasks, page{content: clusters.TasksBody(clusters.Tasks{
		Head: c.head(view, actor(r), clusters.TabTasks), Rows: rows,
		Pages: ui.Pages{From: 1, To: len(rows), Total: len(rows)},
	})})
}
