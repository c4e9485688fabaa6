package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet/schema"
)

const sample = `[
	{"header": "Nodes"},
	{"key": "count", "type": "number", "title": "Count", "default": 2, "min": 0, "max": 10.5},
	{"key": "name", "type": "string", "title": "Name", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
	{"key": "zone", "type": "string", "title": "Zone", "enum": ["a", "b"], "optional": true},
	{"key": "size", "title": "Size", "select": [{"text": "S", "value": {"cpu": 1}}, {"text": "M", "value": {"cpu": 2}}], "optional": true},
	{"key": "subnet", "type": "string", "title": "Subnet", "immutable": true, "optional": true},
	{"key": "password", "type": "string", "title": "Password", "format": "password", "optional": true, "minLength": 3},
	{"key": "fast", "type": "boolean", "title": "Fast"}
]`

func parse(t *testing.T, body string) schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := parse(t, sample)
	cases := []struct {
		name    string
		values  map[string]any
		saved   map[string]any
		problem map[string]string
		want    map[string]any
	}{
		{"defaults and nothing for optional ones", map[string]any{"name": "abc"}, nil, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false}},
		{"required is missing", nil, nil, map[string]string{"name": "parameter.required"}, nil},
		{"a required text that is empty", map[string]any{"name": ""}, nil, map[string]string{"name": "parameter.required"}, nil},
		{"an optional text that is empty may be short", map[string]any{"name": "abc", "password": ""}, nil, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false}},
		{"too short", map[string]any{"name": "a"}, nil, map[string]string{"name": "parameter.too_short"}, nil},
		{"too long, counted in characters", map[string]any{"name": "абвгд"}, nil, map[string]string{"name": "parameter.too_long"}, nil},
		{"pattern", map[string]any{"name": "AB"}, nil, map[string]string{"name": "parameter.pattern"}, nil},
		{"too large, fractions count", map[string]any{"name": "abc", "count": 10.6}, nil, map[string]string{"count": "parameter.too_large"}, nil},
		{"a text for a number", map[string]any{"name": "abc", "count": "many"}, nil, map[string]string{"count": "parameter.not_a_number"}, nil},
		{"a number for a text", map[string]any{"name": 7.0}, nil, map[string]string{"name": "parameter.not_a_string"}, nil},
		{"not in the enum", map[string]any{"name": "abc", "zone": "c"}, nil, map[string]string{"zone": "parameter.not_in_enum"}, nil},
		{"select takes a value of its list", map[string]any{"name": "abc", "size": map[string]any{"cpu": 2}}, nil, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false, "size": map[string]any{"cpu": 2}}},
		{"select refuses another", map[string]any{"name": "abc", "size": map[string]any{"cpu": 3}}, nil, map[string]string{"size": "parameter.not_a_choice"}, nil},
		{"unknown key", map[string]any{"name": "abc", "nope": 1}, nil, map[string]string{"nope": "parameter.unknown"}, nil},
		{"immutable stays", map[string]any{"name": "abc", "subnet": "y"}, map[string]any{"subnet": "x"}, map[string]string{"subnet": "parameter.immutable"}, nil},
		{"immutable can be filled while empty", map[string]any{"name": "abc", "subnet": "y"}, map[string]any{}, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false, "subnet": "y"}},
		{"mask keeps", map[string]any{"name": "abc", "password": schema.Mask}, map[string]any{"password": "pass"}, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false, "password": "pass"}},
		{"mask without a saved secret is nothing", map[string]any{"name": "abc", "password": schema.Mask}, nil, nil, map[string]any{"count": 2.0, "name": "abc", "fast": false}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			clean, problems := s.Check(c.values, c.saved)
			got := map[string]string{}
			for key, p := range problems {
				got[key] = p.Key
			}
			if c.problem == nil {
				c.problem = map[string]string{}
			}
			if diff := cmp.Diff(c.problem, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if c.want != nil {
				if diff := cmp.Diff(c.want, clean); diff != "" {
					t.Errorf("values (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestSchemasThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, block, says string }{
		{"unknown property", `{"key": "a", "type": "string", "title": "A", "wide": 1}`, "schema.unknown [1 wide]"},
		{"key that templates cannot use", `{"key": "a-b", "type": "string", "title": "A"}`, "schema.key [1 a-b]"},
		{"no title", `{"key": "a", "type": "string"}`, "schema.title "},
		{"unknown type", `{"key": "a", "type": "list", "title": "A"}`, "schema.type "},
		{"span", `{"key": "a", "type": "string", "title": "A", "span": 5}`, "schema.span "},
		{"pattern", `{"key": "a", "type": "string", "title": "A", "pattern": "("}`, "schema.pattern "},
		{"format", `{"key": "a", "type": "string", "title": "A", "format": "colour"}`, "schema.format [1 a colour]"},
		{"default against the rules", `{"key": "a", "type": "number", "title": "A", "min": 3, "default": 1}`, "schema.default "},
		{"header with more", `{"header": "H", "key": "a"}`, "schema.header_alone "},
		{"twice", `{"key": "a", "type": "string", "title": "A"}, {"key": "a", "type": "string", "title": "B"}`, "schema.key_twice [2 a]"},
	}
	for _, c := range cases {
		_, err := schema.Parse([]byte("[" + c.block + "]"))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.says)
		}
	}
}

func TestFormAndBack(t *testing.T) {
	t.Parallel()
	s := parse(t, sample)
	typed := map[string]string{"count": " 1,5 ", "name": "abc", "size": "1", "fast": "on", "password": "pass"}
	values := s.FromForm(func(key string) (string, bool) { text, given := typed[key]; return text, given }, func(string) bool { return true })
	want := map[string]any{"count": 1.5, "name": "abc", "size": map[string]any{"cpu": 2.0}, "fast": true, "password": "pass"}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	shown := map[string]string{}
	for _, f := range s.Fields() {
		shown[f.Key] = f.Typed(values[f.Key])
	}
	if shown["password"] != schema.Mask || shown["size"] != "1" || shown["count"] != "1.5" {
		t.Errorf("got %v", shown)
	}
	off := s.FromForm(func(string) (string, bool) { return "", false }, func(key string) bool { return key == "fast" })
	if diff := cmp.Diff(map[string]any{"fast": false}, off); diff != "" {
		t.Errorf("a checkbox that is off (-want +got):\n%s", diff)
	}
}

func TestSchemaSurvivesJSON(t *testing.T) {
	t.Parallel()
	first := parse(t, sample)
	body, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(parse(t, string(body)))
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != string(second) {
		t.Errorf("got %s, want %s", second, body)
	}
}
