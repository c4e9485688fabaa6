package console

import (
	"context"
	"strconv"

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

// blocks are the controls of a template's parameters. saved is what the cluster has, nil for a
// new one. The first control with a problem takes the focus unless the name has it.
func blocks(parameters schema.Schema, values map[string]string, saved store.Values, problems map[string]fault.Message) []clusters.Block {
	var out []clusters.Block
	for _, b := range parameters {
		switch {
		case b.Field == nil:
			out = append(out, clusters.Block{Header: b.Header})
		case !b.Field.Hidden:
			field := control(b.Field, values, saved)
			field.Problem = i18n.Message(problems[fleet.ValueField(b.Field.Key)])
			out = append(out, clusters.Block{Field: field})
		}
	}
	return out
}

// control is how one parameter is edited.
func control(f *schema.Field, values map[string]string, saved store.Values) ui.Field {
	old, had := saved[f.Key]
	was := ""
	if had {
		was = f.Typed(old)
	}
	value := values[f.Key]
	field := ui.Field{
		Name: clusters.ValueField(f.Key), Title: f.Title, Hint: f.Description, Kind: kindOf(f), Value: value,
		Span: f.Span, Optional: f.Optional, Options: optionsOf(f), Locked: f.Immutable && was != "",
		Min: limit(f.Min), Max: limit(f.Max),
	}
	if f.Secret() {
		field.Stored = had
		field.Changed = had && value != ""
		return field
	}
	if f.Type == schema.Boolean {
		value = strconv.FormatBool(value == "true")
	}
	if saved != nil && value != was {
		field.Changed, field.Was = true, readable(f, old)
	}
	return field
}

func kindOf(f *schema.Field) ui.Kind {
	switch {
	case len(f.Select) > 0 || len(f.Enum) > 0:
		return ui.Select
	case f.Secret():
		return ui.Password
	case f.Type == schema.Boolean:
		return ui.Checkbox
	case f.Type == schema.Number:
		return ui.Number
	}
	return ui.Text
}

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

// readable is a saved value in the words of the form.
func readable(f *schema.Field, value any) string {
	text := f.Typed(value)
	if i, err := strconv.Atoi(text); err == nil && i >= 0 && i < len(f.Select) {
		return f.Select[i].Text
	}
	return text
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
