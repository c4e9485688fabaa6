// Package builder shows the schema of parameters as blocks that people put together by hand, in
// place of its YAML. It is a part of other forms: those of templates and of catalogs.
package builder

import (
	"strconv"

	"github.com/a-h/templ"

	"commander/views/i18n"
	"commander/views/ui"
)

// Model is a schema that is worked on. Its text is the truth: blocks are drawn from it, and each
// change is written into it.
type Model struct {
	Name    string // of the text among the controls of the form that the builder is a part of
	Text    string
	AsText  bool // shows the text instead of the blocks
	Address string
	// Catalog tells that the blocks describe records, which name no records of other catalogs.
	Catalog bool
	Blocks  []Block
	Open    *Editor      // the block that is being changed; nil for none
	Problem i18n.Message // with the text
	Focus   string       // the id of the control that takes the focus
	// AsWritten is the control of the text where the page has one of its own.
	AsWritten templ.Component
}

// Block is a block as it is listed.
type Block struct {
	Header     string // empty for a field
	Title, Key string
	Kind       string // string, number, boolean, select or catalog
	Span       int
	Marks      []i18n.Message
	Default    string
}

// Editor is a block that is being changed.
type Editor struct {
	At     int  // its place, from 0
	New    bool // not in the text yet
	Header bool
	Groups []Group
	// Choices are those of a select: a text for people and a value for templates.
	Choices       []Choice
	ChoiceProblem i18n.Message
}

// Group is a row of controls that only some kinds of fields have; none in For stands for all.
type Group struct {
	For    string
	Fields []ui.Field
}

// Choice is a choice of a select, as typed.
type Choice struct{ Text, Value string }

// The names of the builder's controls, behind the name of the text and a dot.
const (
	Act     = "act"
	For     = "for"     // ForCatalog, or empty
	Mode    = "mode"    // ModeText, or empty
	OpenAt  = "open"    // the place of the open block
	OpenNew = "new"     // "true" when the open block is not in the text yet
	Header  = "header"  // the text of an open header
	Kind    = "kind"    // of an open field
	Text    = "choice"  // the texts of choices
	Value   = "value"   // the values of choices
	NameKey = "builder" // the name of the text itself; without the prefix

	ForCatalog = "catalog"
	ModeText   = "text"
)

// The acts; those on a block have its place behind a colon.
const (
	ActOpen      = "open"
	ActClose     = "close" // forgets what was changed
	ActApply     = "apply"
	ActUp        = "up"
	ActDown      = "down"
	ActDelete    = "delete"
	ActAddField  = "add-field"
	ActAddHeader = "add-header"
	ActText      = "text"
	ActBlocks    = "blocks"
)

// Control is the name of a control of the builder.
func (m Model) Control(name string) string { return m.Name + "." + name }

// ButtonID is the id of the button that does something to a block.
func ButtonID(act string, at int) string { return "builder-" + act + "-" + strconv.Itoa(at) }

func value(act string, at int) string { return act + ":" + strconv.Itoa(at) }

func (b Block) label() string {
	if b.Header != "" {
		return b.Header
	}
	return b.Title
}

func (b Block) span() string {
	if b.Header != "" {
		return "4"
	}
	return strconv.Itoa(min(max(b.Span, 1), 4))
}

func (m Model) end() int {
	if m.Open != nil {
		return m.Open.At + 1
	}
	return len(m.Blocks)
}

// places are the blocks with the open one in its place; a new one stands before the block whose
// place it takes.
func (m Model) opensBefore(i int) bool { return m.Open != nil && m.Open.New && m.Open.At == i }

func (m Model) opensInstead(i int) bool { return m.Open != nil && !m.Open.New && m.Open.At == i }
