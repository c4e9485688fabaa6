package ui

import "commander/views/i18n"

// Kind is the sort of control that a field is edited with.
type Kind string

// The kinds of controls.
const (
	Text     Kind = "text"
	Number   Kind = "number"
	Checkbox Kind = "checkbox"
	Select   Kind = "select"
	Password Kind = "password"
	Area     Kind = "area" // several lines
)

// Option is a choice of a select.
type Option struct {
	Value string
	Text  string
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
	Stored      bool   // a password that is saved already: empty means "keep"
	Changed     bool   // differs from what is saved
	Was         string // what is saved, when it differs and may be shown
	Problem     i18n.Message
	Min, Max    string // bounds of a number as they are shown; either may be empty
	Focus       bool   // the first field to be mended
}

// ID is the id of the control; its hint and its problem have ids of their own.
func (f Field) ID() string { return "f-" + f.Name }

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

// span keeps the width of a field between one column and the whole row.
func (f Field) span() string { return spans[min(max(f.Span, 1), len(spans))-1] }

var spans = []string{"1", "2", "3", "4"}
