package templates

import (
	"commander/views/i18n"
	"commander/views/paths"
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

// Columns are the heads of the list as a query orders it.
func Columns(slug string, q paths.Query) []ui.Column {
	sortable := func(label i18n.Message, name string, c ui.Column) ui.Column {
		c.Label = label
		c.Href = paths.TemplateList(slug, q.SortedBy(name))
		if q.Sort == name || q.Sort == "" && name == SortName {
			c.Order = "ascending"
			if q.Descending {
				c.Order = "descending"
			}
		}
		return c
	}
	return []ui.Column{
		sortable(i18n.M("templates.name"), SortName, ui.Column{}),
		sortable(i18n.M("templates.current"), SortVersion, ui.Column{}),
		sortable(i18n.M("templates.clusters"), SortClusters, ui.Column{Number: true}),
		sortable(i18n.M("templates.changed"), SortChanged, ui.Column{Priority: 2}),
	}
}
