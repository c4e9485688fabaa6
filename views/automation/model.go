// Package automation shows when changes may start by themselves, and who is told of what happens.
package automation

import (
	"time"

	"commander/views/i18n"
	"commander/views/ui"
)

// Window is a maintenance window.
type Window struct {
	ID      string
	Cluster string // empty: for all clusters of the workspace
	Days    []i18n.Message
	From    string // on the clock of its zone, as 22:00
	Hours   float64
	Zone    string
	Open    bool // now
}

// Channel is who is told.
type Channel struct {
	ID, Name, Address string
	Kind              i18n.Message
	Events            []i18n.Message
	LastAt            time.Time // zero: nothing was told yet
	Last              ui.Status
	Error             string
}

// Page is the page of a workspace's automation.
type Page struct {
	Slug    string
	CanEdit bool
	// AnyWindow tells that there is a window, shown or not.
	AnyWindow bool
	Table     ui.Table
	Windows   []Window
	Channels  []Channel
	// WindowFields and ChannelFields are the forms that add one.
	WindowFields, ChannelFields []ui.Field
	Days, Events                []Check
	DaysProblem, EventsProblem  i18n.Message
	Secret, SecretName          string // of a new webhook, shown once
}

// Check is one of several that may be chosen.
type Check struct {
	Name, Value string
	Label       i18n.Message
	Checked     bool
}

// Names of the fields.
const (
	FieldZone    = "time_zone"
	FieldDay     = "day"
	FieldStarts  = "starts"
	FieldHours   = "hours"
	FieldCluster = "cluster"
	FieldName    = "name"
	FieldKind    = "kind"
	FieldAddress = "address"
	FieldEvent   = "event"
)
