// Package tokens shows a workspace's API tokens.
package tokens

import (
	"time"

	"commander/views/i18n"
	"commander/views/ui"
)

// Row is a token in the list.
type Row struct {
	ID        string
	Name      string
	Role      i18n.Message // role.full or role.read
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	UsedAt    time.Time // zero: never
	RevokedAt time.Time // zero: valid
	CanRevoke bool
}

// Form is the form of a new token, as typed.
type Form struct {
	Name, Role, Days string
	Problems         map[string]i18n.Message // by field name
}

// Page is the list with the form above it.
type Page struct {
	Slug      string
	Any       bool // there are some, found or not
	Table     ui.Table
	Rows      []Row
	Form      Form
	CanCreate bool
	// Secret is the token just created; it is shown this once.
	Secret     string
	SecretName string
}

// Names of the form's fields.
const (
	FieldName = "name"
	FieldRole = "role" // "full" or "read"
	FieldDays = "days" // empty: never expires
)
