package console

import (
	"net/http"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
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
	return c.clusterPage(w, r, http.StatusOK, view, partsKubernetes, page{
		tab:     i18n.M("cluster.tab.kubernetes"),
		content: clusters.KubernetesBody(c.kubernetes(view, actor(r))),
	})
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
