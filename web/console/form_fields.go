package console

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// nameField is the control of a cluster's name.
func nameField(ctx context.Context, name string, problems map[string]fault.Message) ui.Field {
	return ui.Field{
		Name: clusters.FieldName, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "form.name"), Hint: i18n.T(ctx, "form.name_hint"),
		Value: name, Problem: i18n.Message(problems[fleet.Name]),
	}
}

// source is what the controls of parameters are made from.
type source struct {
	schema schema.Schema
	values map[string]string // as typed
	saved  store.Values      // what is saved already, nil for something new
	forget map[string]bool   // secrets that a person gives up
	wanted map[string]fleet.Wanted
	// offers are what fields of the inventory can be filled with, catalogs those that they can be
	// pointed at, and refresh is where the form goes for the records of another one.
	offers   map[string]fleet.Choices
	catalogs []store.Catalog
	refresh  string
}

// blocks are the controls of a template's parameters. The first control with a problem takes the
// focus unless the name has it.
func (s source) blocks(ctx context.Context, problems map[string]fault.Message) []clusters.Block {
	var out []clusters.Block
	for _, b := range s.schema {
		switch {
		case b.Field == nil:
			out = append(out, clusters.Block{Header: b.Header})
		case !b.Field.Hidden:
			field := s.control(ctx, b.Field)
			field.Problem = i18n.Message(problems[fleet.ValueField(b.Field.Key)])
			out = append(out, clusters.Block{Field: field})
		}
	}
	return out
}

// control is how one parameter is edited.
func (s source) control(ctx context.Context, f *schema.Field) ui.Field {
	old, had := s.saved[f.Key]
	was := ""
	if had {
		was = f.Typed(old)
	}
	value := s.values[f.Key]
	field := ui.Field{
		Name: clusters.ValueField(f.Key), Title: f.Title, Hint: f.Description, Kind: kindOf(f), Value: value,
		Span: f.Span, Optional: f.Optional, Options: optionsOf(f), Locked: f.Immutable && was != "",
		Min: limit(f.Min), Max: limit(f.Max), Secret: f.Secret(),
	}
	if f.Secret() {
		field.Stored = had
		field.Changed = had && value != ""
		if had && f.Optional && !field.Locked {
			field.Forget, field.Forgotten = clusters.ForgetField(f.Key), s.forget[f.Key]
		}
		return field
	}
	if f.Default != nil {
		field.Placeholder = f.Typed(f.Default)
	}
	if f.Catalog != "" {
		s.offer(ctx, f, &field)
	}
	if field.Kind == ui.Select && f.Catalog == "" {
		field.Placeholder = ""
	}
	if f.Type == schema.Boolean && field.Kind == ui.Checkbox {
		value = strconv.FormatBool(value == "true")
	}
	if f.List() {
		field.Options = chosenFirst(field.Options, value)
		field.List = itemsOf(f)
	}
	if f.List() {
		value = strings.TrimRight(value, "\n")
	}
	if s.saved != nil && value != was {
		field.Changed, field.Was = true, readable(field.Options, f, old)
	}
	return field
}

func kindOf(f *schema.Field) ui.Kind {
	choice := f.Catalog != "" || len(f.Select) > 0 || len(f.Enum) > 0
	switch {
	case f.List() && choice:
		if f.Catalog != "" || len(f.Enum)+len(f.Select) > few {
			return ui.Dual
		}
		return ui.Several
	case f.List():
		return ui.Area
	case choice:
		return ui.Select
	case f.Multiline:
		return ui.Area
	case f.Secret():
		return ui.Password
	case f.Type == schema.Boolean:
		return ui.Checkbox
	case f.Type == schema.Number:
		return ui.Number
	}
	return ui.Text
}

// few is how many choices can be looked over at once.
const few = 8

// optionsOf are the choices of a parameter; those of a select are sent by their number.
func optionsOf(f *schema.Field) []ui.Option {
	var options []ui.Option
	for i, choice := range f.Select {
		options = append(options, ui.Option{Value: strconv.Itoa(i), Text: choice.Text})
	}
	for _, value := range f.Enum {
		options = append(options, ui.Option{Value: schema.Text(value), Text: schema.Text(value)})
	}
	return options
}

// chosenFirst marks the options that are chosen and puts them first, in the order they were chosen in.
func chosenFirst(options []ui.Option, value string) []ui.Option {
	place := map[string]int{}
	for line := range strings.Lines(value) {
		place[strings.TrimSpace(line)] = len(place)
	}
	for i := range options {
		_, options[i].Chosen = place[options[i].Value]
	}
	slices.SortStableFunc(options, func(a, b ui.Option) int {
		switch {
		case a.Chosen && b.Chosen:
			return place[a.Value] - place[b.Value]
		case a.Chosen:
			return -1
		case b.Chosen:
			return 1
		}
		return 0
	})
	return options
}

func itemsOf(f *schema.Field) i18n.Message {
	if *f.MinItems == *f.MaxItems {
		return i18n.M("field.items_exactly", *f.MinItems)
	}
	return i18n.M("field.items", *f.MinItems, *f.MaxItems)
}

// readable is a saved value in the words of the form.
func readable(options []ui.Option, f *schema.Field, value any) string {
	var texts []string
	for line := range strings.Lines(f.Typed(value)) {
		line = strings.TrimSpace(line)
		for _, o := range options {
			if o.Value == line {
				line = o.Text
				break
			}
		}
		texts = append(texts, line)
	}
	return strings.Join(texts, ", ")
}

func limit(n *float64) string {
	if n == nil {
		return ""
	}
	return schema.Text(*n)
}

// focusFirst puts the cursor into the first control that needs attention and counts them.
func focusFirst(form *clusters.Form) int {
	count := 0
	mark := func(f *ui.Field) {
		if f.Problem.IsZero() {
			return
		}
		f.Focus = count == 0
		count++
	}
	mark(&form.Name)
	for i := range form.Blocks {
		mark(&form.Blocks[i].Field)
	}
	return count
}

// allFields are the controls of a form.
func allFields(form clusters.Form) []ui.Field {
	fields := []ui.Field{form.Name}
	for _, b := range form.Blocks {
		if b.Field.Name != "" {
			fields = append(fields, b.Field)
		}
	}
	return fields
}
