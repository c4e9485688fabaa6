package clusters

import (
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// List is the page of a workspace's clusters.
type List struct {
	Slug      string
	Rows      []Row
	Query     paths.Query
	Filters   []ui.Filter
	Saved     []ui.Filter // saved views; their counts come later
	View      ViewTool
	Columns   []ui.Column // seven: name, status, configuration, agent, version, nodes, last task
	Pages     ui.Pages
	Total     int // clusters of the workspace, shown or not
	CanCreate bool
	New       New
	Bulk      Bulk
}

// New is the pill that offers clusters that appeared since the list was drawn.
type New struct {
	Count int
	Href  string
}

// ViewTool is what can be done with the list as it is asked for: saved under a name, or, where it
// is a saved view already, renamed and forgotten. Without CanEdit there is nothing.
type ViewTool struct {
	CanEdit bool
	ID      string // of the saved view that is shown; empty for none
	Name    string // as saved, or as typed when Problem tells why it was refused
	Problem i18n.Message
}

// SavedViews are the saved views of a workspace with their counts.
type SavedViews struct {
	Slug  string
	Views []ui.Filter
}

// LabelList are the labels that a list as a query asks for it can be narrowed by.
type LabelList struct {
	Slug   string
	Query  paths.Query
	Labels []LabelFilter
}

// LabelFilter is a label of the workspace's clusters with the list that it leads to.
type LabelFilter struct {
	Text    string // key=value
	Count   int
	Href    string // with the label added to the filter, or taken out when Pressed
	Pressed bool
}

// Label is a label of one cluster.
type Label struct {
	Text string // key=value
	Href string // the list of the clusters that have it
}

// Bulk is what happens to several clusters at once.
type Bulk struct {
	CanEdit bool
	Picked  map[string]bool // ids of clusters that stay chosen after a refusal
	Typed   string          // of the field for labels
	Problem i18n.Message
	Changed int // how many an earlier request has changed; 0 says nothing
	Refused []Refused
}

// Refused is a cluster that was left as it is.
type Refused struct {
	Name string
	Why  i18n.Message
}

// Names of the bulk form's fields, and the values of its buttons.
const (
	FieldPicked = "cluster"
	FieldLabels = "labels"
	FieldQuery  = "query" // what the list was asked for, to come back to it

	ActionSet    = "set"
	ActionRemove = "remove"
	ActionLock   = "lock"
	ActionUnlock = "unlock"
)
