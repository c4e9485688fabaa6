package console

import (
	"context"
	"net/http"

	"commander/fleet"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

// Task shows a task: how far it has come, what happens next, and the end of its log.
func (c *Console) Task(w http.ResponseWriter, r *http.Request) error {
	taskID, err := id(r)
	if err != nil {
		return err
	}
	view, err := c.Fleet.Task(r.Context(), actor(r), taskID)
	if err != nil {
		return err
	}
	state, err := c.taskState(r.Context(), view, actor(r))
	if err != nil {
		return err
	}
	log, err := c.logAsked(r.Context(), actor(r), taskID, r.URL.Query())
	if err != nil {
		return err
	}
	trouble, err := c.Fleet.FirstTrouble(r.Context(), actor(r), taskID)
	if err != nil {
		return err
	}
	kind := ui.TaskKind(string(view.Kind))
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("page.of", kind, view.Cluster.Name), section: layout.SectionTasks, workspace: &view.Workspace,
		live: paths.Live(log.seq, paths.TopicTask(state.ID)),
		content: tasks.Body(tasks.Page{
			State: state, Kind: kind, Slug: view.Workspace.Slug, ClusterID: view.ClusterID.String(), Cluster: view.Cluster.Name,
			Archived: view.Cluster.ArchivedAt != nil, Actor: view.CreatedBy, CreatedAt: view.CreatedAt,
			Log: tasks.Log{
				ID: state.ID, Lines: log.lines, Earlier: log.earlier(), Later: log.later, Found: log.found, Trouble: trouble > 0, Running: going(view.Task),
			},
		}),
	})
}

// taskState is the part of a task's page that changes as it goes.
func (c *Console) taskState(ctx context.Context, view fleet.TaskView, who fleet.Actor) (tasks.State, error) {
	line, err := c.Fleet.ClusterLine(ctx, who, view.ClusterID)
	if err != nil {
		return tasks.State{}, err
	}
	newest := line.TaskID != nil && *line.TaskID == view.ID && line.ArchivedAt == nil
	s := tasks.State{
		ID: view.ID.String(), Status: taskStatus(view.Task), Percent: percent(view.Task), Running: going(view.Task),
		Steps: steps(view.Task), Started: moment(view.StartedAt), Finished: moment(view.FinishedAt), Attempt: view.Attempt,
		Next: next(view.Task), Failure: failure(view.Task), Decisions: decisions(view.Decisions),
	}
	if view.Phase != "" {
		s.Phase = ui.PhaseTitle(view.Phase)
	}
	may := fleet.May(who.Role(view.WorkspaceID), fleet.TasksEdit)
	s.Approval = approval(view.Task, may)
	if may {
		s.Actions = actions(view.Task, newest)
	}
	return s, nil
}
