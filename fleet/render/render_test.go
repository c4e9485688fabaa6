package render_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"commander/fleet/render"
)

func input() render.Input {
	return render.Input{
		Variables: map[string]any{"name": "a", "count": 3.0, "list": []any{"x", "y"}},
		Seed:      [32]byte{1},
		Now:       time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, text, want string }{
		{"nothing", " \n", ""},
		{"variables and sprig", "a: {{ .name | upper }}\nb: {{ .count }}", "a: A\nb: 3\n"},
		{"style is one", "a:    {b: 1}\nc:\n    - 1", "a: {b: 1}\nc:\n  - 1\n"},
		{"order and comments are the author's", "z: 1\n# why\na: 2", "z: 1\n# why\na: 2\n"},
		{"spare separators", "---\n---\na: 1\n---\n\n---\nb: 2\n---\n", "a: 1\n---\nb: 2\n"},
		{"an unset parameter is nothing", "a: '{{ .nope }}'", "a: ''\n"},
		{"time stands still", "a: {{ now | date \"2006\" | quote }}", "a: \"2030\"\n"},
	}
	for _, c := range cases {
		got, err := render.Section("s", c.text, input())
		if err != nil || got != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func TestChanceIsSeeded(t *testing.T) {
	t.Parallel()
	const text = `a: {{ randAlphaNum 20 }}-{{ uuidv4 }}-{{ randInt 0 1000000 }}-{{ shuffle "abcdefghij" }}`
	first, err := render.Section("s", text, input())
	if err != nil {
		t.Fatal(err)
	}
	second, _ := render.Section("s", text, input())
	if first != second {
		t.Errorf("the same revision rendered differently: %q and %q", first, second)
	}
	other := input()
	other.Seed[0] = 2
	if third, _ := render.Section("s", text, other); third == first {
		t.Errorf("another revision rendered alike: %q", third)
	}
}

func TestProblemsNameTheLine(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		kind       string
		line       int
	}{
		{"syntax", "a: 1\nb: {{ .x | nope }}", "template", 2},
		{"execution", "a: 1\nb: 2\nc: {{ fail \"stop\" }}", "template", 3},
		{"the environment is closed", "a: {{ env \"HOME\" }}", "template", 1},
		{"keys are not made", "a: {{ genPrivateKey \"rsa\" }}", "template", 1},
		{"broken YAML", "a: 1\nb: [", "yaml", 2},
		{"not a mapping", "- 1", "yaml", 1},
		{"too much", "a: {{ repeat 5000000 \"x\" }}", "template", 1},
	}
	for _, c := range cases {
		_, err := render.Section("s", c.text, input())
		var problem *render.Problem
		if !errors.As(err, &problem) {
			t.Errorf("%s: got %v, want a problem", c.name, err)
			continue
		}
		if problem.Kind != c.kind || problem.Line < c.line-1 || problem.Line > c.line+1 || strings.Contains(problem.Text, "\n") {
			t.Errorf("%s: got %+v, want %s near line %d", c.name, problem, c.kind, c.line)
		}
	}
}
