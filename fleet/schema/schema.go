// Package schema describes the input parameters of a template: a flat ordered list of headers
// and fields, from which forms are made and against which values are checked.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
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
	// Multiline is for a text of several lines, such as a certificate.
	Multiline bool `json:"multiline,omitempty"`
	// Catalog is the slug of the catalog whose records are the values.
	Catalog string `json:"catalog,omitempty"`
	// MinItems and MaxItems come together and make the value a list.
	MinItems *int `json:"minItems,omitempty"`
	MaxItems *int `json:"maxItems,omitempty"`
	// Autoselect has the product pick free records where nobody chose.
	Autoselect bool `json:"autoselect,omitempty"`
	// Identifier says in the schema of a catalog whether the field is part of a record's label;
	// nil leaves it to the other fields.
	Identifier *bool `json:"identifier,omitempty"`
	// Unique values are had by one record of the catalog, or by one cluster of the workspace.
	Unique bool `json:"unique,omitempty"`

	pattern *regexp.Regexp
}

// Choice is an entry of a select: people see the text, templates get the value.
type Choice struct {
	Text  string `json:"text"`
	Value any    `json:"value"`
}

// RecordID is the key of a record's id among its values in parameters. Its odd name leaves every
// other name to the fields of catalogs.
const RecordID = "x-commander-record-id"

// List reports whether the value is a list: several choices, several records or several lines.
func (f *Field) List() bool { return f.MinItems != nil && f.MaxItems != nil }

// Secret reports whether values of the field are sealed and masked.
func (f *Field) Secret() bool { return f.Format == Password }

// MarshalJSON writes a block the way Parse reads it.
func (b Block) MarshalJSON() ([]byte, error) {
	if b.Field != nil {
		return json.Marshal(b.Field)
	}
	return json.Marshal(map[string]string{"header": b.Header})
}

// Parse reads a schema from JSON. What is wrong with a block is told by a BlockError.
func Parse(body []byte) (Schema, error) {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(body, &raw); err != nil {
		return nil, fmt.Errorf("read the parameter schema: it must be a list of headers and fields: %w", err)
	}
	s := make(Schema, 0, len(raw))
	seen := map[string]bool{}
	for i, given := range raw {
		block, problem := parseBlock(given)
		if f := block.Field; f != nil {
			if seen[f.Key] {
				problem = wrong("key", "schema.key_twice", f.Key)
			}
			seen[f.Key] = true
		}
		if problem != nil {
			return nil, problem.at(i + 1)
		}
		s = append(s, block)
	}
	return s, nil
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
