package paths

import (
	"net/url"
	"strconv"
	"strings"
)

// Query is what a list's URL says about it. The zero value is the list as it opens.
type Query struct {
	Text       string // free text
	Status     string // one saved filter's name, empty for all
	Sort       string // a column's name, empty for the list's own order
	Descending bool
	Page       int // from 1; 0 means the first
}

// ParseQuery reads a list's query. What makes no sense is ignored, so that an old bookmark still opens.
func ParseQuery(values url.Values) Query {
	q := Query{
		Text:   strings.TrimSpace(values.Get("q")),
		Status: values.Get("status"),
		Sort:   values.Get("sort"),
	}
	if name, ok := strings.CutPrefix(q.Sort, "-"); ok {
		q.Sort, q.Descending = name, true
	}
	if page, err := strconv.Atoi(values.Get("page")); err == nil && page > 1 {
		q.Page = page
	}
	return q
}

// SortedBy turns the order to a column: ascending first, the other way when it is already the one.
func (q Query) SortedBy(column string) Query {
	q.Descending = q.Sort == column && !q.Descending
	q.Sort, q.Page = column, 0
	return q
}

// Finding is the same list with another text.
func (q Query) Finding(text string) Query {
	q.Text, q.Page = text, 0
	return q
}

// Only narrows the list to one saved filter; an empty name shows all.
func (q Query) Only(status string) Query {
	q.Status, q.Page = status, 0
	return q
}

// At is the same list at another page.
func (q Query) At(page int) Query {
	q.Page = page
	return q
}

// Order is the sort parameter as the URL spells it.
func (q Query) Order() string {
	if q.Descending {
		return "-" + q.Sort
	}
	return q.Sort
}

// Same tells whether two queries ask for the same list, at whatever page.
func (q Query) Same(other Query) bool {
	q.Page, other.Page = 0, 0
	return q == other
}

// Here is a list at the address of the page that it is on, whichever list that is.
func Here(q Query) string {
	if here := q.encode(); here != "" {
		return here
	}
	return "?"
}

// ReadHere reads what Here wrote.
func ReadHere(here string) Query {
	values, err := url.ParseQuery(strings.TrimPrefix(here, "?"))
	if err != nil {
		return Query{} // nobody's page wrote this
	}
	return ParseQuery(values)
}

// changed is the parameter that tells a list how many of its things a request before has changed.
const changed = "changed"

// ClusterListChanged is the list after a request that has changed so many clusters.
func ClusterListChanged(slug string, q Query, clusters int) string {
	return fill(RouteClusters, slug) + Here(q) + "&" + changed + "=" + strconv.Itoa(clusters)
}

// ParseChanged reads how many things a list says were changed; 0 is nothing to say.
func ParseChanged(values url.Values) int {
	n, err := strconv.Atoi(values.Get(changed))
	if err != nil {
		return 0
	}
	return n
}

// Asked is the address of a list as a query asks for it.
func Asked(list string, q Query) string { return list + q.encode() }

// Filtered tells whether the query hides anything.
func (q Query) Filtered() bool { return q.Text != "" || q.Status != "" }

func (q Query) encode() string {
	values := url.Values{}
	set := func(key, value string) {
		if value != "" {
			values.Set(key, value)
		}
	}
	set("q", q.Text)
	set("status", q.Status)
	set("sort", q.Order())
	if q.Page > 1 {
		values.Set("page", strconv.Itoa(q.Page))
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
