package fleet

import (
	"context"

	"github.com/google/uuid"

	"commander/store"
)

// TaskFilter chooses tasks of a workspace.
type TaskFilter struct {
	Statuses []store.TaskStatus // none means all
	Named    string             // a part of the name of the task's cluster
	// OldestFirst turns the order, in which the newest come first.
	OldestFirst  bool
	Limit, Start int
}

// TaskList is a page of the tasks of a workspace.
type TaskList struct {
	Rows     []store.TaskRowsRow
	Total    int64                      // that the filter lets through
	Statuses map[store.TaskStatus]int64 // of all tasks of the workspace
}

// ClusterTaskList is a page of the tasks of one cluster.
type ClusterTaskList struct {
	Tasks    []store.Task
	Total    int64                      // that the filter lets through
	Statuses map[store.TaskStatus]int64 // of all tasks of the cluster
}

// ClusterTasks is a page of the tasks of one cluster; Named is then a part of who started them. The
// counts are of the cluster's tasks.
func (f *Fleet) ClusterTasks(ctx context.Context, actor Actor, cluster store.Cluster, filter TaskFilter) (list ClusterTaskList, err error) {
	if err := Allowed(actor, TasksView, cluster.WorkspaceID); err != nil {
		return list, err
	}
	asked := store.ClusterTaskRowsParams{
		ClusterID: cluster.ID, Statuses: statusNames(filter.Statuses), ByWhom: filter.Named, OldestFirst: filter.OldestFirst,
		PageSize: filter.Limit, PageOffset: filter.Start,
	}
	rows, err := f.Store.ClusterTaskRows(ctx, asked)
	if err != nil {
		return list, store.AsFault(err)
	}
	for _, row := range rows {
		list.Tasks, list.Total = append(list.Tasks, row.Task), row.Total
	}
	counts, err := f.Store.ClusterTaskStatusCounts(ctx, cluster.ID)
	list.Statuses = map[store.TaskStatus]int64{}
	for _, c := range counts {
		list.Statuses[c.Status] = c.Tasks
	}
	return list, store.AsFault(err)
}

func statusNames(statuses []store.TaskStatus) []string {
	names := make([]string, len(statuses))
	for i, status := range statuses {
		names[i] = string(status)
	}
	return names
}

// Tasks lists the tasks of a workspace.
func (f *Fleet) Tasks(ctx context.Context, actor Actor, workspaceID uuid.UUID, filter TaskFilter) (TaskList, error) {
	list := TaskList{Statuses: map[store.TaskStatus]int64{}}
	if err := Allowed(actor, TasksView, workspaceID); err != nil {
		return list, err
	}
	asked := store.TaskRowsParams{
		WorkspaceID: workspaceID, Statuses: statusNames(filter.Statuses), Named: filter.Named,
		PageSize: filter.Limit, PageOffset: filter.Start,
	}
	var err error
	if list.Rows, err = f.taskRows(ctx, asked, filter.OldestFirst); err != nil {
		return list, store.AsFault(err)
	}
	grouped, err := f.Store.TaskStatusCounts(ctx, workspaceID)
	for _, g := range grouped {
		list.Statuses[g.Status] = g.Tasks
	}
	if err != nil || filter.Named != "" {
		if err == nil {
			list.Total, err = f.Store.CountNamedTasks(ctx, store.CountNamedTasksParams{WorkspaceID: workspaceID, Statuses: asked.Statuses, Named: filter.Named})
		}
		return list, store.AsFault(err)
	}
	for _, status := range filter.Statuses {
		list.Total += list.Statuses[status]
	}
	if len(filter.Statuses) == 0 {
		for _, tasks := range list.Statuses {
			list.Total += tasks
		}
	}
	return list, nil
}

func (f *Fleet) taskRows(ctx context.Context, asked store.TaskRowsParams, oldestFirst bool) ([]store.TaskRowsRow, error) {
	if !oldestFirst {
		return f.Store.TaskRows(ctx, asked)
	}
	found, err := f.Store.OldestTaskRows(ctx, store.OldestTaskRowsParams(asked))
	rows := make([]store.TaskRowsRow, len(found))
	for i, row := range found {
		rows[i] = store.TaskRowsRow(row)
	}
	return rows, err
}
