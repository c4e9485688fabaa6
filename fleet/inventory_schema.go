package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// catalogSchema is the schema of a catalog with what only catalogs make of it.
type catalogSchema struct {
	schema.Schema
	// labels are the fields of the line that names a record, unique those that no two records share.
	labels, unique []*schema.Field
}

// ParamsField is the key under which problems with a schema are told.
const ParamsField = "params"

func badSchema(key string, args ...any) *fault.Error {
	return fault.Fields(map[string]fault.Message{ParamsField: {Key: key, Args: args}})
}

// parseCatalog reads the stored schema of a catalog. It fails with Invalid and what is wrong with it.
func parseCatalog(params []byte) (catalogSchema, error) {
	parsed, err := schema.Parse(params)
	if err != nil {
		var bad *schema.BlockError
		if errors.As(err, &bad) {
			return catalogSchema{}, badSchema(bad.Message.Key, bad.Message.Args...)
		}
		return catalogSchema{}, badSchema("schema.yaml", 0, err.Error())
	}
	return newCatalogSchema(parsed)
}

// readCatalog reads the schema of a catalog as people write it, in YAML or JSON, and gives both
// forms in which it is stored. It fails with Invalid and what is wrong with it.
func readCatalog(text string) (described catalogSchema, asText string, asJSON json.RawMessage, err error) {
	text = oneLineEnd(text)
	parsed, asJSON, err := schema.JSON(text)
	var bad *schema.TextError
	switch {
	case errors.As(err, &bad):
		return described, text, nil, badSchema(bad.Message.Key, bad.Message.Args...)
	case err != nil:
		return described, text, nil, badSchema("schema.yaml", 0, err.Error())
	}
	if json.Valid([]byte(text)) {
		text = storedText(asJSON)
	}
	described, err = newCatalogSchema(parsed)
	return described, text, asJSON, err
}

func newCatalogSchema(parsed schema.Schema) (catalogSchema, error) {
	fields := parsed.Fields()
	if len(fields) == 0 {
		return catalogSchema{}, badSchema("inventory.schema.empty")
	}
	// Fields name a record unless others say that they do, and those that say no never do.
	chosen := slices.ContainsFunc(fields, func(f *schema.Field) bool { return f.Identifier != nil && *f.Identifier })
	out := catalogSchema{Schema: parsed}
	for _, f := range fields {
		if f.Catalog != "" {
			return catalogSchema{}, badSchema("inventory.schema.nested", f.Key)
		}
		if f.Unique {
			out.unique = append(out.unique, f)
		}
		named := !chosen && !f.Multiline // a line cannot hold it
		if f.Identifier != nil {
			named = *f.Identifier
		}
		if named && !f.Secret() {
			out.labels = append(out.labels, f)
		}
	}
	return out, nil
}

// labelSeparator stands between the values of a label, longestLabel bounds it in characters.
const (
	labelSeparator = " · "
	longestLabel   = 200
)

// label is the line that names a record. Secrets are never in it.
func (s catalogSchema) label(values store.Values) string {
	var parts []string
	for _, field := range s.labels {
		text := strings.TrimSpace(readable(field, values[field.Key]))
		if text != "" {
			parts = append(parts, strings.Join(strings.Fields(text), " "))
		}
	}
	line := []rune(strings.Join(parts, labelSeparator))
	if len(line) > longestLabel {
		line = append(line[:longestLabel-1], '…')
	}
	return string(line)
}

// labelOf is the label of a record, the beginning of its id when its values give none.
func (s catalogSchema) labelOf(id uuid.UUID, values store.Values) string {
	if line := s.label(values); line != "" {
		return line
	}
	return id.String()[:8]
}

// readable is a value in the words of its field.
func readable(field *schema.Field, value any) string {
	for _, choice := range field.Select {
		if sameValue(choice.Value, value) {
			return choice.Text
		}
	}
	if several, is := value.([]any); is && field.List() {
		texts := make([]string, len(several))
		for i, one := range several {
			texts[i] = readable(field, one)
		}
		return strings.Join(texts, ", ")
	}
	return schema.Text(value)
}

func sameValue(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// uniqueValues are the values that no other record of the catalog may have, by key, as JSON.
func (s catalogSchema) uniqueValues(values store.Values) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, field := range s.unique {
		value, has := values[field.Key]
		if !has || value == nil || value == "" {
			continue
		}
		body, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("compare the values of %s: %w", field.Key, err)
		}
		out[field.Key] = body
	}
	return out, nil
}

// split parts a record's values for their columns. A value that the schema does not know is sealed:
// it may have been a secret.
func (s catalogSchema) split(values store.Values) (plain, secret store.Values) {
	plain, secret = store.Values{}, store.Values{}
	open := map[string]bool{}
	for _, field := range s.Fields() {
		open[field.Key] = !field.Secret()
	}
	for key, value := range values {
		if open[key] {
			plain[key] = value
		} else {
			secret[key] = value
		}
	}
	return plain, secret
}

// masked is what people see of a record's values.
func (s catalogSchema) masked(values store.Values) store.Values {
	plain, secret := s.split(values)
	for key := range secret {
		plain[key] = schema.Mask
	}
	for _, field := range s.Fields() {
		if value, has := secret[field.Key]; has {
			plain[field.Key] = field.Shown(value)
		}
	}
	return plain
}
