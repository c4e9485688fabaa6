package ui

import (
	"strings"

	"commander/views/i18n"
	"commander/views/paths"
)

// Table is where a list stands that is searched, sorted and paged by its address.
type Table struct {
	Address string // of the list as it opens
	Query   paths.Query
	Own     string       // column by which the list opens, with a minus when it is descending
	Hint    i18n.Message // of the search
	Filters []Filter
	Pages   Pages
	Kind    string // how rows fold on narrow screens, empty for the usual way
}

// Column is a head that sorts by a column. The list's own order turns like a chosen one.
func (t Table) Column(label i18n.Message, name string, c Column) Column {
	q := t.Query
	if q.Sort == "" {
		q.Sort, q.Descending = strings.TrimPrefix(t.Own, "-"), strings.HasPrefix(t.Own, "-")
	}
	if q.Sort == name {
		c.Order = "ascending"
		if q.Descending {
			c.Order = "descending"
		}
	}
	c.Label, c.Href = label, paths.Asked(t.Address, q.SortedBy(name))
	return c
}

func (t Table) empty() bool { return t.Pages.To < t.Pages.From }
