package console

import (
	"net/http"
	"strings"

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

// searchedTasks is how many of the newest tasks a search for a cluster's name looks through.
const searchedTasks = 2000

// Tasks lists the tasks of a workspace.
func (c *Console) Tasks(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	query.Sort, query.Descending = "", false // the newest come first, always
	filter := fleet.TaskFilter{Limit: c.size(), Start: c.first(query)}
	for _, f := range taskFilters {
		if f.name == query.Status {
			filter.Statuses = f.statuses
		}
	}
	if query.Text != "" {
		filter.Limit, filter.Start = searchedTasks, 0
	}
	now := c.Fleet.Clock.Now()
	rows, counts, err := c.Fleet.Tasks(r.Context(), actor(r), workspace.ID, filter)
	if err != nil {
		return err
	}
	total := totalOf(counts, filter.Statuses)
	if query.Text != "" {
		rows, total = c.search(rows, query)
	}
	list := tasks.List{
		Slug: workspace.Slug, Query: query, Columns: tasks.Columns(), Filters: taskFiltersOf(workspace.Slug, query, counts),
		Pages: c.pages(query, len(rows), total, func(q paths.Query) string { return paths.TaskList(workspace.Slug, q) }),
		Any:   totalOf(counts, nil) > 0,
	}
	for _, row := range rows {
		list.Rows = append(list.Rows, taskRow(row.Task, row.ClusterName))
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("tasks.title"), section: layout.SectionTasks, workspace: &workspace,
		live:    paths.Live(now.UnixMilli(), paths.TopicTasks(workspace.ID.String())),
		content: tasks.ListBody(list),
	})
}

// search keeps the tasks of clusters whose name holds the text, and of those the query's page.
func (c *Console) search(rows []store.TaskRowsRow, query paths.Query) (shown []store.TaskRowsRow, total int) {
	var found []store.TaskRowsRow
	for _, row := range rows {
		if strings.Contains(strings.ToLower(row.ClusterName), strings.ToLower(query.Text)) {
			found = append(found, row)
		}
	}
	start := min(c.first(query), len(found))
	return found[start:min(start+c.size(), len(found))], len(found)
}

func taskFiltersOf(slug string, query paths.Query, counts map[store.TaskStatus]int64) []ui.Filter {
	filters := make([]ui.Filter, 0, len(taskFilters))
	for _, f := range taskFilters {
		label := f.name
		if label == "" {
			label = "all"
		}
		filters = append(filters, ui.Filter{
			Name: label, Label: i18n.M("filter." + label), Count: totalOf(counts, f.statuses),
			Href: paths.TaskList(slug, query.Only(f.name)), Pressed: query.Status == f.name,
		})
	}
	return filters
}
