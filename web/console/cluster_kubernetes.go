package console

import (
	"net/http"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// objectStates are the words of an agent in those of the page.
var objectStates = map[string]string{
	"applied": "applied",
	"present": "applied", // made once and then left alone, as it was meant
	"failed":  "failed",
	"orphan":  "removed", // no longer declared, and kept
}

// ClusterKubernetes lists what the agent keeps in a cluster and how that goes.
func (c *Console) ClusterKubernetes(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	k := c.kubernetes(view, actor(r))
	groups, err := c.Fleet.GroupControls(r.Context(), actor(r), view.ID)
	if err != nil {
		return err
	}
	for _, g := range groups {
		k.Groups = append(k.Groups, clusters.KeptGroup{
			Name: g.Name, Controlled: g.Controlled, ByTemplate: g.ByTemplate,
			CanChange: g.CanChange && fleet.May(actor(r).Role(view.WorkspaceID), fleet.ClustersEdit),
		})
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsKubernetes, page{tab: i18n.M("cluster.tab.kubernetes"), content: clusters.KubernetesBody(k)})
}

// ControlGroup chooses how the objects of a group are kept in a cluster.
func (c *Console) ControlGroup(w http.ResponseWriter, r *http.Request) error {
	cluster, err := id(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	wanted := r.PostForm.Get(clusters.FieldControlled)
	if wanted != "true" && wanted != "false" {
		return fault.New(fault.Invalid, "fault.form")
	}
	if _, err := c.Fleet.SetGroupControl(r.Context(), actor(r), cluster, r.PostForm.Get(clusters.FieldGroup), wanted == "true"); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.ClusterKubernetes(cluster.String()))
}

func (c *Console) kubernetes(view fleet.ClusterView, who fleet.Actor) clusters.Kubernetes {
	k := clusters.Kubernetes{Head: c.head(view, who, clusters.TabKubernetes)}
	if view.Report == nil {
		return k
	}
	k.CheckedAt = view.Report.ReportedAt
	for _, o := range view.Report.Objects {
		if o.State == "failed" {
			k.Failed++
		}
		k.Objects = append(k.Objects, clusters.Object{
			Group: o.ResourceGroup, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			Status: ui.ObjectStatus(objectStates[o.State]), Error: o.Error, At: view.Report.ReportedAt,
		})
	}
	return k
}
