package schema_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet/schema"
)

const lists = `[
	{"key": "zones", "type": "string", "title": "Zones", "enum": ["a", "b", "c"], "minItems": 1, "maxItems": 2},
	{"key": "ports", "type": "number", "title": "Ports", "minItems": 0, "maxItems": 3, "min": 1, "optional": true},
	{"key": "sizes", "title": "Sizes", "select": [{"text": "S", "value": {"cpu": 1}}, {"text": "M", "value": {"cpu": 2}}], "minItems": 0, "maxItems": 2, "optional": true},
	{"key": "host", "title": "Host", "catalog": "hosts", "optional": true, "immutable": true},
	{"key": "hosts", "title": "Hosts", "catalog": "hosts", "minItems": 0, "maxItems": 2, "optional": true},
	{"key": "picked", "title": "Picked", "catalog": "hosts", "autoselect": true},
	{"key": "tokens", "type": "string", "format": "password", "title": "Tokens", "minItems": 0, "maxItems": 3, "optional": true}
]`

func ref(id string, more ...string) map[string]any {
	out := map[string]any{schema.RecordID: id}
	for _, key := range more {
		out[key] = key
	}
	return out
}

func TestListsAndRecordsAreChecked(t *testing.T) {
	t.Parallel()
	s := parse(t, lists)
	ok := []any{"a"}
	cases := []struct {
		name          string
		values, saved map[string]any
		field, key    string
	}{
		{"a list", map[string]any{"zones": []any{"a", "c"}}, nil, "zones", ""},
		{"one value where a list is", map[string]any{"zones": "a"}, nil, "zones", "parameter.not_a_list"},
		{"none chosen", map[string]any{"zones": []any{}}, nil, "zones", "parameter.required"},
		{"too many", map[string]any{"zones": []any{"a", "b", "c"}}, nil, "zones", "parameter.too_many"},
		{"the same twice", map[string]any{"zones": []any{"a", "a"}}, nil, "zones", "parameter.twice"},
		{"not allowed", map[string]any{"zones": []any{"x"}}, nil, "zones", "parameter.not_in_enum"},
		{"rules hold for each", map[string]any{"zones": ok, "ports": []any{2.0, 0.0}}, nil, "ports", "parameter.too_small"},
		{"the same number twice is two lines", map[string]any{"zones": ok, "ports": []any{2.0, 2.0}}, nil, "ports", ""},
		{"choices of a select", map[string]any{"zones": ok, "sizes": []any{map[string]any{"cpu": 2.0}}}, nil, "sizes", ""},
		{"no record", map[string]any{"zones": ok, "host": "x"}, nil, "host", "parameter.not_a_record"},
		{"a record", map[string]any{"zones": ok, "host": ref("1")}, nil, "host", ""},
		{"the same record, changed meanwhile", map[string]any{"zones": ok, "host": ref("1", "new")}, map[string]any{"host": ref("1")}, "host", ""},
		{"another record of an immutable field", map[string]any{"zones": ok, "host": ref("2")}, map[string]any{"host": ref("1")}, "host", "parameter.immutable"},
		{"the same record in two fields", map[string]any{"zones": ok, "host": ref("1"), "hosts": []any{ref("1")}}, nil, "hosts", ""},
		{"the same record twice in one", map[string]any{"zones": ok, "hosts": []any{ref("1"), ref("1", "new")}}, nil, "hosts", "parameter.twice"},
	}
	for _, c := range cases {
		_, problems := s.Check(c.values, c.saved)
		if got := problems[c.field].Key; got != c.key {
			t.Errorf("%s: got %q, want %q", c.name, got, c.key)
		}
	}
}

func TestSecretsInAListStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	s := parse(t, lists)
	saved := map[string]any{"zones": []any{"a"}, "tokens": []any{"one", "two"}}
	shown := s.Masked(saved)
	if diff := cmp.Diff([]any{schema.Mask, schema.Mask}, shown["tokens"]); diff != "" {
		t.Fatalf("shown (-want +got):\n%s", diff)
	}
	clean, problems := s.Check(map[string]any{"zones": []any{"a"}, "tokens": []any{schema.Mask, "new"}}, saved)
	if diff := cmp.Diff([]any{"one", "new"}, clean["tokens"]); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, values (-want +got):\n%s", problems, diff)
	}
}

func TestListsInAForm(t *testing.T) {
	t.Parallel()
	s := parse(t, lists)
	values := map[string]any{
		"zones": []any{"a", "b"}, "ports": []any{80.0, 1.5}, "sizes": []any{map[string]any{"cpu": 2.0}}, "host": ref("1"), "hosts": []any{ref("2"), ref("3")},
	}
	typed := map[string]string{}
	for _, f := range s.Fields() {
		if value, has := values[f.Key]; has {
			typed[f.Key] = f.Typed(value)
		}
	}
	want := map[string]string{"zones": "a\nb", "ports": "80\n1.5", "sizes": "1", "host": "1", "hosts": "2\n3"}
	if diff := cmp.Diff(want, typed); diff != "" {
		t.Errorf("typed (-want +got):\n%s", diff)
	}
	got := s.FromForm(func(key string) (string, bool) { text, given := typed[key]; return text, given }, func(key string) bool { return key == "tokens" })
	values["tokens"] = []any{}
	if diff := cmp.Diff(values, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestPropertiesThatDoNotFitTogether(t *testing.T) {
	t.Parallel()
	cases := []struct{ block, says string }{
		{`"type": "string", "minItems": 1`, "schema.both_items "},
		{`"type": "string", "maxItems": 1`, "schema.both_items "},
		{`"type": "string", "minItems": 3, "maxItems": 2`, "schema.max_items [1 a 3 "},
		{`"type": "string", "minItems": 0, "maxItems": 0`, "schema.max_items [1 a 1 "},
		{`"type": "string", "catalog": "hosts"`, "schema.excludes [1 a catalog type]"},
		{`"catalog": "No Slug"`, "schema.catalog "},
		{`"catalog": "hosts", "default": {"x-commander-record-id": "1"}`, "schema.excludes [1 a catalog default]"},
		{`"type": "string", "autoselect": true`, "schema.autoselect "},
		{`"type": "number", "enum": ["x"]`, "schema.enum "},
		{`"type": "string", "enum": ["x", "x"]`, "schema.enum_twice "},
		{`"type": "number", "minLength": 1`, "schema.only_strings [1 a minLength]"},
		{`"type": "number", "multiline": true`, "schema.only_strings [1 a multiline]"},
		{`"type": "string", "multiline": true, "enum": ["x"]`, "schema.excludes [1 a enum multiline]"},
		{`"type": "string", "multiline": true, "minItems": 1, "maxItems": 2`, "schema.excludes [1 a minItems multiline]"},
		{`"type": "string", "min": 1`, "schema.only_numbers [1 a min]"},
		{`"type": "number", "min": 2, "max": 1`, "schema.crossed "},
		{`"type": "string", "minItems": 1, "maxItems": 2, "default": "x"`, "schema.default "},
		{`"type": "string", "enum": ["x"], "minItems": 1, "maxItems": 2, "default": ["y"]`, "schema.default "},
	}
	for _, c := range cases {
		_, err := schema.Parse([]byte(`[{"key": "a", "title": "A", ` + c.block + `}]`))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q in it", c.block, err, c.says)
		}
	}
}
