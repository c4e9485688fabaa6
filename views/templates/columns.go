package templates

import (
	"commander/views/i18n"
	"commander/views/ui"
)

// The names by which the list can be sorted.
const (
	SortName     = "name"
	SortVersion  = "version"
	SortClusters = "clusters"
	SortChanged  = "changed"
	SortStatus   = "status"
)

// The saved views of a template's versions.
const (
	StatusAvailable = "available"
	StatusWithdrawn = "withdrawn"
)

// versionHeads are the heads of the list of a template's versions.
func versionHeads(t ui.Table) []ui.Column {
	return []ui.Column{
		t.Column(i18n.M("templates.version"), SortVersion, ui.Column{}),
		{Label: i18n.M("templates.use")},
		t.Column(i18n.M("templates.clusters"), SortClusters, ui.Column{Number: true}),
		{Label: i18n.M("templates.saved"), Priority: 2},
		{Label: i18n.M("templates.actions"), Number: true},
	}
}

// clusterHeads are the heads of the list of the clusters made from a template.
func clusterHeads(t ui.Table) []ui.Column {
	return []ui.Column{
		t.Column(i18n.M("clusters.column.name"), SortName, ui.Column{}),
		t.Column(i18n.M("clusters.column.status"), SortStatus, ui.Column{}),
		t.Column(i18n.M("templates.version"), SortVersion, ui.Column{}),
		{Label: i18n.M("clusters.column.agent"), Priority: 2},
		{Label: i18n.M("clusters.column.version"), Priority: 3},
	}
}

// StatusArchived is the saved view of the templates in the archive.
const StatusArchived = "archived"

// heads are the heads of the list.
func heads(t ui.Table) []ui.Column {
	return []ui.Column{
		t.Column(i18n.M("templates.name"), SortName, ui.Column{}),
		t.Column(i18n.M("templates.current"), SortVersion, ui.Column{}),
		t.Column(i18n.M("templates.clusters"), SortClusters, ui.Column{Number: true}),
		t.Column(i18n.M("templates.changed"), SortChanged, ui.Column{Priority: 2}),
	}
}
