package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"commander/internal/fault"
)

// BlockError says what is wrong with a block of a schema.
type BlockError struct {
	Block    int    // its number in the list, from 1
	Property string // the one that is wrong; empty when the block as a whole is
	// Message has the number of the block as its first argument.
	Message fault.Message
}

func (e *BlockError) Error() string {
	return fmt.Sprintf("read the parameter schema: %s %v", e.Message.Key, e.Message.Args)
}

// at is the same problem in the block with the number.
func (e *BlockError) at(number int) *BlockError {
	return &BlockError{number, e.Property, fault.Message{Key: e.Message.Key, Args: append([]any{number}, e.Message.Args...)}}
}

// wrong is what is wrong with one property of a block whose number is not known here.
func wrong(property, key string, args ...any) *BlockError {
	return &BlockError{Property: property, Message: fault.Message{Key: key, Args: args}}
}

// properties are those of a field, in the order in which they are written.
var properties = func() []string {
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Field]()) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}()

func parseBlock(given map[string]json.RawMessage) (Block, *BlockError) {
	if header, is := given["header"]; is {
		if len(given) > 1 {
			return Block{}, wrong("header", "schema.header_alone")
		}
		var text string
		if err := json.Unmarshal(header, &text); err != nil || text == "" {
			return Block{}, wrong("header", "schema.header_empty")
		}
		return Block{Header: text}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(properties, name) {
			return Block{}, wrong(name, "schema.unknown", name)
		}
	}
	body, err := json.Marshal(given)
	if err != nil {
		return Block{}, wrong("", "schema.unreadable", err.Error())
	}
	f := &Field{}
	if err := json.Unmarshal(body, f); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			return Block{}, wrong(mistyped.Field, "schema.mistyped", mistyped.Field, mistyped.Value)
		}
		return Block{}, wrong("", "schema.unreadable", err.Error())
	}
	if problem := f.prepare(); problem != nil {
		return Block{}, problem
	}
	return Block{Field: f}, nil
}

var keyPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// prepare checks what the properties of a field mean together.
func (f *Field) prepare() *BlockError {
	for _, check := range []func() *BlockError{f.checkNames, f.checkKind, f.checkBounds, f.checkItems, f.checkChoices} {
		if problem := check(); problem != nil {
			return problem
		}
	}
	if f.Span == 0 {
		f.Span = 1
	}
	if f.Default != nil {
		checked, problem := f.check(f.Default)
		if problem != nil {
			return wrong("default", "schema.default", f.Key)
		}
		f.Default = checked
	}
	return nil
}

func (f *Field) checkNames() *BlockError {
	switch {
	case !keyPattern.MatchString(f.Key):
		return wrong("key", "schema.key", f.Key)
	case strings.HasPrefix(f.Key, "dc_"):
		return wrong("key", "schema.key_reserved", f.Key)
	case strings.TrimSpace(f.Title) == "":
		return wrong("title", "schema.title", f.Key)
	case strings.ContainsAny(f.Title, "\r\n"):
		return wrong("title", "schema.title_line", f.Key)
	case f.Span < 0 || f.Span > 4:
		return wrong("span", "schema.span", f.Key)
	}
	return nil
}

func (f *Field) checkKind() *BlockError {
	switch {
	case f.Catalog != "":
		return f.checkCatalog()
	case f.Autoselect:
		return wrong("autoselect", "schema.autoselect", f.Key)
	case len(f.Select) > 0 && f.Type != "":
		return wrong("type", "schema.excludes", f.Key, "select", "type")
	case len(f.Select) > 0 && len(f.Enum) > 0:
		return wrong("enum", "schema.excludes", f.Key, "select", "enum")
	case len(f.Select) == 0 && !slices.Contains([]string{String, Number, Boolean}, f.Type):
		return wrong("type", "schema.type", f.Key)
	case f.Format != "" && f.Type != String:
		return wrong("format", "schema.only_strings", f.Key, "format")
	case f.Format != "" && f.Format != Password && formats[f.Format] == nil:
		return wrong("format", "schema.format", f.Key, f.Format)
	}
	return nil
}

var slugPattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// checkCatalog refuses what records cannot have: they have the schema of their catalog.
func (f *Field) checkCatalog() *BlockError {
	for _, other := range []struct {
		name string
		has  bool
	}{
		{"type", f.Type != ""},
		{"enum", len(f.Enum) > 0},
		{"select", len(f.Select) > 0},
		{"format", f.Format != ""},
		{"default", f.Default != nil},
	} {
		if other.has {
			return wrong(other.name, "schema.excludes", f.Key, "catalog", other.name)
		}
	}
	if !slugPattern.MatchString(f.Catalog) {
		return wrong("catalog", "schema.catalog", f.Key, f.Catalog)
	}
	return nil
}

func (f *Field) checkBounds() *BlockError {
	text, number := f.Type == String, f.Type == Number
	for _, limit := range []struct {
		name      string
		has, fits bool
		problem   string
	}{
		{"minLength", f.MinLength != nil, text, "schema.only_strings"},
		{"maxLength", f.MaxLength != nil, text, "schema.only_strings"},
		{"pattern", f.Pattern != "", text, "schema.only_strings"},
		{"multiline", f.Multiline, text, "schema.only_strings"},
		{"min", f.Min != nil, number, "schema.only_numbers"},
		{"max", f.Max != nil, number, "schema.only_numbers"},
	} {
		if limit.has && !limit.fits {
			return wrong(limit.name, limit.problem, f.Key, limit.name)
		}
	}
	switch {
	case f.Multiline && len(f.Enum) > 0:
		return wrong("multiline", "schema.excludes", f.Key, "enum", "multiline")
	case f.Multiline && (f.MinItems != nil || f.MaxItems != nil): // a line is a value there
		return wrong("multiline", "schema.excludes", f.Key, "minItems", "multiline")
	case f.MinLength != nil && *f.MinLength < 0:
		return wrong("minLength", "schema.negative", f.Key, "minLength")
	case f.MaxLength != nil && *f.MaxLength < 0:
		return wrong("maxLength", "schema.negative", f.Key, "maxLength")
	case f.MinLength != nil && f.MaxLength != nil && *f.MinLength > *f.MaxLength:
		return wrong("maxLength", "schema.crossed", f.Key, "maxLength", "minLength")
	case f.Min != nil && f.Max != nil && *f.Min > *f.Max:
		return wrong("max", "schema.crossed", f.Key, "max", "min")
	}
	if f.Pattern == "" {
		return nil
	}
	var err error
	if f.pattern, err = regexp.Compile(f.Pattern); err != nil {
		return wrong("pattern", "schema.pattern", f.Key, err.Error())
	}
	return nil
}

// mostItems bounds a list, as no form can show more.
const mostItems = 10_000

func (f *Field) checkItems() *BlockError {
	switch {
	case f.MinItems == nil && f.MaxItems == nil:
		return nil
	case f.MinItems == nil:
		return wrong("maxItems", "schema.both_items", f.Key)
	case f.MaxItems == nil:
		return wrong("minItems", "schema.both_items", f.Key)
	case *f.MinItems < 0:
		return wrong("minItems", "schema.negative", f.Key, "minItems")
	case *f.MaxItems < max(1, *f.MinItems) || *f.MaxItems > mostItems:
		return wrong("maxItems", "schema.max_items", f.Key, max(1, *f.MinItems), mostItems)
	}
	return nil
}

// checkChoices holds each value of an enum to the rules that values have.
func (f *Field) checkChoices() *BlockError {
	rules := *f
	rules.Enum = nil
	for i, value := range f.Enum {
		if _, problem := rules.checkOne(value); problem != nil {
			return wrong("enum", "schema.enum", f.Key, Text(value))
		}
		if slices.ContainsFunc(f.Enum[:i], func(other any) bool { return same(other, value) }) {
			return wrong("enum", "schema.enum_twice", f.Key, Text(value))
		}
	}
	for i, choice := range f.Select {
		if choice.Text == "" {
			return wrong("select", "schema.choice_text", f.Key, i+1)
		}
	}
	return nil
}
