// Package workspaces shows the start page: the workspaces a person may see.
package workspaces

import (
	"commander/views/i18n"
	"commander/views/ui"
)

// Row is a workspace on the start page.
type Row struct {
	Slug, Name string
	Role       i18n.Message // role.full or role.read
	Clusters   int
	Attention  int
	Running    int // tasks queued or running
	Waiting    int // tasks that only a person can decide
	Templates  int
	Records    int // of the inventory
}

// Start is the start page.
type Start struct {
	Any       bool // there are some, found or not
	Table     ui.Table
	Rows      []Row
	CanCreate bool
}

// Form is the form of a new workspace, as typed.
type Form struct {
	Name, Slug string
	Problems   map[string]i18n.Message // by field name
}

// Settings is the page of one workspace itself.
type Settings struct {
	Slug    string
	Saved   string // its name as it is saved
	Name    string // as typed
	Problem i18n.Message
	Done    bool // just saved
	CanEdit bool
}

// Deletion asks before a workspace is deleted.
type Deletion struct {
	Slug, Name string
	Clusters   int // outside of the archive: they forbid it
	Templates  int
	Records    int
	Registries int
	Typed      string
	Problem    i18n.Message
}

// Names of the forms' fields.
const (
	FieldName  = "name"
	FieldSlug  = "slug"
	FieldTyped = "typed"
)
