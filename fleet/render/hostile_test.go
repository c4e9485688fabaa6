package render_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"commander/fleet/render"
)

// TestWhatWouldNeverEndIsCutOffAtItsLine: each of these would run for hours, or take all memory, or
// bring the process down.
func TestWhatWouldNeverEndIsCutOffAtItsLine(t *testing.T) {
	t.Parallel()
	double := strings.Repeat("{{ $x = list $x $x }}\n", 60)
	cases := []struct {
		name, text string
		line       int // 0: any
	}{
		{"a loop of loops", "a: 1\n{{ range until 4000 }}{{ range until 4000 }}{{ range until 4000 }}{{ end }}{{ end }}{{ end }}", 2},
		{"a loop without a body", "a: 1\n\n{{ range 2000000000 }}{{ end }}", 3},
		{"a loop that writes", "{{ range until 200000 }}\n{{ repeat 1000 \"x\" }}{{ end }}", 2},
		{"a loop that only writes text", "\n{{ range 1000000 }}" + strings.Repeat("x", 100) + "{{ end }}", 2},
		{"a template that calls itself", "a: 1\n{{ define \"a\" }}{{ template \"a\" }}{{ end }}\n{{ template \"a\" }}", 0},
		{"templates that call each other twice", func() string {
			var b strings.Builder
			for i := range 60 {
				fmt.Fprintf(&b, "{{ define \"t%d\" }}{{ template \"t%d\" }}{{ template \"t%d\" }}{{ end }}", i, i+1, i+1)
			}
			return b.String() + "{{ define \"t60\" }}{{ end }}{{ template \"t0\" }}"
		}(), 0},
		{"blocks in blocks", strings.Repeat("{{ if 1 }}", 100_000), 1},
		{"else if without end", "{{ if 1 }}" + strings.Repeat("{{ else if 1 }}", 100_000), 1},
		{"brackets in brackets", "a: {{ " + strings.Repeat("(", 100_000) + "1" + strings.Repeat(")", 100_000) + " }}", 1},
		{"a long list", "a: {{ until 1000000000 }}", 1},
		{"a long list in steps", "a: 1\nb: {{ untilStep 0 -2000000000 -1 }}", 2},
		{"a long sequence", "a: {{ seq 1 9000000000 }}", 1},
		{"a long text", "a: {{ repeat 2000000000 \"xxxxxxxx\" }}", 1},
		{"an indentation", "a: {{ indent 2000000000 \"x\" }}", 1},
		{"an indentation of many lines", "a: {{ nindent 100000 (repeat 100000 \"\\n\") }}", 1},
		{"a wide number", "a: {{ printf \"" + strings.Repeat("%999999d", 1000) + "\" }}", 1},
		{"a wide number by argument", "a: {{ printf \"" + strings.Repeat("%*d", 10_000) + "\" 999999 1 }}", 1},
		{"one argument again and again", "a: {{ printf \"" + strings.Repeat("%[1]s", 10_000) + "\" (repeat 100000 \"x\") }}", 1},
		{"a replacement", "a: {{ $a := repeat 3000000 \"x\" }}{{ replace \"x\" $a $a }}", 1},
		{"a replacement of nothing", "a: {{ $a := repeat 3000000 \"x\" }}{{ replace \"\" $a $a }}", 1},
		{"a replacement by pattern", "a: {{ $a := repeat 300000 \"x\" }}{{ regexReplaceAll \"x\" $a $a }}", 1},
		{"a join", "a: {{ join (repeat 1000000 \"x\") (until 100000) }}", 1},
		{"a wrapping", "a: {{ wrapWith 1 (repeat 1000000 \"x\") (repeat 100000 \"y\") }}", 1},
		{"a text that doubles", "{{ $x := \"x\" }}{{ range until 100 }}{{ $x = cat $x $x }}{{ end }}", 1},
		{"a list that doubles, shown", "{{ $x := list 1 }}" + double + "a: {{ $x }}", 61},
		{"a list that doubles, as JSON", "{{ $x := list 1 }}" + double + "a: {{ toJson $x }}", 61},
		{"a list that doubles, printed", "{{ $x := list 1 }}" + double + "a: {{ print $x }}", 61},
		{"a list that doubles, compared", "{{ $x := list 1 }}" + double + "a: {{ deepEqual $x (list 1) }}", 61},
		{"a dictionary in itself, shown", "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}\na: {{ $d }}", 2},
		{"a dictionary in itself, as JSON", "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}\na: {{ toPrettyJson $d }}", 2},
		{"a dictionary in itself, copied", "{{ $d := dict }}{{ $_ := set $d \"d\" $d }}\na: {{ deepCopy $d }}", 2},
		{"a list that grows", "{{ $x := list }}{{ range until 300000 }}{{ $x = append $x 1 }}{{ end }}", 1},
		{"a list without doubles", "{{ uniq (until 1000000) }}", 1},
		{"a pattern that is hard to match", "a: {{ regexMatch \"(x{1,30}){1,30}y\" (repeat 4000000 \"x\") }}", 1},
		{"deep JSON", "a: {{ fromJson (cat (repeat 5000 \"[\") (repeat 5000 \"]\")) | toPrettyJson }}", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := render.Section("s", c.text, input())
			var problem *render.Problem
			if !errors.As(err, &problem) {
				t.Fatalf("got %d bytes and %v, want a problem", len(got), err)
			}
			if problem.Kind != "template" || c.line != 0 && problem.Line != c.line || strings.Contains(problem.Text, "commander_") {
				t.Errorf("got %+v, want a problem of the template at line %d", problem, c.line)
			}
		})
	}
}

// TestHostileYAMLIsRefused: what comes out of a template, or was written without one.
func TestHostileYAMLIsRefused(t *testing.T) {
	t.Parallel()
	laughs := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i <= 'l'; i++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", i-1), 9), ","))
	}
	for name, text := range map[string]string{
		"anchors that explode": laughs,
		"a key twice":          "a: 1\nb: 2\na: 3\n",
		"a key twice, deep":    "a:\n  b: {c: 1, c: 2}\n",
		"a tab":                "a:\n\tb: 1\n",
		"NUL":                  "a: \x00\n",
		"no UTF-8":             "a: \xff\xfe\n",
		"an alias to nothing":  "a: *b\n",
		"an anchor in itself":  "a: &a [*a]\n",
		"brackets in brackets": "a: " + strings.Repeat("[", 50_000),
		"a scalar":             "just text",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var problem *render.Problem
			if got, err := render.Normalise(text); !errors.As(err, &problem) || problem.Kind != "yaml" || problem.Text == "" {
				t.Errorf("got %q and %v, want a problem", got, err)
			}
		})
	}
}

func TestNothingComesFromTheMachine(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"env", "expandenv", "getHostByName", "genPrivateKey", "genCA", "genCAWithKey", "genSelfSignedCert", "genSelfSignedCertWithKey",
		"genSignedCert", "genSignedCertWithKey", "derivePassword", "encryptAES", "htpasswd", "bcrypt", "buildCustomCert",
		"commander_leave", "commander_step", "commander_show",
	} {
		if err := render.Parse("s", "a: {{ "+name+" }}"); err == nil {
			t.Errorf("%s is known", name)
		}
	}
	const text = `a: {{ date "15:04 MST" "nonsense" }}|{{ dateInZone "15:04" now "Local" }}|{{ toDate "2006" "2029" | date "2006 MST" }}|{{ ago now }}|{{ htmlDate 0 }}
b: {{ keys (dict "c" 1 "a" 2 "b" 3) | join "" }}{{ values (dict "c" 1 "a" 2 "b" 3) | join "" }}{{ randBytes 4 | len }}
`
	const want = "a: 03:04 UTC|03:04|2029 UTC|0s|1970-01-01\nb: abc231\n"
	for range 20 {
		got, err := render.Section("s", text, input())
		if err != nil || got[:len(got)-2]+"\n" != want[:len(want)-2]+"\n" && got != strings.Replace(want, "231", "2314", 1) {
			t.Fatalf("got %q, %v", got, err)
		}
	}
}

func TestSectionsShareABudget(t *testing.T) {
	t.Parallel()
	in := input()
	in.Budget = &render.Budget{}
	const text = "a: 1\n{{ range until 100000 }}{{ $x := . }}{{ end }}"
	for range 100 {
		if _, err := render.Section("s", text, in); err != nil {
			if _, err := render.Section("s", text, input()); err != nil {
				t.Fatalf("one alone is no problem: %v", err)
			}
			return
		}
	}
	t.Error("a hundred sections used no more than one may")
}

// FuzzSection looks for templates that bring the process down, or take memory without measure.
func FuzzSection(f *testing.F) {
	for _, text := range []string{
		"a: {{ .name }}", "{{ range $i, $e := .list }}{{ $i }}: {{ $e | quote }}\n{{ else }}x{{ end }}", "{{ with $x := dict \"a\" 1 }}{{ $x.a }}{{ end }}",
		"{{ define \"x\" }}{{ . }}{{ end }}a: {{ template \"x\" .count }}", "{{ if and .a (or .b .c) }}{{ else if .d }}{{ end }}", "{{ range until 3 }}{{ break }}{{ end }}",
		"{{ printf \"%*.*f\" 3 4 .count }}", "{{ (index .list 0) | upper | repeat 3 }}", "{{- /* c */ -}}\na: &a {b: *a}", "{{ block \"b\" . }}{{ end }}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := render.Section("s", text, input())
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<30 {
			t.Errorf("took %d MiB", taken>>20)
		}
		var problem *render.Problem
		if err != nil && !errors.As(err, &problem) {
			t.Errorf("the error is none for people: %v", err)
		}
		if len(got) > 64<<20 {
			t.Errorf("made %d bytes", len(got))
		}
	})
}
