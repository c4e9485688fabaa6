package upgrade_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"commander/fleet/schema"
	"commander/fleet/upgrade"
	"commander/fleet/upgrade/upgradetest"
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
		{
			"a record that was picked", `[{"key": "n", "title": "N", "catalog": "a", "autoselect": true}]`,
			`[{"key": "n", "title": "N", "catalog": "a", "autoselect": true}]`, record, false, upgrade.Kept, record,
		},
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

// triples is how many moves of one parameter are tried.
const triples = 120_000

func TestMergeAgreesWithTheRulesSaidPlainly(t *testing.T) {
	t.Parallel()
	source, err := upgradetest.New(3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[upgrade.Outcome]int{}
	for range triples / upgradetest.Keys {
		c := source.Next()
		before, _ := json.Marshal(c.Input)
		got := upgrade.Merge(c.Input)
		if after, _ := json.Marshal(c.Input); string(before) != string(after) {
			t.Fatalf("the input changed from %s to %s", before, after)
		}
		expected := c.Expected()
		if err := c.Check(got, expected); err != nil {
			t.Fatal(err)
		}
		for _, e := range expected {
			seen[e.Outcome]++
		}
	}
	for _, outcome := range []upgrade.Outcome{upgrade.Kept, upgrade.Followed, upgrade.Added, upgrade.Asked, upgrade.Conflict, upgrade.Removed} {
		if seen[outcome] < triples/200 {
			t.Errorf("only %d of %d moves are %s", seen[outcome], triples, outcome)
		}
	}
}

// A comparison that finds nothing wrong with a wrong merge would prove nothing.
func TestAWrongMergeIsFound(t *testing.T) {
	t.Parallel()
	wrong := map[string]func(*upgrade.Result){
		"a lost value":        func(r *upgrade.Result) { clear(r.Values) },
		"another outcome":     func(r *upgrade.Result) { r.Items[0].Outcome = "other" },
		"a forgotten one":     func(r *upgrade.Result) { r.Items = r.Items[1:] },
		"a value made up":     func(r *upgrade.Result) { r.Values[r.Items[0].Key] = "made up" },
		"all of them dropped": func(r *upgrade.Result) { r.Items, r.Values = nil, map[string]any{} },
	}
	for name, spoil := range wrong {
		source, err := upgradetest.New(4)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for range 200 {
			c := source.Next()
			got := upgrade.Merge(c.Input)
			if len(got.Items) == 0 {
				continue
			}
			spoil(&got)
			found = found || c.Check(got, c.Expected()) != nil
		}
		if !found {
			t.Errorf("%s is not found", name)
		}
	}
}
