package ui

import (
	"strings"

	"commander/views/i18n"
)

// Kind is the sort of control that a field is edited with.
type Kind string

// The kinds of controls.
const (
	Text     Kind = "text"
	Number   Kind = "number"
	Checkbox Kind = "checkbox"
	Select   Kind = "select"
	Password Kind = "password"
	Area     Kind = "area"    // several lines
	Several  Kind = "several" // some of a few choices
	Dual     Kind = "dual"    // some of many choices, in two lists
)

// Option is a choice of a select, or of a list of choices.
type Option struct {
	Value string
	Text  string
	Note  string // said behind the text, such as who has it
	// Chosen is for choices of which several can be taken.
	Chosen bool
	// Refused choices are shown and cannot be taken.
	Refused bool
}

// Field is a form control with all that is said around it. Title, Hint and Was are texts of the
// template's author or of a catalog, already in the reader's language.
type Field struct {
	Name        string // name of the control in the form
	Title       string
	Hint        string
	Kind        Kind
	Value       string // as typed; "true" or empty for a checkbox; never a stored secret
	Placeholder string
	Options     []Option
	Span        int // columns of four; 0 means 1
	Optional    bool
	Locked      bool   // may not be changed any more; the value is still sent
	Secret      bool   // several lines that nobody else should read
	Stored      bool   // a password that is saved already: empty means "keep"
	Changed     bool   // differs from what is saved
	Was         string // what is saved, when it differs and may be shown
	Problem     i18n.Message
	Min, Max    string // bounds of a number as they are shown; either may be empty
	Focus       bool   // the first field to be mended
	// List says how many values there may be, Note what else there is to know of the choices.
	List, Note i18n.Message
	// Forget is the name of the control that gives up a stored password, Forgotten its value.
	Forget    string
	Forgotten bool
	// Source is where the options come from, when a person can say so.
	Source *Source
	// Find searches the options, when there are more than are shown.
	Find *Find
}

// Find asks for those options of a field that have a text.
type Find struct {
	Name  string // of the control in the form
	Value string
	// Refresh is the address that the form is sent to for the options.
	Refresh string
}

// Source lets a person point a field at another catalog.
type Source struct {
	Name    string // of the control in the form
	Shown   string // of the control that tells where the options on the page come from
	Value   string
	Options []Option
	// Refresh is the address that the form is sent to for the options of another catalog.
	Refresh string
}

// ID is the id of the control; its hint and its problem have ids of their own.
func (f Field) ID() string { return "f-" + f.Name }

// BoxID is the id of the control with all that is said around it.
func (f Field) BoxID() string { return f.ID() + "-box" }

func (f Field) labelID() string   { return f.ID() + "-label" }
func (f Field) hintID() string    { return f.ID() + "-hint" }
func (f Field) problemID() string { return f.ID() + "-problem" }

// bounds says what a number may be.
func (f Field) bounds() i18n.Message {
	switch {
	case f.Min != "" && f.Max != "":
		return i18n.M("field.between", f.Min, f.Max)
	case f.Min != "":
		return i18n.M("parameter.min", f.Min)
	case f.Max != "":
		return i18n.M("parameter.max", f.Max)
	}
	return i18n.Message{}
}

// group tells whether the control is several controls under one title.
func (f Field) group() bool { return f.Kind == Several || f.Kind == Dual }

// filterFrom is the number of choices that are easier to find by their text than by looking.
const filterFrom = 8

// side are the options that are chosen, or those that are not.
func (f Field) side(chosen bool) []Option {
	var out []Option
	for _, o := range f.Options {
		if o.Chosen == chosen {
			out = append(out, o)
		}
	}
	return out
}

// span keeps the width of a field between one column and the whole row.
func (f Field) span() string { return spans[min(max(f.Span, 1), len(spans))-1] }

var spans = []string{"1", "2", "3", "4"}

// area is the value between the tags of a text of several lines, where a browser drops the first line
// end.
func (f Field) area() string {
	if strings.HasPrefix(f.Value, "\n") {
		return "\n" + f.Value
	}
	return f.Value
}
