// Package registries shows the registries that clusters can be installed from.
package registries

import (
	"time"

	"commander/views/i18n"
	"commander/views/ui"
)

// Row is a registry in the list.
type Row struct {
	ID, Name  string
	Address   string // with the scheme when it is not TLS
	User      string // empty: asks for nothing
	CustomCA  bool
	Clusters  int
	CreatedBy string
	CreatedAt time.Time
}

// List is the page of a workspace's registries.
type List struct {
	Slug      string
	Any       bool // there are some, found or not
	Table     ui.Table
	Rows      []Row
	CanCreate bool
}

// Form is the form of a new or an existing registry, as typed.
type Form struct {
	Slug     string
	ID       string // empty for a new one
	Name     string // as it is saved, for the title
	Revision string
	Fields   []ui.Field
	Message  i18n.Message
	CanSave  bool
	// Clusters use it: it cannot be deleted.
	Clusters int
	Releases *Releases
}

// Releases is what the registry answered just now.
type Releases struct {
	Problem i18n.Message // why it did not
	Detail  string       // what the client said, for who mends it
	Rows    []Release
}

// Release is what a channel leads to; an empty version means nothing.
type Release struct {
	Channel, Version string
}

// Names of the form's fields.
const (
	FieldName     = "name"
	FieldAddress  = "images_repo"
	FieldUser     = "username"
	FieldPassword = "password"
	FieldForget   = "forget_password"
	FieldCA       = "ca"
	FieldRevision = "revision"
)
