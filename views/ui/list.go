package ui

import (
	"time"

	"github.com/a-h/templ"

	"commander/views/i18n"
)

// Filter is one saved view of a list: a link with a count.
type Filter struct {
	Name    string // unique in the list; empty where the count is not live
	Label   i18n.Message
	Count   int
	Href    string
	Pressed bool
	// Later says that the count is fetched when the list is there, and then kept.
	Later bool
}

// live is how a message finds the count.
func (f Filter) live() templ.Attributes {
	if f.Name == "" {
		return nil
	}
	attributes := templ.Attributes{"id": "filter-" + f.Name}
	if f.Later {
		attributes["data-later"], attributes["hx-preserve"] = "", "true"
	}
	return attributes
}

// Pages is where a list stands: which part of it is shown and how to reach its neighbours.
type Pages struct {
	From, To, Total int    // numbers of the first and last row shown, and of all that match
	Previous, Next  string // URLs, empty at the ends
}

// Column is a head of a sortable table. Without an address it is a plain head.
type Column struct {
	Label    i18n.Message
	Href     string // URL that sorts by this column
	Order    string // "ascending", "descending" or empty
	Number   bool   // aligned to the right
	Priority int    // 1 stays always; 2 and 3 leave as the page narrows
}

// Crumb is a step of the way to a page.
type Crumb struct {
	Label i18n.Message
	Href  string
}

// Tab is a part of a page with an address of its own.
type Tab struct {
	Label   i18n.Message
	Href    string
	Count   int // shown when above zero
	Current bool
}

// Empty says what a place is for, why nothing is there, and the one thing to do about it.
type Empty struct {
	Title, Text i18n.Message
	Action      i18n.Message // empty when there is nothing to do
	Href        string
}

// Notice is a sentence that must not be overlooked.
type Notice struct {
	Tone   Tone
	Text   i18n.Message
	At     time.Time    // of what the text tells, which ends with it; zero for none
	Detail string       // text that comes from below, shown as it is
	Hint   i18n.Message // what to do about it
}
