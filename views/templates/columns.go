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
)

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
