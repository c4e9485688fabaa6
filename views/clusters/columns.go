package clusters

import (
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// The names by which the list can be sorted.
const (
	SortName    = "name"
	SortStatus  = "status"
	SortVersion = "version"
	SortNodes   = "nodes"
)

// Columns are the heads of the cluster list as a query orders it.
func Columns(slug string, q paths.Query) []ui.Column {
	t := ui.Table{Address: paths.Clusters(slug), Query: q, Own: SortName}
	return []ui.Column{
		t.Column(i18n.M("clusters.column.name"), SortName, ui.Column{}),
		t.Column(i18n.M("clusters.column.status"), SortStatus, ui.Column{}),
		{Label: i18n.M("clusters.column.configuration"), Priority: 2},
		{Label: i18n.M("clusters.column.agent")},
		t.Column(i18n.M("clusters.column.version"), SortVersion, ui.Column{Priority: 3}),
		t.Column(i18n.M("clusters.column.nodes"), SortNodes, ui.Column{Number: true}),
		{Label: i18n.M("clusters.column.task")},
	}
}
