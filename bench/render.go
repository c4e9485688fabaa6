package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/template"
	"time"

	"commander/fleet/render"
)

// rounds is how many renderings share one look at the clock: Linux counts CPU time in hundredths of a
// second.
const rounds = 50

// render measures the CPU time, user and system, of rendering a typical template: 15 parameters, 5
// sections, 300 lines. The floor parses and executes the same text with text/template alone: without
// limits, without sprig, and without reading what it made.
func (b *bench) render(ctx context.Context) ([]figure, error) {
	texts, variables := typicalTemplate()
	now := time.Now().Truncate(time.Second)
	var ours, floor samples
	for range b.Samples {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := cpuEach(&ours, func() error {
			in := render.Input{Variables: variables, Now: now, Budget: &render.Budget{}}
			for _, text := range texts {
				if _, err := render.Section("section", text, in); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if err := cpuEach(&floor, func() error { return bareTemplates(texts, variables) }); err != nil {
			return nil, err
		}
	}
	return []figure{{
		what: "CPU time of rendering a template of 15 parameters, 5 sections and 300 lines", samples: ours, unit: milliseconds,
		goal: "≤ 2 ms", beside: ratio(ours, floor, milliseconds, "`text/template` alone"),
	}}, nil
}

// cpuEach adds the CPU time of one call, taken over many.
func cpuEach(into *samples, call func() error) error {
	before, err := cpuOf(os.Getpid())
	if err != nil {
		return err
	}
	for range rounds {
		if err := call(); err != nil {
			return err
		}
	}
	after, err := cpuOf(os.Getpid())
	*into = append(*into, (after-before).Seconds()/rounds)
	return err
}

// typicalTemplate has sections of 60 lines with conditions, a loop and functions.
func typicalTemplate() (texts []string, variables map[string]any) {
	variables = map[string]any{"zones": []any{"a", "b", "c"}}
	for i := range 15 {
		variables[fmt.Sprintf("p%d", i)] = fmt.Sprintf("value %d", i)
	}
	for section := range 5 {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: v1\nkind: Section%d\nspec:\n", section)
		for i := range 15 {
			fmt.Fprintf(&b, "  key%d: {{ printf \"%%q\" .p%d }}\n  other%d: {{ printf \"%%s-%%d\" .p%d %d }}\n", i, i, i, (i+1)%15, i)
		}
		b.WriteString("  zones:\n  {{- range $i, $zone := .zones }}\n    - name: {{ $zone }}\n      index: {{ $i }}\n  {{- end }}\n")
		for i := range 7 {
			fmt.Fprintf(&b, "  {{- if eq .p%d \"value %d\" }}\n  chosen%d: {{ .p%d }}\n  {{- end }}\n", i, i, i, i)
		}
		texts = append(texts, b.String())
	}
	return texts, variables
}

func bareTemplates(texts []string, variables map[string]any) error {
	for _, text := range texts {
		parsed, err := template.New("section").Parse(text)
		if err != nil {
			return err
		}
		var out strings.Builder
		if err := parsed.Execute(&out, variables); err != nil {
			return err
		}
	}
	return nil
}
