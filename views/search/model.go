// Package search shows what a person finds by name and may do: the command palette, and the same as
// a page for who has no script.
package search

import (
	"strconv"

	"commander/views/i18n"
)

// Hit is a thing or an action with its address.
type Hit struct {
	Title i18n.Message
	Where string // the workspace, muted beside it; empty where there is none
	Href  string
	Keys  string // of the keyboard, as they are pressed; empty for none
}

// Group is some hits of one kind.
type Group struct {
	Title i18n.Message
	Hits  []Hit
}

// Results are what a text finds.
type Results struct {
	Text      string
	Workspace string // slug of the workspace that the person is in; empty for none
	Groups    []Group
}

// option is the id by which the field of the palette names a hit.
func option(group, hit int) string { return "hit-" + strconv.Itoa(group) + "-" + strconv.Itoa(hit) }
