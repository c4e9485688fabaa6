package console

import (
	"maps"
	"slices"
	"strings"

	"commander/fleet/schema"
)

// valueText is a value as people read it in a list: records by what they hold, several values with
// commas between them.
func valueText(value any) string {
	switch v := value.(type) {
	case []any:
		texts := make([]string, len(v))
		for i, one := range v {
			texts[i] = valueText(one)
		}
		return strings.Join(texts, ", ")
	case map[string]any:
		if _, record := v[schema.RecordID]; !record {
			return schema.Text(v)
		}
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if text := schema.Text(v[key]); key != schema.RecordID && text != schema.Mask {
				texts = append(texts, text)
			}
		}
		if len(texts) == 0 {
			return schema.Text(v[schema.RecordID])
		}
		return strings.Join(texts, " · ")
	}
	return schema.Text(value)
}
