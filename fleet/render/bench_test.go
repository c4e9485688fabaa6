package render_test

import (
	"fmt"
	"strings"
	"testing"

	"commander/fleet/render"
)

// typical are five sections of 60 lines each that use 15 parameters, with conditions, loops and
// functions as templates of clusters have them.
func typical() (texts []string, variables map[string]any) {
	variables = map[string]any{}
	for i := range 15 {
		variables[fmt.Sprintf("p%d", i)] = fmt.Sprintf("value %d", i)
	}
	variables["zones"] = []any{"a", "b", "c"}
	for section := range 5 {
		var b strings.Builder
		fmt.Fprintf(&b, "apiVersion: v1\nkind: Section%d\nspec:\n", section)
		for i := range 15 {
			fmt.Fprintf(&b, "  key%d: {{ .p%d | quote }}\n  other%d: {{ printf \"%%s-%%d\" .p%d %d | lower }}\n", i, i, i, (i+1)%15, i)
		}
		b.WriteString("  zones:\n  {{- range $i, $zone := .zones }}\n    - name: {{ $zone }}\n      index: {{ $i }}\n      text: |\n{{ $zone | repeat 3 | indent 8 }}\n  {{- end }}\n")
		for i := range 6 {
			fmt.Fprintf(&b, "  {{- if eq .p%d \"value %d\" }}\n  chosen%d: {{ default \"none\" .p%d | upper | b64enc }}\n  {{- end }}\n", i, i, i, i)
		}
		texts = append(texts, b.String())
	}
	return texts, variables
}

// BenchmarkTypical renders a typical template of 15 parameters, 5 sections and 300 lines.
func BenchmarkTypical(b *testing.B) {
	texts, variables := typical()
	lines := 0
	for _, text := range texts {
		lines += strings.Count(text, "\n")
	}
	b.ReportMetric(float64(lines), "lines")
	for b.Loop() {
		in := input()
		in.Variables, in.Budget = variables, &render.Budget{}
		for _, text := range texts {
			if _, err := render.Section("s", text, in); err != nil {
				b.Fatal(err)
			}
		}
	}
}
