package console

import (
	"context"
	"slices"
	"strings"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/views/builder"
	"commander/views/i18n"
	"commander/views/ui"
)

// listed is a block as the builder lists it.
func listed(b schema.Block) builder.Block {
	f := b.Field
	if f == nil {
		return builder.Block{Header: b.Header}
	}
	out := builder.Block{Title: f.Title, Key: f.Key, Kind: kindOfField(f), Span: f.Span}
	if f.Default != nil {
		out.Default = strings.ReplaceAll(typedBlock(f)["default"], "\n", ", ")
		if f.Secret() {
			out.Default = schema.Mask
		}
	}
	mark := func(on bool, key string, args ...any) {
		if on {
			out.Marks = append(out.Marks, i18n.M(key, args...))
		}
	}
	mark(f.Catalog != "", "builder.mark.catalog", f.Catalog)
	mark(f.Format != "", "builder.mark.format", f.Format)
	if f.List() {
		mark(true, "builder.mark.list", *f.MinItems, *f.MaxItems)
	}
	mark(f.Multiline, "builder.mark.multiline")
	mark(f.Optional, "builder.mark.optional")
	mark(f.Immutable, "builder.mark.immutable")
	mark(f.Hidden, "builder.mark.hidden")
	mark(f.Unique, "builder.mark.unique")
	mark(f.Autoselect, "builder.mark.autoselect")
	mark(f.Identifier != nil && *f.Identifier, "builder.mark.identifier")
	return out
}

// formatNames are the formats of texts, the commonest first.
var formatNames = []string{"", "password", "url", "email", "ipv4", "uuid", "date-time", "cuid", "cuid2", "ulid", "emoji"}

// editor is the open block with its controls.
func (o *openBlock) editor(ctx context.Context, name string, catalog bool) *builder.Editor {
	e := &builder.Editor{At: o.at, New: o.fresh, Header: o.header, ChoiceProblem: i18n.Message(o.problems["select"])}
	control := func(property string, kind ui.Kind, span int, options ...ui.Option) ui.Field {
		return ui.Field{
			Name: name + "." + property, Kind: kind, Span: span, Title: i18n.T(ctx, "builder.property."+property), Value: o.typed[property], Options: options,
			Problem: i18n.Message(o.problems[property]),
		}
	}
	check := func(property string) ui.Field {
		return control(property, ui.Checkbox, 1)
	}
	if o.header {
		e.Groups = []builder.Group{{Fields: []ui.Field{control(builder.Header, ui.Text, 4)}}}
		focusBlock(e, o.problems)
		return e
	}
	var kinds, formats, spans []ui.Option
	for _, kind := range []string{schema.String, schema.Number, schema.Boolean, kindSelect, kindCatalog} {
		if kind != kindCatalog || !catalog {
			kinds = append(kinds, ui.Option{Value: kind, Text: i18n.T(ctx, "builder.kind."+kind)})
		}
	}
	for _, format := range formatNames[1:] {
		formats = append(formats, ui.Option{Value: format, Text: format})
	}
	for _, span := range []string{"1", "2", "3", "4"} {
		spans = append(spans, ui.Option{Value: span, Text: span})
	}
	kind := control(builder.Kind, ui.Select, 2, kinds...)
	kind.Problem = i18n.Message(o.problems["type"])
	span := control("span", ui.Select, 2, spans...)
	if span.Value == "" {
		span.Value = "1"
	}
	format := control("format", ui.Select, 2, formats...)
	format.Optional = true
	marks := []ui.Field{check("optional"), check("immutable"), check("hidden"), check("unique")}
	if catalog {
		identifier := control("identifier", ui.Select, 4, ui.Option{Value: "true", Text: i18n.T(ctx, "builder.identifier.yes")}, ui.Option{Value: "false", Text: i18n.T(ctx, "builder.identifier.no")})
		identifier.Optional, identifier.Placeholder = true, i18n.T(ctx, "builder.identifier.by_itself")
		marks = append(marks, identifier)
	}
	plain := strings.Join([]string{schema.String, schema.Number, schema.Boolean}, " ")
	e.Groups = []builder.Group{
		{Fields: []ui.Field{control("key", ui.Text, 2), control("title", ui.Text, 2), kind, span, control("description", ui.Area, 4)}},
		{For: kindCatalog, Fields: []ui.Field{control("catalog", ui.Text, 2), control("autoselect", ui.Checkbox, 2)}},
		{For: schema.String, Fields: []ui.Field{format, control("minLength", ui.Number, 1), control("maxLength", ui.Number, 1), control("pattern", ui.Text, 4), control("multiline", ui.Checkbox, 4)}},
		{For: schema.Number, Fields: []ui.Field{control("min", ui.Number, 2), control("max", ui.Number, 2)}},
		{For: plain, Fields: []ui.Field{control("enum", ui.Area, 4)}},
		{For: plain + " " + kindSelect, Fields: []ui.Field{control("default", ui.Area, 4)}},
		{Fields: []ui.Field{control("minItems", ui.Number, 2), control("maxItems", ui.Number, 2)}},
		{Fields: marks},
	}
	hints := map[string]string{
		"enum": "builder.enum_hint", "default": "builder.default_hint", "minItems": "builder.items_hint", "catalog": "builder.catalog_hint",
		"immutable": "builder.immutable_hint", "unique": "builder.unique_hint", "hidden": "builder.hidden_hint", "key": "builder.key_hint",
	}
	for g := range e.Groups {
		for i := range e.Groups[g].Fields {
			f := &e.Groups[g].Fields[i]
			if key := hints[strings.TrimPrefix(f.Name, name+".")]; key != "" {
				f.Hint = i18n.T(ctx, key)
			}
		}
	}
	e.Choices = append(slices.Clone(o.choices), builder.Choice{}, builder.Choice{})
	focusBlock(e, o.problems)
	return e
}

// focusBlock puts the cursor where something is wrong, or into the first control. A problem that no
// control is for is told at the first.
func focusBlock(e *builder.Editor, problems map[string]fault.Message) {
	first := &e.Groups[0].Fields[0]
	found := !e.ChoiceProblem.IsZero()
	for _, g := range e.Groups {
		for i := range g.Fields {
			if f := &g.Fields[i]; !f.Problem.IsZero() && !found {
				f.Focus, found = true, true
			}
		}
	}
	if found {
		return
	}
	first.Focus = true
	for _, problem := range problems {
		first.Problem = i18n.Message(problem)
	}
}
