package templates

import (
	"strconv"
	"strings"
	"time"

	"commander/views/builder"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
)

// Problem is something wrong with a text, at its line; 0 means the text as a whole.
type Problem struct {
	Line    int
	Text    i18n.Message
	Warning bool
}

// saysLine tells whether the text names the line itself.
func (p Problem) saysLine() bool {
	return strings.HasPrefix(p.Text.Key, "render.") || p.Text.Key == "schema.yaml"
}

// Section is a text of a template in its editor.
type Section struct {
	Name     string // of the control in the form
	Title    i18n.Message
	Hint     i18n.Message
	Text     string
	Problems []Problem
}

// Group is a resource group in the editor.
type Group struct {
	N                       int // its place in the list, from 0
	Name                    string
	Problem                 i18n.Message // of the name
	Focus                   bool
	Controlled, UserManaged bool
	Section                 Section
}

// Trial is a draft with values: the controls of its parameters, and what they make.
type Trial struct {
	Blocks []clusters.Block
	// Keys are the parameters that have controls, Schema tells one set of controls from another.
	Keys, Schema string
	Broken       bool // the parameters cannot be read, so there is nothing to try
	Sections     []clusters.Section
}

// Conflict tells who saved a version while this one was written, and in what it differs from it.
type Conflict struct {
	Who    string
	When   time.Time
	Number int
	Diffs  []clusters.SectionDiff
}

// Editor is the page that a version of a template is written on. All values are as typed.
type Editor struct {
	Slug, ID, Name string // ID and Name are empty for a new template
	Base           int    // the version that the text began with, 0 for none
	Current        int
	Nonce          string // of this form, so that a second submit of it makes nothing
	Revision       string
	Fields         []ui.Field // the template's name and comment
	VersionComment ui.Field
	Sections       []Section
	Blocks         builder.Model // the parameters, put together
	Groups         []Group
	Message        i18n.Message
	Conflict       *Conflict
	Trial          Trial
	// Script is the address of the editor for YAML; without it the texts stay plain.
	Script string
}

// Names of the editor's controls.
const (
	FieldParams   = "params"
	FieldCluster  = "cluster_configuration"
	FieldProvider = "provider_configuration"
	FieldSSH      = "ssh_configuration"
	FieldInit     = "init_configuration"
	FieldKeys     = "tried_keys"
	FieldSchema   = "tried_schema"
	FieldGroups   = "groups"
)

// What the editor's buttons ask for; a group is removed by ActionRemove and its number.
const (
	ActionSave     = "save"
	ActionTry      = "try"
	ActionAdd      = "add-group"
	ActionRemove   = "remove-group-"
	ActionOverride = "override" // save over somebody else's version
)

// GroupField is the name of a control of the n-th group.
func GroupField(n int, what string) string { return "group." + strconv.Itoa(n) + "." + what }

// The controls of a group.
const (
	GroupName        = "name"
	GroupTemplate    = "template"
	GroupControlled  = "controlled"
	GroupUserManaged = "user_managed"
)

const editorID = "template-form"

func (e Editor) action() string {
	if e.ID == "" {
		return paths.Templates(e.Slug)
	}
	return paths.TemplateEdit(e.Slug, e.ID, 0)
}

func (e Editor) leave() string {
	if e.ID == "" {
		return paths.Templates(e.Slug)
	}
	return paths.Template(e.Slug, e.ID)
}

// all are the texts of the editor, those of groups too.
func (e Editor) all() []Section {
	out := append([]Section{}, e.Sections...)
	for _, g := range e.Groups {
		out = append(out, g.Section)
	}
	return out
}

// parameters are the blocks of the parameters, or their text.
func (e Editor) parameters(s Section) builder.Model {
	m := e.Blocks
	m.AsWritten, m.Problem = text(s), i18n.Message{} // the text tells its problems at their lines
	return m
}

func (s Section) id() string       { return "f-" + s.Name }
func (s Section) problems() string { return s.id() + "-problems" }

// rows is how high a text is drawn without script.
func (s Section) rows() string {
	lines := 1
	for _, r := range s.Text {
		if r == '\n' {
			lines++
		}
	}
	return strconv.Itoa(min(max(lines+1, 6), 24))
}
