package console

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/views/builder"
)

// properties are those of a field that are typed as text, with the kinds of fields that have them;
// those without any are for all.
var properties = map[string][]string{
	"key": nil, "title": nil, "description": nil, "span": nil,
	"format": {schema.String}, "minLength": {schema.String}, "maxLength": {schema.String}, "pattern": {schema.String}, "multiline": {schema.String},
	"min": {schema.Number}, "max": {schema.Number},
	"enum": {schema.String, schema.Number, schema.Boolean}, "default": {schema.String, schema.Number, schema.Boolean, kindSelect},
	"minItems": nil, "maxItems": nil, "catalog": {kindCatalog}, "identifier": nil,
	"optional": nil, "immutable": nil, "hidden": nil, "unique": nil, "autoselect": {kindCatalog},
}

// The kinds of a field that are no types.
const (
	kindSelect  = "select"
	kindCatalog = "catalog"
)

func kindOfField(f *schema.Field) string {
	switch {
	case f.Catalog != "":
		return kindCatalog
	case len(f.Select) > 0:
		return kindSelect
	}
	return f.Type
}

// opened is a block as its author would have typed it.
func opened(b schema.Block, at int) *openBlock {
	o := &openBlock{at: at, typed: map[string]string{}}
	if b.Field == nil {
		o.header, o.typed[builder.Header] = true, b.Header
		return o
	}
	o.typed = typedBlock(b.Field)
	for _, c := range b.Field.Select {
		o.choices = append(o.choices, builder.Choice{Text: c.Text, Value: asJSON(c.Value)})
	}
	return o
}

func asJSON(value any) string {
	body, _ := json.Marshal(value) // it was read from JSON
	return string(body)
}

// given are the properties of a block as JSON.
func given(b schema.Block) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if body, err := json.Marshal(b); err == nil {
		_ = json.Unmarshal(body, &out) // written by ourselves
	}
	return out
}

// typedBlock is how the properties of a field look in their controls.
func typedBlock(f *schema.Field) map[string]string {
	typed := map[string]string{builder.Kind: kindOfField(f)}
	for name, raw := range given(schema.Block{Field: f}) {
		if _, shown := properties[name]; !shown {
			continue
		}
		var value any
		_ = json.Unmarshal(raw, &value) // written by ourselves
		switch list := value.(type) {
		case []any:
			lines := make([]string, len(list))
			for i, one := range list {
				lines[i] = choiceText(f, one)
			}
			typed[name] = strings.Join(lines, "\n")
		default:
			typed[name] = schema.Text(value)
			if name == "default" {
				typed[name] = choiceText(f, value)
			}
		}
	}
	return typed
}

// choiceText is a value in the words of a select.
func choiceText(f *schema.Field, value any) string {
	for _, c := range f.Select {
		if schema.Same(c.Value, value) {
			return c.Text
		}
	}
	return schema.Text(value)
}

// block makes a block of what was typed. What was not changed stays as it is in before, whatever
// its control can show of it.
func (o *openBlock) block(before schema.Block) (schema.Block, map[string]fault.Message) {
	wanted := map[string]any{}
	if o.header {
		wanted[builder.Header] = strings.TrimSpace(o.typed[builder.Header])
	} else {
		o.fields(wanted, before)
	}
	body, err := json.Marshal([]any{wanted})
	var parsed schema.Schema
	if err == nil {
		parsed, err = schema.Parse(body)
	}
	var bad *schema.BlockError
	switch {
	case errors.As(err, &bad):
		m := bad.Message
		m.Args = append([]any{o.at + 1}, m.Args[1:]...)
		return schema.Block{}, map[string]fault.Message{bad.Property: m}
	case err != nil:
		return schema.Block{}, map[string]fault.Message{"": {Key: "schema.unreadable", Args: []any{o.at + 1, err.Error()}}}
	}
	return parsed[0], nil
}

func (o *openBlock) fields(wanted map[string]any, before schema.Block) {
	kind := o.typed[builder.Kind]
	was, had := map[string]string{}, map[string]json.RawMessage{}
	if before.Field != nil && kindOfField(before.Field) == kind {
		was, had = typedBlock(before.Field), given(before)
	}
	var choices []schema.Choice
	if kind == kindSelect {
		choices = o.selected(before)
		wanted["select"] = choices
	} else if kind != kindCatalog {
		wanted["type"] = kind
	}
	for name, kinds := range properties {
		typed := o.typed[name]
		if kinds != nil && !slices.Contains(kinds, kind) {
			continue
		}
		_, shown := o.typed[name]
		if raw, is := had[name]; is && (typed == was[name] || name == "identifier" && !shown) {
			wanted[name] = raw // templates have no control for what names a record
			continue
		}
		if value := o.value(name, typed, kind, choices); value != nil {
			wanted[name] = value
		}
	}
	if string(had["span"]) == "1" && o.typed["span"] == "1" {
		delete(wanted, "span")
	}
}

// selected are the choices as they were typed; those whose value was not touched keep it.
func (o *openBlock) selected(before schema.Block) []schema.Choice {
	old := map[string]any{}
	if before.Field != nil {
		for _, c := range before.Field.Select {
			old[asJSON(c.Value)] = c.Value
		}
	}
	out := make([]schema.Choice, len(o.choices))
	for i, c := range o.choices {
		value, kept := old[c.Value]
		if !kept {
			if err := yaml.Unmarshal([]byte(c.Value), &value); err != nil {
				value = c.Value // a text that only looks like something else
			}
		}
		out[i] = schema.Choice{Text: strings.TrimSpace(c.Text), Value: value}
	}
	return out
}

// value is a property as it was typed; nil when it is left out.
func (o *openBlock) value(name, typed, kind string, choices []schema.Choice) any {
	bare := strings.TrimSpace(typed)
	switch name {
	case "optional", "immutable", "hidden", "unique", "autoselect", "multiline":
		if typed == "true" {
			return true
		}
		return nil
	case "identifier":
		if bare == "" {
			return nil
		}
		return bare == "true"
	case "key", "title":
		return bare
	}
	if bare == "" {
		return nil
	}
	switch name {
	case "span", "minLength", "maxLength", "min", "max", "minItems", "maxItems":
		return number(bare)
	case "enum":
		return values(typed, schema.Number == kind, schema.Boolean == kind, nil)
	case "default":
		if o.typed["minItems"]+o.typed["maxItems"] != "" {
			return values(typed, schema.Number == kind, schema.Boolean == kind, choices)
		}
		return one(typed, schema.Number == kind, schema.Boolean == kind, choices)
	case "format", "catalog":
		return bare
	}
	return typed
}

// number is what was typed, as a number if it is one: the schema says what is wrong otherwise.
func number(typed string) any {
	if n, err := strconv.ParseFloat(strings.ReplaceAll(typed, ",", "."), 64); err == nil {
		return n
	}
	return typed
}

func values(typed string, isNumber, isBoolean bool, choices []schema.Choice) []any {
	out := []any{}
	for line := range strings.Lines(typed) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, one(line, isNumber, isBoolean, choices))
		}
	}
	return out
}

func one(typed string, isNumber, isBoolean bool, choices []schema.Choice) any {
	bare := strings.TrimSpace(typed)
	for _, c := range choices {
		if c.Text == bare {
			return c.Value
		}
	}
	switch {
	case isNumber:
		return number(bare)
	case isBoolean && (bare == "true" || bare == "false"):
		return bare == "true"
	}
	return typed
}
