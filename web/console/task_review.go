package console

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/web/respond"
)

// Review shows what a destructive change would do, and asks a person to decide. A task that does
// not wait for anybody leads to its own page.
func (c *Console) Review(w http.ResponseWriter, r *http.Request) error {
	task, err := id(r)
	if err != nil {
		return err
	}
	return c.review(w, r, http.StatusOK, task, tasks.Review{})
}

func (c *Console) review(w http.ResponseWriter, r *http.Request, status int, id uuid.UUID, asking tasks.Review) error {
	view, err := c.Fleet.Task(r.Context(), actor(r), id)
	if err != nil {
		return err
	}
	may := fleet.May(actor(r).Role(view.WorkspaceID), fleet.TasksEdit)
	asked := approval(view.Task, may)
	if asked == nil {
		return respond.SeeOther(w, r, paths.Task(id.String()))
	}
	cluster := view.ClusterID.String()
	asking.ID, asking.Slug, asking.Cluster, asking.Link = id.String(), view.Workspace.Slug, view.Cluster.Name, paths.Cluster(cluster)
	asking.Approval, asking.History = *asked, paths.ClusterHistory(cluster)
	asking.Actual = paths.ClusterComparison(cluster, fleet.SideActual, fleet.SideDesired)
	if view.Cluster.AppliedRevision != nil {
		applied, desired, err := c.Fleet.Sides(r.Context(), actor(r), view.ClusterID, fleet.SideApplied, fleet.SideDesired)
		if err != nil {
			return err
		}
		asking.Diffs = clusters.Diffs(differences(desired.Shown, applied.Shown))
	}
	return c.show(w, r, status, page{
		title: i18n.M("page.of", i18n.M("review.tab"), view.Cluster.Name), section: layout.SectionTasks, workspace: &view.Workspace,
		content: tasks.ReviewBody(asking),
	})
}

// Approve lets a task go on with exactly the destructive changes that the page showed, once the
// name of its cluster was typed. Another set than that asks again.
func (c *Console) Approve(w http.ResponseWriter, r *http.Request) error {
	task, err := id(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	view, err := c.Fleet.Task(r.Context(), actor(r), task)
	if err != nil {
		return err
	}
	typed := r.PostForm.Get(tasks.FieldTyped)
	if strings.TrimSpace(typed) != view.Cluster.Name {
		return c.review(w, r, http.StatusUnprocessableEntity, task, tasks.Review{Typed: typed, Problem: i18n.M("deletion.mismatch")})
	}
	approved, err := c.Fleet.Approve(r.Context(), actor(r), task, r.PostForm.Get(tasks.FieldChange))
	if refusal, is := refused(err); is && refusal.Key == "task.change_differs" {
		return c.review(w, r, respond.Status(refusal), task, tasks.Review{Message: respond.Message(refusal)})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Task(approved.ID.String()))
}
