// Package tasks shows the operations on clusters: their list, and one task as it happens.
package tasks

import (
	"time"

	"github.com/a-h/templ"

	"commander/views/i18n"
	"commander/views/ui"
)

// Row is a task in a list.
type Row struct {
	ID          string
	Kind        i18n.Message // ui.TaskKind
	ClusterID   string
	Cluster     string // name; empty where the cluster is clear
	ClusterGone bool   // archived: shown without a link
	Status      ui.Status
	Phase       i18n.Message // the phase that a task is in, or was in when it ended
	Percent     int          // 0 to 100, shown while running
	Actor       string       // who started it
	CreatedAt   time.Time
	StartedAt   time.Time     // zero while queued
	Took        time.Duration // of a finished task
	Running     bool
}

// stuck tells whether a task ended or waits where somebody has to look: its phase says where.
func (r Row) stuck() bool {
	return !r.Running && !r.Phase.IsZero() && (r.Status.Tone == ui.Bad || r.Status.Tone == ui.Warn)
}

// New is how many tasks were started since the page was drawn, and where they are listed.
type New struct {
	Count int
	Href  string
}

// List is the page of a workspace's tasks.
type List struct {
	Slug  string
	Any   bool // there is at least one task, shown or not
	Table ui.Table
	Rows  []Row
	// LateChecks is how many clusters have waited too long for their check, LateBy how long the
	// longest of them.
	LateChecks int
	LateBy     time.Duration
}

// State is the part of a task's page that changes as it goes, apart from its log.
type State struct {
	ID       string
	Status   ui.Status
	Percent  int
	Running  bool // queued or running
	Phase    i18n.Message
	Steps    []ui.Step
	Started  time.Time
	Finished time.Time // zero until then
	// Next says what happens next, in one sentence.
	Next i18n.Message
	// Failure is what went wrong, with the engine's own words as its detail.
	Failure  *ui.Notice
	Actions  Actions
	Approval *Approval
	Attempt  int
	// Decisions are what people did with the task, the newest first.
	Decisions []Decision
}

// Decision is what somebody did with a task, and when.
type Decision struct {
	What  i18n.Message
	Actor string
	At    time.Time
}

// Actions are what a person may do with a task now. A note explains a button before it is pressed.
type Actions struct {
	Retry     bool
	RetryNote i18n.Message
	Stop      bool
	StopNote  i18n.Message
	// GiveUp closes a lost task as failed.
	GiveUp     bool
	GiveUpNote i18n.Message
}

// explained tells whether any button has a note.
func (a Actions) explained() bool {
	return a.Retry && !a.RetryNote.IsZero() || a.Stop && !a.StopNote.IsZero() || a.GiveUp && !a.GiveUpNote.IsZero()
}

// Approval is a destructive change that waits for a person.
type Approval struct {
	ChangeID     string
	Summary      []i18n.Message // how many machines are lost, made and changed
	Consequences []i18n.Message // sentences of what is lost
	CanApprove   bool
}

// Log is a part of a task's log: its end, or what stands around a line.
type Log struct {
	ID      string // the task's
	Lines   []ui.Line
	Earlier int  // lines before the first one shown
	Later   bool // there are lines after the last one shown
	Found   int  // the line that was asked for; 0 for none
	Trouble bool // some line tells of an error, shown or not
	Running bool // more is to come
}

// logPage is how many lines a page of a log goes back.
const logPage = 800

// before is where the page of lines before these begins.
func (l Log) before() int { return max(1, l.Earlier+1-logPage) }

// next is the line after the last one shown.
func (l Log) next() int { return l.Earlier + len(l.Lines) + 1 }

// Hits are the lines of a task's log that hold a text.
type Hits struct {
	ID    string // the task's
	Text  string
	Lines []ui.Line
	From  int // the line that the search began with
	Next  int // the line from which a further search goes on; 0 at the end of the log
}

// Page is a task's page.
type Page struct {
	State
	Kind      i18n.Message
	Slug      string
	ClusterID string
	Cluster   string
	Archived  bool // the cluster is in the archive
	Actor     string
	CreatedAt time.Time
	Log       Log
}

// Review is the page on which a person decides about a destructive change.
type Review struct {
	ID       string // the task's
	Slug     string
	Cluster  string
	Link     string // the cluster's page
	Approval Approval
	Diffs    templ.Component // of the applied and the desired configuration; nil when they are the same
	Actual   string          // the comparison with what is in the cluster
	History  string          // where an earlier configuration is returned to
	Typed    string
	Problem  i18n.Message // of what was typed
	Message  i18n.Message // what happened meanwhile
}

// FieldTyped is the name of the field that takes the cluster's name.
const FieldTyped = "name"

// FieldChange is the name of the form field that carries the id of the approved change.
const FieldChange = "change"
