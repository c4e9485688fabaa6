package clusters

import (
	"strings"
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
	// Registry are the controls of where the platform comes from; none when there is no choice.
	Registry []ui.Field
	Blocks   []Block
	Message  i18n.Message // summary of what stops the save
	Conflict *Conflict
	Sections []Section
	CanSave  bool // false for people who may only look
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
	FieldName         = "name"
	FieldRegistry     = "registry_id"
	FieldRegistryMode = "registry_mode"
	FieldTemplate     = "template"
	FieldVersion      = "version"
	FieldNonce        = "nonce"
	FieldRevision     = "revision"
	FieldAction       = "action"
	ActionInstall     = "install"  // make the cluster, or apply the change
	ActionSave        = "save"     // keep it without a task
	ActionOverride    = "override" // save over somebody else's change
)

// Prefixes of the names of controls that belong to a parameter.
const (
	valuePrefix   = "values."
	catalogPrefix = "catalogs." // the catalog that a person points the parameter at
	shownPrefix   = "shown."    // the catalog whose records the form shows
	findPrefix    = "find."     // what its records are searched for
	forgetPrefix  = "forget."   // gives up the secret that is saved
)

// ValueField is the form name of a template's parameter.
func ValueField(key string) string { return valuePrefix + key }

// CatalogField is the form name of the catalog that a parameter is pointed at.
func CatalogField(key string) string { return catalogPrefix + key }

// ShownField is the form name of the catalog whose records a parameter shows.
func ShownField(key string) string { return shownPrefix + key }

// FindField is the form name of what the records of a parameter are searched for.
func FindField(key string) string { return findPrefix + key }

// ForgetField is the form name of giving up the secret of a parameter.
func ForgetField(key string) string { return forgetPrefix + key }

// ValueKey is the parameter of a form name, if the name is one of a parameter.
func ValueKey(field string) (key string, ok bool) { return keyOf(field, valuePrefix) }

// CatalogKey is the parameter that a form name points at a catalog.
func CatalogKey(field string) (key string, ok bool) { return keyOf(field, catalogPrefix) }

// FindKey is the parameter whose records a form name searches.
func FindKey(field string) (key string, ok bool) { return keyOf(field, findPrefix) }

// ForgetKey is the parameter whose secret a form name gives up.
func ForgetKey(field string) (key string, ok bool) { return keyOf(field, forgetPrefix) }

func keyOf(field, prefix string) (key string, ok bool) {
	key, ok = strings.CutPrefix(field, prefix)
	return key, ok && key != ""
}
