package clusters

import (
	"time"

	"commander/views/i18n"
	"commander/views/ui"
)

// Block is a piece of a parameter form: a heading, or a field.
type Block struct {
	Header string
	Field  ui.Field // without a name when the block is a heading
}

// Section is a rendered part of a cluster's configuration.
type Section struct {
	Title   i18n.Message // section.kubernetes, section.placement, section.ssh, section.resources, Plain(group)
	YAML    string
	Problem i18n.Message // why it cannot be rendered; the YAML is then the last one that could
}

// SectionDiff compares a section as declared with the one last applied.
type SectionDiff struct {
	Title i18n.Message
	Lines []ui.DiffLine // empty when nothing differs
}

// Conflict is told to whoever saves a form that somebody else was faster with.
type Conflict struct {
	Who  string
	When time.Time
	// Changed names the parameters that differ from what the form was drawn from.
	Changed []string
}

// Form is the form of a new or an existing cluster. All values are as typed.
type Form struct {
	Slug       string
	ClusterID  string // empty for a new cluster
	TemplateID string
	Template   string
	Version    int
	VersionID  string
	Nonce      string // of this form, so that a second submit of it changes nothing
	Revision   string // of the cluster the form was drawn from
	Name       ui.Field
	Blocks     []Block
	Message    i18n.Message // summary of what stops the save
	Conflict   *Conflict
	Sections   []Section
	CanSave    bool // false for people who may only look
	// Draft says that the cluster was never installed: the form can still be saved without installing.
	Draft bool
}

// Preview is the answer to a form that is being filled in: the YAML, and a problem per field
// that is typed badly so far.
type Preview struct {
	Sections []Section
	Fields   []ui.Field // all fields of the form, of which only Name and Problem are shown
}

// Configuration is a cluster's tab of parameters and what becomes of them.
type Configuration struct {
	Head
	Form      Form
	Diffs     []SectionDiff
	AppliedAt time.Time // zero: never
}

// Names of the form's fields.
const (
	FieldName      = "name"
	FieldTemplate  = "template"
	FieldVersion   = "version"
	FieldNonce     = "nonce"
	FieldRevision  = "revision"
	FieldAction    = "action"
	ActionInstall  = "install"  // make the cluster, or apply the change
	ActionSave     = "save"     // keep it without a task
	ActionOverride = "override" // save over somebody else's change
)

const valuePrefix = "values."

// ValueField is the form name of a template's parameter.
func ValueField(key string) string { return valuePrefix + key }

// ValueKey is the parameter of a form name, if the name is one of a parameter.
func ValueKey(field string) (key string, ok bool) {
	if len(field) <= len(valuePrefix) || field[:len(valuePrefix)] != valuePrefix {
		return "", false
	}
	return field[len(valuePrefix):], true
}
