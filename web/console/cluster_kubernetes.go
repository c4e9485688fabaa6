package console

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

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
	c.listObjects(&k, view, paths.ParseQuery(r.URL.Query()))
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

// kubernetes is the tab without its list.
func (c *Console) kubernetes(view fleet.ClusterView, who fleet.Actor) clusters.Kubernetes {
	k := clusters.Kubernetes{Head: c.head(view, who, clusters.TabKubernetes)}
	if view.Report == nil {
		return k
	}
	k.CheckedAt, k.All = view.Report.ReportedAt, len(view.Report.Objects)
	state := fnv.New64a()
	for _, o := range view.Report.Objects {
		if o.State == "failed" {
			k.Failed++
		}
		fmt.Fprintf(state, "%q", []string{o.ResourceGroup, o.Kind, o.Namespace, o.Name, o.State, o.Error})
	}
	k.State = strconv.FormatUint(state.Sum64(), 36)
	return k
}

// listObjects puts those objects on the tab that a query asks for.
func (c *Console) listObjects(k *clusters.Kubernetes, view fleet.ClusterView, query paths.Query) {
	if view.Report == nil {
		return
	}
	address, all, failed := paths.ClusterKubernetes(k.ID), []clusters.Object(nil), query.Status == clusters.ObjectsFailed
	for _, o := range view.Report.Objects {
		if failed && o.State != "failed" {
			continue
		}
		all = append(all, clusters.Object{
			Group: o.ResourceGroup, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
			Status: ui.ObjectStatus(objectStates[o.State]), Error: o.Error,
		})
	}
	total := 0
	k.Objects, total = objectRows.find(c, query, all)
	k.Table = c.table(query, address, "", "objects.filter", len(k.Objects), total)
	k.Table.Kind = "objects"
	k.Table.Filters = []ui.Filter{
		{Label: i18n.M("filter.all"), Count: k.All, Href: paths.Asked(address, query.Only("")), Pressed: !failed},
		{Label: i18n.M("filter.failed"), Count: k.Failed, Href: paths.Asked(address, query.Only(clusters.ObjectsFailed)), Pressed: failed},
	}
}

var objectRows = handful[clusters.Object]{
	text: func(o clusters.Object) string {
		return strings.Join([]string{o.Kind, o.Name, o.Namespace, o.Group, o.Error}, " ")
	},
	orders: map[string]func(a, b clusters.Object) int{
		clusters.SortObjectName:      byName(func(o clusters.Object) string { return o.Name }),
		clusters.SortObjectStatus:    by(func(o clusters.Object) string { return o.Status.Word.Key }),
		clusters.SortObjectNamespace: by(func(o clusters.Object) string { return o.Namespace }),
		clusters.SortObjectGroup:     byName(func(o clusters.Object) string { return o.Group }),
	},
}
