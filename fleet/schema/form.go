package schema

import (
	"strconv"
	"strings"
)

// FromForm turns what a person typed into values. typed gives the text of a control by the key of
// its field; a text that is no number stays a text, so that Check can say what is wrong with it.
// A list has one value a line. A checkbox that is off and a list without a choice send nothing, and
// neither does a control that is not in the form: on tells them apart.
func (s Schema) FromForm(typed func(key string) (text string, given bool), on func(key string) bool) map[string]any {
	values := map[string]any{}
	for _, f := range s.Fields() {
		text, given := typed(f.Key)
		if !given {
			switch {
			case f.List() && on(f.Key):
				values[f.Key] = []any{}
			case f.Type == Boolean && !f.List() && on(f.Key):
				values[f.Key] = false
			}
			continue
		}
		values[f.Key] = f.fromText(text)
	}
	return values
}

func (f *Field) fromText(text string) any {
	if !f.List() {
		return f.oneFromText(text)
	}
	values := []any{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			values = append(values, f.oneFromText(line))
		}
	}
	return values
}

func (f *Field) oneFromText(text string) any {
	if f.Catalog != "" {
		if text = strings.TrimSpace(text); text == "" {
			return nil
		}
		return map[string]any{RecordID: text}
	}
	if len(f.Select) > 0 {
		if i, err := strconv.Atoi(text); err == nil && i >= 0 && i < len(f.Select) {
			return f.Select[i].Value
		}
		return text
	}
	switch f.Type {
	case Number:
		trimmed := strings.ReplaceAll(strings.TrimSpace(text), ",", ".")
		if number, err := strconv.ParseFloat(trimmed, 64); err == nil {
			return number
		}
	case Boolean:
		if text == "" {
			return nil
		}
		return text == "true" || text == "on"
	}
	return text
}

// Typed is how a value looks in the form: what a person would have typed to give it.
func (f *Field) Typed(value any) string {
	list, isList := value.([]any)
	if !isList || !f.List() {
		return f.typedOne(value)
	}
	lines := make([]string, len(list))
	for i, one := range list {
		lines[i] = f.typedOne(one)
	}
	return strings.Join(lines, "\n")
}

func (f *Field) typedOne(value any) string {
	if value == nil {
		return ""
	}
	if id, is := recordID(value); is && f.Catalog != "" {
		return id
	}
	for i, c := range f.Select {
		if same(c.Value, value) {
			return strconv.Itoa(i)
		}
	}
	if f.Secret() && !empty(value) {
		return Mask
	}
	return Text(value)
}

// Masked returns the values with every secret that is set replaced by Mask.
func (s Schema) Masked(values map[string]any) map[string]any {
	masked := make(map[string]any, len(values))
	for key, value := range values {
		masked[key] = value
	}
	for _, f := range s.Fields() {
		if f.Secret() && !empty(masked[f.Key]) {
			masked[f.Key] = f.shown(masked[f.Key])
		}
	}
	return masked
}

// Defaults are the values that a fresh form shows.
func (s Schema) Defaults() map[string]any {
	values := map[string]any{}
	for _, f := range s.Fields() {
		if f.Default != nil {
			values[f.Key] = f.Default
		}
	}
	return values
}
