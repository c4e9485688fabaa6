package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// parseCatalog reads the schema of a catalog. It fails with Invalid and what is wrong with it.
func parseCatalog(params []byte) (catalogSchema, error) {
	bare, err := withoutMarks(params)
	if err != nil {
		return catalogSchema{}, badSchema("inventory.schema", err.Error())
	}
	var marks []struct {
		Key        string `json:"key"`
		Catalog    string `json:"catalog"`
		Identifier *bool  `json:"identifier"`
		Unique     bool   `json:"unique"`
	}
	if err := json.Unmarshal(params, &marks); err != nil {
		return catalogSchema{}, badSchema("inventory.schema", err.Error())
	}
	for _, m := range marks {
		if m.Catalog != "" {
			return catalogSchema{}, badSchema("inventory.schema.nested", m.Key)
		}
	}
	parsed, err := schema.Parse(bare)
	if err != nil {
		return catalogSchema{}, badSchema("inventory.schema", err.Error())
	}
	byKey := map[string]*schema.Field{}
	for _, field := range parsed.Fields() {
		byKey[field.Key] = field
	}
	if len(byKey) == 0 {
		return catalogSchema{}, badSchema("inventory.schema.empty")
	}
	// Fields name a record unless others say that they do, and those that say no never do.
	chosen := false
	for _, m := range marks {
		chosen = chosen || m.Identifier != nil && *m.Identifier
	}
	out := catalogSchema{Schema: parsed}
	for _, m := range marks {
		field := byKey[m.Key]
		if field == nil {
			continue // a header
		}
		if m.Unique {
			out.unique = append(out.unique, field)
		}
		named := !chosen
		if m.Identifier != nil {
			named = *m.Identifier
		}
		if named && !field.Secret() {
			out.labels = append(out.labels, field)
		}
	}
	return out, nil
}

// withoutMarks leaves out what only catalogs make something of: which fields name a record, and
// which no two records share. Other schemas may give the same words another meaning.
func withoutMarks(params []byte) ([]byte, error) {
	var blocks []map[string]json.RawMessage
	if err := json.Unmarshal(params, &blocks); err != nil {
		return nil, fmt.Errorf("read the schema: it must be a list of headers and fields: %w", err)
	}
	for _, block := range blocks {
		delete(block, "identifier")
		delete(block, "unique")
	}
	return json.Marshal(blocks)
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
	return plain
}
