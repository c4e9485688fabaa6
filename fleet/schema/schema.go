// Package schema describes the input parameters of a template: a flat ordered list of headers
// and fields, from which forms are made and against which values are checked.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

// Schema is the ordered list of blocks.
type Schema []Block

// Block is either a header that separates fields or a field.
type Block struct {
	Header string
	Field  *Field
}

// The types of a value.
const (
	String  = "string"
	Number  = "number"
	Boolean = "boolean"
)

// Password is the format of a secret: sealed at rest and shown to nobody after saving.
const Password = "password"

// Field is one input parameter. Its key is the name of the variable in templates.
type Field struct {
	Key         string   `json:"key"`
	Type        string   `json:"type,omitempty"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Default     any      `json:"default,omitempty"`
	Format      string   `json:"format,omitempty"`
	Span        int      `json:"span,omitempty"` // columns of 4, 1 unless told
	Optional    bool     `json:"optional,omitempty"`
	Immutable   bool     `json:"immutable,omitempty"` // editable until first filled
	Hidden      bool     `json:"hidden,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Select      []Choice `json:"select,omitempty"`
	MinLength   *int     `json:"minLength,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	Min         *float64 `json:"min,omitempty"`
	Max         *float64 `json:"max,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`

	pattern *regexp.Regexp
}

// Choice is an entry of a select: people see the text, templates get the value.
type Choice struct {
	Text  string `json:"text"`
	Value any    `json:"value"`
}

// Secret reports whether values of the field are sealed and masked.
func (f *Field) Secret() bool { return f.Format == Password }

// MarshalJSON writes a block the way Parse reads it.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Field != nil {
		return json.Marshal(b.Field)
	}
	return json.Marshal(map[string]string{"header": b.Header})
}

// Parse reads a schema from JSON and tells what is wrong with it.
func Parse(body []byte) (Schema, error) {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, fmt.Errorf("read the parameter schema: it must be a list of headers and fields: %w", err)
	}
	s := make(Schema, 0, len(raw))
	seen := map[string]bool{}
	for i, properties := range raw {
		block, err := parseBlock(properties)
		if err != nil {
			return nil, fmt.Errorf("read block %d of the parameter schema: %w", i+1, err)
		}
		if f := block.Field; f != nil {
			if seen[f.Key] {
				return nil, fmt.Errorf("read block %d of the parameter schema: the key %q is used twice", i+1, f.Key)
			}
			seen[f.Key] = true
		}
		s = append(s, block)
	}
	return s, nil
}

var known = []string{
	"key", "type", "title", "description", "default", "format", "span", "optional", "immutable", "hidden",
	"enum", "select", "minLength", "maxLength", "min", "max", "pattern",
}

func parseBlock(properties map[string]json.RawMessage) (Block, error) {
	if header, is := properties["header"]; is {
		if len(properties) > 1 {
			return Block{}, fmt.Errorf("a header has no other properties")
		}
		var text string
		if err := json.Unmarshal(header, &text); err != nil || text == "" {
			return Block{}, fmt.Errorf("a header is a text that is not empty")
		}
		return Block{Header: text}, nil
	}
	for name := range properties {
		if !slices.Contains(known, name) {
			return Block{}, fmt.Errorf("the property %q is not known", name)
		}
	}
	body, err := json.Marshal(properties)
	if err != nil {
		return Block{}, err
	}
	f := &Field{}
	if err := json.Unmarshal(body, f); err != nil {
		return Block{}, fmt.Errorf("read the field: %w", err)
	}
	return Block{Field: f}, f.prepare()
}

var keyPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// prepare checks what the properties of a field mean together.
func (f *Field) prepare() error {
	switch {
	case !keyPattern.MatchString(f.Key):
		return fmt.Errorf("the key %q must be a name that templates can use: letters, digits and _, not beginning with a digit", f.Key)
	case f.Title == "":
		return fmt.Errorf("the field %q needs a title", f.Key)
	case len(f.Select) > 0 && f.Type != "":
		return fmt.Errorf("the field %q has a select and so no type", f.Key)
	case len(f.Select) == 0 && !slices.Contains([]string{String, Number, Boolean}, f.Type):
		return fmt.Errorf("the type of the field %q must be string, number or boolean", f.Key)
	case f.Span < 0 || f.Span > 4:
		return fmt.Errorf("the span of the field %q must be from 1 to 4", f.Key)
	case f.Format != "" && f.Type != String:
		return fmt.Errorf("the field %q has a format, which only strings have", f.Key)
	case f.Format != "" && f.Format != Password && formats[f.Format] == nil:
		return fmt.Errorf("the format %q of the field %q is not known", f.Format, f.Key)
	}
	if f.Span == 0 {
		f.Span = 1
	}
	if f.Pattern != "" {
		var err error
		if f.pattern, err = regexp.Compile(f.Pattern); err != nil {
			return fmt.Errorf("the pattern of the field %q: %w", f.Key, err)
		}
	}
	if f.Default != nil {
		if _, problem := f.check(f.Default); problem != nil {
			return fmt.Errorf("the default of the field %q breaks its own rules (%s)", f.Key, problem.Key)
		}
	}
	return nil
}

// Fields lists the fields in order.
func (s Schema) Fields() []*Field {
	var fields []*Field
	for _, b := range s {
		if b.Field != nil {
			fields = append(fields, b.Field)
		}
	}
	return fields
}

// Split parts the values of secrets from the others. Both results are new maps.
func (s Schema) Split(values map[string]any) (plain, secret map[string]any) {
	plain, secret = map[string]any{}, map[string]any{}
	secrets := map[string]bool{}
	for _, f := range s.Fields() {
		secrets[f.Key] = f.Secret()
	}
	for key, value := range values {
		if secrets[key] {
			secret[key] = value
		} else {
			plain[key] = value
		}
	}
	return plain, secret
}
