package console

import (
	"net/http"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

// taskFilters are the saved views of the list, by their name in its address.
var taskFilters = []struct {
	name     string
	statuses []store.TaskStatus
}{
	{"", nil},
	{"attention", []store.TaskStatus{store.TaskWaitingApproval, store.TaskLost, store.TaskLostInCritical}},
	{"running", []store.TaskStatus{store.TaskQueued, store.TaskRunning}},
	{"failed", []store.TaskStatus{store.TaskFailed}},
	{"succeeded", []store.TaskStatus{store.TaskSucceeded}},
	{"cancelled", []store.TaskStatus{store.TaskCancelled}},
}

// Tasks lists the tasks of a workspace.
func (c *Console) Tasks(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	now := c.Fleet.Clock.Now()
	found, err := c.Fleet.Tasks(r.Context(), actor(r), workspace.ID, c.taskFilter(query))
	if err != nil {
		return err
	}
	list := tasks.List{
		Slug: workspace.Slug, Any: totalOf(found.Statuses, nil) > 0,
		Table: c.table(query, paths.Tasks(workspace.Slug), "-"+tasks.SortCreated, "tasks.filter", len(found.Rows), int(found.Total)),
	}
	list.Table.Kind, list.Table.Filters = "tasks", taskFiltersOf(paths.Tasks(workspace.Slug), query, found.Statuses)
	late, due, err := c.Fleet.LateChecks(r.Context(), actor(r), workspace.ID)
	if err != nil {
		return err
	}
	if late > 0 {
		list.LateChecks, list.LateBy = late, now.Sub(due)
	}
	for _, row := range found.Rows {
		list.Rows = append(list.Rows, taskRow(row.Task, row.ClusterName))
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("tasks.title"), section: layout.SectionTasks, workspace: &workspace,
		live:    paths.Live(now.UnixMilli(), paths.TopicTasks(workspace.ID.String())),
		content: tasks.ListBody(list),
	})
}

// taskFilter is what the address of a list of tasks asks for.
func (c *Console) taskFilter(query paths.Query) fleet.TaskFilter {
	filter := fleet.TaskFilter{
		Named: query.Text, OldestFirst: query.Sort == tasks.SortCreated && !query.Descending, Limit: c.size(), Start: c.first(query),
	}
	for _, f := range taskFilters {
		if f.name == query.Status {
			filter.Statuses = f.statuses
		}
	}
	return filter
}

func taskFiltersOf(address string, query paths.Query, counts map[store.TaskStatus]int64) []ui.Filter {
	filters := make([]ui.Filter, 0, len(taskFilters))
	for _, f := range taskFilters {
		label := f.name
		if label == "" {
			label = "all"
		}
		filters = append(filters, ui.Filter{
			Name: label, Label: i18n.M("filter." + label), Count: totalOf(counts, f.statuses),
			Href: paths.Asked(address, query.Only(f.name)), Pressed: query.Status == f.name,
		})
	}
	return filters
}
