package console

import (
	"cmp"
	"slices"
	"strings"

	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// table is where a list stands that has an address and a column of its own, and shows some rows out of
// all that are found.
func (c *Console) table(query paths.Query, address, own, hint string, shown, total int) ui.Table {
	return ui.Table{
		Address: address, Query: query, Own: own, Hint: i18n.M(hint),
		Pages: c.pages(query, shown, total, func(q paths.Query) string { return paths.Asked(address, q) }),
	}
}

// handful searches, sorts and pages things of which a workspace has so few that they are read whole.
type handful[T any] struct {
	text   func(T) string              // what is searched
	orders map[string]func(a, b T) int // by the name of the column
}

// find gives those of all things that a query asks for, of its page, and how many there are.
func (f handful[T]) find(c *Console, query paths.Query, all []T) (shown []T, total int) {
	found := slices.Clone(all)
	for word := range strings.FieldsSeq(query.Text) {
		found = slices.DeleteFunc(found, func(thing T) bool { return !holds(f.text(thing), word) })
	}
	if order, known := f.orders[query.Sort]; known {
		slices.SortStableFunc(found, func(a, b T) int {
			if query.Descending {
				return order(b, a)
			}
			return order(a, b)
		})
	}
	start := min(c.first(query), len(found))
	return found[start:min(start+c.size(), len(found))], len(found)
}

// by orders things by a key of each.
func by[T any, K cmp.Ordered](key func(T) K) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(key(a), key(b)) }
}

// byName orders things by a text that people read.
func byName[T any](name func(T) string) func(a, b T) int {
	return by(func(thing T) string { return strings.ToLower(name(thing)) })
}
