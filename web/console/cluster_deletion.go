package console

import (
	"net/http"
	"strconv"
	"strings"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// Deletion asks before a cluster is deleted.
func (c *Console) Deletion(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	return c.deletion(w, r, http.StatusOK, view, clusters.Deletion{})
}

func (c *Console) deletion(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, d clusters.Deletion) error {
	d.Head = c.head(view, actor(r), clusters.TabNone)
	d.Nodes, d.Revision = view.Line.NodeCount, strconv.Itoa(view.Revision)
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("cluster.tab.deletion"), content: clusters.DeletionBody(d)})
}

// DeleteCluster deletes a cluster with its machines, once its name was typed.
func (c *Console) DeleteCluster(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	if typed := r.PostForm.Get(clusters.FieldTyped); strings.TrimSpace(typed) != view.Name {
		return c.deletion(w, r, http.StatusUnprocessableEntity, view, clusters.Deletion{
			Typed: typed, Problem: i18n.M("deletion.mismatch"),
		})
	}
	_, task, err := c.Fleet.DeleteCluster(r.Context(), actor(r), view.ID)
	switch {
	case err != nil:
		return err
	case task == nil:
		return respond.SeeOther(w, r, paths.Archive(view.Workspace.Slug))
	}
	return respond.SeeOther(w, r, paths.Task(task.ID.String()))
}

// ArchiveCluster moves a cluster to the archive and leaves its machines running, once its name was typed.
func (c *Console) ArchiveCluster(w http.ResponseWriter, r *http.Request) error {
	cluster, err := id(r)
	if err != nil {
		return err
	}
	view, err := c.Fleet.Cluster(r.Context(), actor(r), cluster)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	typed := r.PostForm.Get(clusters.FieldArchived)
	if may := view.ArchivedAt == nil && !view.IsLocked; may && strings.TrimSpace(typed) != view.Name {
		return c.deletion(w, r, http.StatusUnprocessableEntity, view, clusters.Deletion{
			ArchiveTyped: typed, ArchiveProblem: i18n.M("deletion.mismatch"),
		})
	}
	if _, err := c.Fleet.ArchiveCluster(r.Context(), actor(r), cluster); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Cluster(cluster.String()))
}
