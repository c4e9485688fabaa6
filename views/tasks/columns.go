package tasks

import (
	"commander/views/i18n"
	"commander/views/ui"
)

// SortCreated is the name by which tasks are sorted by their time.
const SortCreated = "created"

// Sortable are the heads of a list of tasks.
func Sortable(t ui.Table) []ui.Column {
	columns := Columns()
	last := len(columns) - 1
	columns[last] = t.Column(columns[last].Label, SortCreated, columns[last])
	return columns
}

// Columns are the heads of a task table, in the order of its cells.
func Columns() []ui.Column {
	return []ui.Column{
		{Label: i18n.M("tasks.column.task")},
		{Label: i18n.M("tasks.column.status")},
		{Label: i18n.M("tasks.column.phase"), Priority: 2},
		{Label: i18n.M("tasks.column.took"), Number: true},
		{Label: i18n.M("tasks.column.actor"), Priority: 3},
		{Label: i18n.M("tasks.column.created"), Number: true},
	}
}
