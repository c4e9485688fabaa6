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
)

// BlockError says what is wrong with a block of a schema.
type BlockError struct {
	Block    int    // its number in the list, from 1
	Property string // the one that is wrong; empty when the block as a whole is
	Reason   string
}

func (e *BlockError) Error() string {
	return fmt.Sprintf("read block %d of the parameter schema: %s", e.Block, e.Reason)
}

// wrong is what is wrong with one property of a block whose number is not known here.
func wrong(property, format string, args ...any) *BlockError {
	return &BlockError{Property: property, Reason: fmt.Sprintf(format, args...)}
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
			return Block{}, wrong("header", "a header has no other properties")
		}
		var text string
		if err := json.Unmarshal(header, &text); err != nil || text == "" {
			return Block{}, wrong("header", "a header is a text that is not empty")
		}
		return Block{Header: text}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(properties, name) {
			return Block{}, wrong(name, "the property %q is not known", name)
		}
	}
	body, err := json.Marshal(given)
	if err != nil {
		return Block{}, wrong("", "%v", err)
	}
	f := &Field{}
	if err := json.Unmarshal(body, f); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			return Block{}, wrong(mistyped.Field, "the property %q cannot be a %s", mistyped.Field, mistyped.Value)
		}
		return Block{}, wrong("", "%v", err)
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
			return wrong("default", "the default of the field %q breaks its own rules (%s)", f.Key, problem.Key)
		}
		f.Default = checked
	}
	return nil
}

func (f *Field) checkNames() *BlockError {
	switch {
	case !keyPattern.MatchString(f.Key):
		return wrong("key", "the key %q must be a name that templates can use: letters, digits and _, not beginning with a digit", f.Key)
	case strings.HasPrefix(f.Key, "dc_"):
		return wrong("key", "the key %q begins with dc_, which is for the variables of the product", f.Key)
	case strings.TrimSpace(f.Title) == "":
		return wrong("title", "the field %q needs a title", f.Key)
	case strings.ContainsAny(f.Title, "\r\n"):
		return wrong("title", "the title of the field %q must be one line", f.Key)
	case f.Span < 0 || f.Span > 4:
		return wrong("span", "the span of the field %q must be from 1 to 4", f.Key)
	}
	return nil
}

func (f *Field) checkKind() *BlockError {
	switch {
	case f.Catalog != "":
		return f.checkCatalog()
	case f.Autoselect:
		return wrong("autoselect", "the field %q picks records, but has no catalog", f.Key)
	case len(f.Select) > 0 && f.Type != "":
		return wrong("type", "the field %q has a select and so no type", f.Key)
	case len(f.Select) > 0 && len(f.Enum) > 0:
		return wrong("enum", "the field %q has a select and so no enum", f.Key)
	case len(f.Select) == 0 && !slices.Contains([]string{String, Number, Boolean}, f.Type):
		return wrong("type", "the type of the field %q must be string, number or boolean", f.Key)
	case f.Format != "" && f.Type != String:
		return wrong("format", "the field %q has a format, which only strings have", f.Key)
	case f.Format != "" && f.Format != Password && formats[f.Format] == nil:
		return wrong("format", "the format %q of the field %q is not known", f.Format, f.Key)
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
			return wrong(other.name, "the field %q has a catalog and so no %s", f.Key, other.name)
		}
	}
	if !slugPattern.MatchString(f.Catalog) {
		return wrong("catalog", "the catalog of the field %q must be the identifier of one, not %q", f.Key, f.Catalog)
	}
	return nil
}

func (f *Field) checkBounds() *BlockError {
	text, number := f.Type == String, f.Type == Number
	for _, limit := range []struct {
		name      string
		has, fits bool
		holder    string
	}{
		{"minLength", f.MinLength != nil, text, "strings"},
		{"maxLength", f.MaxLength != nil, text, "strings"},
		{"pattern", f.Pattern != "", text, "strings"},
		{"min", f.Min != nil, number, "numbers"},
		{"max", f.Max != nil, number, "numbers"},
	} {
		if limit.has && !limit.fits {
			return wrong(limit.name, "the field %q has the property %q, which only %s have", f.Key, limit.name, limit.holder)
		}
	}
	switch {
	case f.MinLength != nil && *f.MinLength < 0:
		return wrong("minLength", "the minLength of the field %q is below 0", f.Key)
	case f.MinLength != nil && f.MaxLength != nil && *f.MinLength > *f.MaxLength:
		return wrong("maxLength", "the maxLength of the field %q is below its minLength", f.Key)
	case f.Min != nil && f.Max != nil && *f.Min > *f.Max:
		return wrong("max", "the max of the field %q is below its min", f.Key)
	}
	if f.Pattern == "" {
		return nil
	}
	var err error
	if f.pattern, err = regexp.Compile(f.Pattern); err != nil {
		return wrong("pattern", "the pattern of the field %q: %v", f.Key, err)
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
		return wrong("maxItems", "the field %q has maxItems without minItems: a list has both", f.Key)
	case f.MaxItems == nil:
		return wrong("minItems", "the field %q has minItems without maxItems: a list has both", f.Key)
	case *f.MinItems < 0:
		return wrong("minItems", "the minItems of the field %q is below 0", f.Key)
	case *f.MaxItems < max(1, *f.MinItems) || *f.MaxItems > mostItems:
		return wrong("maxItems", "the maxItems of the field %q must be from %d to %d", f.Key, max(1, *f.MinItems), mostItems)
	}
	return nil
}

// checkChoices holds each value of an enum to the rules that values have.
func (f *Field) checkChoices() *BlockError {
	rules := *f
	rules.Enum = nil
	for i, value := range f.Enum {
		if _, problem := rules.checkOne(value); problem != nil {
			return wrong("enum", "the enum of the field %q allows %s, which breaks the field's own rules (%s)", f.Key, Text(value), problem.Key)
		}
		if slices.ContainsFunc(f.Enum[:i], func(other any) bool { return same(other, value) }) {
			return wrong("enum", "the enum of the field %q has %s twice", f.Key, Text(value))
		}
	}
	for i, choice := range f.Select {
		if choice.Text == "" {
			return wrong("select", "choice %d of the field %q has no text", i+1, f.Key)
		}
	}
	return nil
}
