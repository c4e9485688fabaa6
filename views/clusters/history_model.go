package clusters

import (
	"time"

	"commander/views/i18n"
	"commander/views/ui"
)

// Revision is a configuration that a cluster was to have.
type Revision struct {
	Number          int
	Template        string
	TemplateVersion int
	Who             string
	When            time.Time
	Desired         bool // it is what the cluster is to have now
	Applied         bool // it is what was applied last
	Broken          bool // it could not be rendered
	Changed         []string
}

// History is the tab of a cluster's configurations, the newest first.
type History struct {
	Head
	Table       ui.Table
	Revisions   []Revision
	CanRollback bool
}

// Choice is a side of a comparison.
type Choice struct {
	Value string
	Label i18n.Message
}

// Comparison shows in what two configurations of a cluster differ.
type Comparison struct {
	Head
	Choices  []Choice
	From, To string // values of choices
	Diffs    []SectionDiff
}

// Same tells whether nothing differs.
func (c Comparison) Same() bool { return same(c.Diffs) }

func same(diffs []SectionDiff) bool {
	for _, d := range diffs {
		if len(d.Lines) > 0 {
			return false
		}
	}
	return true
}

// Rollback is the page that asks before an earlier configuration becomes the wanted one again.
type Rollback struct {
	Head
	To      Revision
	Current string // the revision that the page was drawn from
	Diffs   []SectionDiff
	Problem i18n.Message
}

// Names of the fields that choose revisions.
const (
	FieldFrom = "from"
	FieldTo   = "to"
)
