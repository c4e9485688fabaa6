package console

import (
	"net/http"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// MovePage asks where a cluster is to go, and shows what goes along.
func (c *Console) MovePage(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	return c.movePage(w, r, http.StatusOK, view, r.URL.Query().Get(clusters.FieldTo), i18n.Message{})
}

func (c *Console) movePage(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, to string, problem i18n.Message) error {
	m := clusters.Move{Head: c.head(view, actor(r), clusters.TabNone), Problem: problem}
	known, err := c.Fleet.Workspaces(r.Context(), actor(r))
	if err != nil {
		return err
	}
	for _, other := range known {
		if other.ID == view.WorkspaceID || !fleet.May(actor(r).Role(other.ID), fleet.ClustersEdit) {
			continue
		}
		m.Workspaces = append(m.Workspaces, clusters.Choice{Value: other.Slug, Label: i18n.Plain(other.Name)})
	}
	if to != "" {
		target, err := c.Fleet.Workspace(r.Context(), actor(r), to)
		if err != nil {
			return err
		}
		plan, err := c.Fleet.PlanMove(r.Context(), actor(r), view.ID, target.ID)
		if err != nil {
			return err
		}
		m.To, m.ToName, m.Moved, m.Copied, m.Made = target.Slug, target.Name, plan.Moved, plan.Copied, plan.Made
	}
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("move.tab"), content: clusters.MoveBody(m)})
}

// MoveCluster takes a cluster to another workspace.
func (c *Console) MoveCluster(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	target, err := c.Fleet.Workspace(r.Context(), actor(r), r.PostForm.Get(clusters.FieldTo))
	if err != nil {
		return err
	}
	_, err = c.Fleet.MoveCluster(r.Context(), actor(r), view.ID, target.ID)
	if refusal, is := refused(err); is {
		return c.movePage(w, r, respond.Status(refusal), view, target.Slug, firstProblem(refusal))
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
}

// firstProblem is the reason of a refusal: of a field, when there is one.
func firstProblem(refusal *fault.Error) i18n.Message {
	for _, problem := range refusal.Fields {
		return i18n.Message(problem)
	}
	return respond.Message(refusal)
}
