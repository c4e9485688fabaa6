// Package upgrade shows the way of clusters to another version of their template: of one with the
// list of what becomes of each parameter, and of many in waves.
package upgrade

import (
	"time"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// Group is a template with the versions that a cluster may get.
type Group struct {
	Template string
	Versions []Version
}

// Version is a choice.
type Version struct {
	ID     string
	Label  i18n.Message
	Chosen bool
}

// Outcome says what becomes of a parameter: asked, conflict, followed, added, removed or kept.
type Outcome string

// status is the chip of an outcome.
func (o Outcome) status() ui.Status {
	tones := map[Outcome]ui.Tone{"asked": ui.Bad, "conflict": ui.Bad, "followed": ui.Busy, "added": ui.Busy, "removed": ui.Warn, "kept": ui.Good}
	return ui.Status{Tone: tones[o], Word: i18n.M("upgrade.outcome." + string(o))}
}

// Item is one parameter of the list that is read before anything is applied.
type Item struct {
	Title    string
	Outcome  Outcome
	Old, New string // as people read them; secrets are masks, empty is no value
	Given    bool   // somebody set the old value
	Problem  i18n.Message
	// Stuck says that nothing can be answered: the value cannot change any more.
	Stuck bool
}

// Plan is what becomes of a cluster.
type Plan struct {
	VersionID string
	Template  string
	Version   int
	Revision  string // of the cluster the list was made from
	Changes   []Item // what does not simply stay, what needs an answer first
	Kept      []Item
	Fields    []ui.Field // to be answered
	Errors    []clusters.RenderError
	Diffs     []clusters.SectionDiff
	Message   i18n.Message // why it was not done
	Ready     bool
}

// Page is the page of one cluster's way to another version.
type Page struct {
	clusters.Head
	Template string // that it has; empty for none
	Version  int
	Groups   []Group
	Plan     *Plan // nil until a version is chosen
}

// Names of the forms' fields.
const (
	FieldVersion  = clusters.FieldVersion
	FieldRevision = clusters.FieldRevision
	FieldNonce    = clusters.FieldNonce
	FieldAction   = clusters.FieldAction
	ActionPreview = "preview"
	ActionApply   = "apply"

	FieldCluster  = "cluster" // an id, or an id and the revision that was looked at
	FieldScope    = "scope"
	ScopeChosen   = "chosen"
	ScopeAll      = "all" // that the filter lets through
	FieldWave     = "wave_size"
	FieldParallel = "parallel"
	FieldStop     = "stop_at_failure"
)

// Candidate is a cluster that could be moved.
type Candidate struct {
	ID, Name string
	Version  int // that it has
	Status   ui.Status
	Chosen   bool
}

// Choice is the page that chooses clusters for a move.
type Choice struct {
	Slug, ID, Template string
	Query              paths.Switching
	Versions           []int // that can be moved to, the newest first
	From               []int // that clusters have
	Rows               []Candidate
	Total              int // that the filter lets through, shown or not
	Problem            i18n.Message
	CanMove            bool
	Earlier            []Earlier
}

// Earlier is a move in the history of a template.
type Earlier struct {
	ID                             string
	Version                        int
	Status                         ui.Status
	Who                            string
	When                           time.Time
	Clusters, Done, Failed, Refuse int
}

// Moves is the list of the moves to versions of a template.
type Moves struct {
	Slug, ID, Template string
	Any                bool // there is one, shown or not
	Table              ui.Table
	Rows               []Earlier
}

// Line is what a move would make of one cluster.
type Line struct {
	ID, Name string
	Revision string
	Version  int          // that it has
	Changes  i18n.Message // how many parameters become what
	Refusal  i18n.Message // why it would not be moved; zero when it would
}

// Preview is the page on which a move is confirmed.
type Preview struct {
	Slug, ID, Template string
	Version            int
	VersionID          string
	Nonce              string
	Moved, Refused     []Line
	Wave, Parallel     ui.Field
	Stop               ui.Field
	Message            i18n.Message
}

// MoveLine is one cluster of a move as it happens.
type MoveLine struct {
	Move     string // id of the move
	ID, Name string
	Gone     bool // in the archive
	Wave     int
	Status   ui.Status
	Task     string // id, empty without one
	Percent  int
	Running  bool
	Reason   i18n.Message
}

// Move is a move of many clusters.
type Move struct {
	ID, Slug             string
	TemplateID, Template string
	Version              int
	Status               ui.Status
	Text                 i18n.Message // what happens next
	Total, Over, Percent int
	Who                  string
	When, Ended          time.Time
	Wave, Parallel       int
	Stop                 bool
	CanCancel            bool
	Table                ui.Table
	Lines                []MoveLine
}
