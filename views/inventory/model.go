// Package inventory shows catalogs and the records that clusters are made from.
package inventory

import (
	"commander/views/builder"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// Row is a catalog in the list.
type Row struct {
	ID, Name, Slug string
	Exclusive      bool
	Records, Used  int
	Archived       bool
}

// List is the page of a workspace's catalogs.
type List struct {
	Slug      string
	Any       bool // there are some, found or not
	Table     ui.Table
	Rows      []Row
	CanCreate bool
}

// Form is the form of a new catalog, or of an existing one's name and fields, as typed.
type Form struct {
	Slug     string
	ID       string // empty for a new one
	Name     string // as it is saved, for the title
	Revision string
	Fields   []ui.Field
	Schema   builder.Model // of the records
	Message  i18n.Message
	CanSave  bool
	Archived bool
	// UsedBy names clusters that use its records; the fields cannot change then.
	UsedBy string
}

// User is a cluster that uses a record.
type User struct{ ID, Name string }

// Record is a record in the list of its catalog.
type Record struct {
	ID, Label string
	Values    []string // of the columns
	Users     []User
	Misfit    bool
}

// Catalog is the page of a catalog's records.
type Catalog struct {
	Slug, ID, Name, Identifier string
	Exclusive, Archived        bool
	Columns                    []string // titles of the fields that are shown
	Table                      ui.Table
	Rows                       []Record
	Any, CanEdit               bool
}

// RecordForm is the form of a new or an existing record, as typed.
type RecordForm struct {
	Slug                 string
	CatalogID, Catalog   string
	ID, Label            string // empty for a new one
	Revision             string
	Blocks               []clusters.Block
	Message              i18n.Message
	Users                []User
	Misfit, Archived     bool
	CanSave, CatalogGone bool
}

// Import is the page that takes a catalog from JSON.
type Import struct {
	Slug    string
	Text    string
	Message i18n.Message
	Report  *Report
}

// Report tells what became of each record of an import.
type Report struct {
	CatalogID, Catalog string
	Created            bool
	Taken              int
	Misfits, Refused   []Problem
}

// Problem is what is wrong with one record.
type Problem struct {
	Number int
	Label  string
	Texts  []string
}

// Names of the forms' fields.
const (
	FieldName      = "name"
	FieldSlug      = "slug"
	FieldExclusive = "exclusive"
	FieldParams    = "params"
	FieldRevision  = "revision"
	FieldDocument  = "document"
)
