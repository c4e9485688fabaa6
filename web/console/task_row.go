package console

import (
	"time"

	"commander/store"
	"commander/views/tasks"
	"commander/views/ui"
)

// taskRow is a task in a list; the cluster's name is empty where the cluster is clear.
func taskRow(task store.Task, cluster string) tasks.Row {
	row := tasks.Row{
		ID: task.ID.String(), Kind: ui.TaskKind(string(task.Kind)), ClusterID: task.ClusterID.String(), Cluster: cluster,
		Status: taskStatus(task), Percent: percent(task), Actor: task.CreatedBy, CreatedAt: task.CreatedAt,
		StartedAt: moment(task.StartedAt), Took: took(task), Running: going(task),
	}
	if task.Phase != "" {
		row.Phase = ui.PhaseTitle(task.Phase)
	}
	return row
}

// taskStatus is the chip of a task; one that was asked to stop says so while it still runs.
func taskStatus(task store.Task) ui.Status {
	if task.Status == store.TaskRunning && task.StopRequested {
		return ui.TaskStatus("stopping")
	}
	return ui.TaskStatus(string(task.Status))
}

// going tells whether a task goes on by itself.
func going(task store.Task) bool {
	return task.Status == store.TaskQueued || task.Status == store.TaskRunning
}

func percent(task store.Task) int { return int(task.Progress * 100) }

func took(task store.Task) time.Duration {
	if task.StartedAt == nil || task.FinishedAt == nil {
		return 0
	}
	return task.FinishedAt.Sub(*task.StartedAt)
}
