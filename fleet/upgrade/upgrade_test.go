package upgrade_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet/schema"
	"commander/fleet/upgrade"
)

func parse(t testing.TB, body string) schema.Schema {
	t.Helper()
	s, err := schema.Parse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMoveToAnotherVersion(t *testing.T) {
	t.Parallel()
	number := func(more string) string { return `[{"key": "n", "title": "N", "type": "number"` + more + `}]` }
	text := func(more string) string { return `[{"key": "n", "title": "N", "type": "string"` + more + `}]` }
	record := map[string]any{schema.RecordID: "1"}
	cases := []struct {
		name     string
		old, new string
		value    any
		given    bool
		outcome  upgrade.Outcome
		saved    any // nil when nothing is saved
	}{
		{"somebody set it", number(`, "default": 2`), number(`, "default": 3`), 7.0, true, upgrade.Kept, 7.0},
		{"somebody set what is the default now", number(`, "default": 2`), number(`, "default": 7`), 7.0, true, upgrade.Kept, 7.0},
		{"it was only the default", number(`, "default": 2`), number(`, "default": 3`), 2.0, false, upgrade.Followed, nil},
		{"the default stays", number(`, "default": 2`), number(`, "default": 2`), 2.0, false, upgrade.Kept, nil},
		{"the default is gone", number(`, "default": 2`), number(``), 2.0, false, upgrade.Asked, nil},
		{"the default is gone, but it need not be", number(`, "default": 2`), number(`, "optional": true`), 2.0, false, upgrade.Followed, nil},
		{"a default that cannot change any more", number(`, "default": 2`), number(`, "default": 3, "immutable": true`), 2.0, false, upgrade.Kept, 2.0},
		{"new and required", `[]`, number(``), nil, false, upgrade.Asked, nil},
		{"new with a default", `[]`, number(`, "default": 1`), nil, false, upgrade.Added, nil},
		{"empty so far and required now", number(`, "optional": true`), number(``), nil, false, upgrade.Asked, nil},
		{"not valid any more", number(``), number(`, "max": 5`), 7.0, true, upgrade.Conflict, 7.0},
		{"of another type", number(``), text(``), 7.0, true, upgrade.Conflict, 7.0},
		{"removed", number(``), `[]`, 7.0, true, upgrade.Removed, nil},
		{"a list now", text(``), text(`, "minItems": 1, "maxItems": 2`), "x", true, upgrade.Conflict, "x"},
		{"a secret that would be readable", text(`, "format": "password"`), text(``), "x", true, upgrade.Conflict, nil},
		{"a text that becomes a secret", text(``), text(`, "format": "password"`), "x", true, upgrade.Kept, "x"},
		{"a record that was picked", `[{"key": "n", "title": "N", "catalog": "a", "autoselect": true}]`,
			`[{"key": "n", "title": "N", "catalog": "a", "autoselect": true}]`, record, false, upgrade.Kept, record},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := upgrade.Input{Old: parse(t, c.old), New: parse(t, c.new), Values: map[string]any{}}
			if c.value != nil {
				in.Values["n"] = c.value
			}
			if c.given {
				in.Given = []string{"n"}
			}
			got := upgrade.Merge(in)
			if len(got.Items) != 1 || got.Items[0].Outcome != c.outcome {
				t.Fatalf("got %+v, want %s", got.Items, c.outcome)
			}
			if diff := cmp.Diff(c.saved, got.Values["n"]); diff != "" {
				t.Errorf("saved (-want +got):\n%s", diff)
			}
			if kept := slices.Contains(got.Given, "n"); kept != (c.given && c.saved != nil) {
				t.Errorf("given: got %v", kept)
			}
		})
	}
}

func TestTheListShowsNoSecrets(t *testing.T) {
	t.Parallel()
	secret := `{"key": "n", "title": "N", "type": "string", "format": "password", "optional": true%s}`
	for _, next := range []string{"[" + fmt.Sprintf(secret, "") + "]", "[" + fmt.Sprintf(secret, `, "minLength": 20`) + "]", `[{"key": "n", "title": "N", "type": "number"}]`, "[]"} {
		got := upgrade.Merge(upgrade.Input{
			Old: parse(t, "["+fmt.Sprintf(secret, "")+"]"), New: parse(t, next), Values: map[string]any{"n": "hunter2"}, Given: []string{"n"},
		})
		for _, item := range got.Items {
			if item.Old == "hunter2" || item.New == "hunter2" {
				t.Errorf("to %s: got %+v", next, item)
			}
		}
	}
}

// variants are what a parameter may be in a version; nil is none. The oracle knows each by its number.
var variants = []string{
	``,
	`"type": "number"`,
	`"type": "number", "default": 1`,
	`"type": "number", "default": 2`,
	`"type": "number", "optional": true`,
	`"type": "number", "max": 2`,
	`"type": "number", "default": 2, "max": 2`,
	`"type": "number", "default": 2, "immutable": true`,
	`"type": "boolean"`,
	`"type": "boolean", "default": true`,
	`"type": "string", "default": "a"`,
	`"type": "string", "enum": ["a", "b"]`,
	`"type": "string", "format": "password", "optional": true`,
	`"type": "number", "minItems": 0, "maxItems": 2, "default": [1]`,
	`"type": "string", "optional": true`,
}

// choices are values that somebody may have set for each variant.
var choices = [][]any{
	nil, {1.0, 2.0, 5.0}, {1.0, 5.0}, {2.0, 5.0}, {1.0, 9.0}, {1.0, 2.0}, {1.0, 2.0}, {2.0, 3.0}, {true, false}, {true, false},
	{"a", "b"}, {"a", "b"}, {"secret", "a"}, {[]any{1.0}, []any{3.0, 4.0}}, {"a", "b"},
}

// oracle says the outcome and what the cluster has afterwards, from the words of the rules alone.
func oracle(from, to int, value any, given bool) (upgrade.Outcome, any) {
	kind := func(n int) string {
		return []string{"", "n", "n", "n", "n", "n", "n", "n", "b", "b", "s", "s", "s", "l", "s"}[n]
	}
	standard := []any{nil, nil, 1.0, 2.0, nil, nil, 2.0, 2.0, false, true, "a", nil, nil, []any{1.0}, nil}[to]
	optional := to == 4 || to == 12 || to == 14
	nobody := func(outcome upgrade.Outcome) (upgrade.Outcome, any) {
		if standard == nil && !optional {
			return upgrade.Asked, nil
		}
		return outcome, standard
	}
	if to == 0 {
		if value == nil {
			return "", nil
		}
		return upgrade.Removed, nil
	}
	if value == nil {
		if from > 0 && optional {
			return upgrade.Kept, nil
		}
		return nobody(upgrade.Added)
	}
	if !given && to != 7 {
		if reflect.DeepEqual(standard, value) {
			return upgrade.Kept, value
		}
		return nobody(upgrade.Followed)
	}
	if from == 12 && to != 12 {
		return upgrade.Conflict, nil // a secret never becomes readable
	}
	fits := kind(from) == kind(to)
	if number, is := value.(float64); is && (to == 5 || to == 6) {
		fits = fits && number <= 2
	}
	if word, is := value.(string); is && to == 11 {
		fits = fits && (word == "a" || word == "b")
	}
	if fits {
		return upgrade.Kept, value
	}
	return upgrade.Conflict, value
}

// triples is how many moves of one parameter are tried.
const triples = 120_000

func TestMergeAgreesWithTheRulesSaidPlainly(t *testing.T) {
	t.Parallel()
	const keys = 6
	random := rand.New(rand.NewPCG(3, 2026))
	fields := make([][]*schema.Field, keys) // by key and variant
	for k := range fields {
		fields[k] = make([]*schema.Field, len(variants))
		for v := 1; v < len(variants); v++ {
			fields[k][v] = parse(t, fmt.Sprintf(`[{"key": "p%d", "title": "P", %s}]`, k, variants[v]))[0].Field
		}
	}
	seen := map[upgrade.Outcome]int{}
	for range triples / keys {
		in := upgrade.Input{Values: map[string]any{}}
		var from, to [keys]int
		given := map[int]bool{}
		for k := range keys {
			from[k], to[k] = random.IntN(len(variants)), random.IntN(len(variants))
			key := fmt.Sprintf("p%d", k)
			if v := from[k]; v > 0 {
				in.Old = append(in.Old, schema.Block{Field: fields[k][v]})
				value, _ := fields[k][v].Absent()
				if random.IntN(2) == 0 {
					value, given[k] = choices[v][random.IntN(len(choices[v]))], true
					in.Given = append(in.Given, key)
				}
				if value != nil {
					in.Values[key] = value
				}
			}
			if to[k] > 0 {
				in.New = append(in.New, schema.Block{Field: fields[k][to[k]]})
			}
		}
		before, _ := json.Marshal(in)
		got := upgrade.Merge(in)
		if after, _ := json.Marshal(in); string(before) != string(after) {
			t.Fatalf("the input changed from %s to %s", before, after)
		}
		effective := map[string]any{}
		for _, f := range in.New.Fields() {
			value, has := got.Values[f.Key]
			if !has {
				value, _ = f.Absent()
			}
			effective[f.Key] = value
		}
		items := map[string]upgrade.Item{}
		for _, item := range got.Items {
			items[item.Key] = item
		}
		for k := range keys {
			key := fmt.Sprintf("p%d", k)
			outcome, value := oracle(from[k], to[k], in.Values[key], given[k])
			seen[outcome]++
			if items[key].Outcome != outcome {
				t.Fatalf("%s from %q to %q with %v (given %v): got %s, want %s", key, variants[from[k]], variants[to[k]], in.Values[key], given[k], items[key].Outcome, outcome)
			}
			if saved, has := got.Values[key]; outcome == upgrade.Conflict && value == nil && has {
				t.Fatalf("%s from %q to %q with %v: %v is carried over", key, variants[from[k]], variants[to[k]], in.Values[key], saved)
			}
			if outcome != upgrade.Asked && to[k] > 0 && (outcome != upgrade.Conflict || value != nil) && !reflect.DeepEqual(effective[key], value) {
				t.Fatalf("%s from %q to %q with %v (given %v): got value %v, want %v", key, variants[from[k]], variants[to[k]], in.Values[key], given[k], effective[key], value)
			}
		}
		_, problems := in.New.Check(got.Values, in.Values)
		for _, item := range got.Items {
			switch problem := problems[item.Key].Key; item.Outcome {
			case upgrade.Removed, upgrade.Conflict:
			case upgrade.Asked:
				if problem != "parameter.required" {
					t.Fatalf("%s is asked for, and a save says %q", item.Key, problem)
				}
			default:
				if problem != "" {
					t.Fatalf("%s is %s, and a save says %q", item.Key, item.Outcome, problem)
				}
			}
		}
	}
	for _, outcome := range []upgrade.Outcome{upgrade.Kept, upgrade.Followed, upgrade.Added, upgrade.Asked, upgrade.Conflict, upgrade.Removed} {
		if seen[outcome] < triples/200 {
			t.Errorf("only %d of %d moves are %s", seen[outcome], triples, outcome)
		}
	}
}
