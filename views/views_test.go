package views_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// catalog reads the texts of a language: a string, or a string for each plural category.
func catalog(t *testing.T, locale string) map[string]any {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("i18n", locale+".json"))
	require.NoError(t, err)
	var texts map[string]any
	require.NoError(t, json.Unmarshal(b, &texts))
	return texts
}

// sources walks all files of the module with an ending, generated ones and tests apart.
func sources(t *testing.T, root, ending string, visit func(path, text string)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "node_modules" || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ending) || strings.HasSuffix(name, "_templ.go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		visit(path, string(b))
		return nil
	}))
}

func TestBothLanguagesSayTheSameThings(t *testing.T) {
	t.Parallel()
	en, ru := catalog(t, "en"), catalog(t, "ru")
	holes := regexp.MustCompile(`\{\d\}`)
	for key, text := range en {
		require.Contains(t, ru, key)
		forms, plural := text.(map[string]any)
		if !plural {
			require.IsType(t, "", ru[key], key)
			require.NotEmpty(t, ru[key], key)
			require.ElementsMatch(t, holes.FindAllString(text.(string), -1), holes.FindAllString(ru[key].(string), -1), "%s has the same arguments", key)
			continue
		}
		russian, ok := ru[key].(map[string]any)
		require.True(t, ok, "%s has plural forms in both languages", key)
		for _, form := range []string{"one", "other"} {
			require.NotEmpty(t, forms[form], "en %s %s", key, form)
		}
		for _, form := range []string{"one", "few", "many", "other"} {
			require.NotEmpty(t, russian[form], "ru %s %s", key, form)
		}
	}
	require.Len(t, ru, len(en))
}

// said finds the keys of texts in Go and templ.
var said = []*regexp.Regexp{
	regexp.MustCompile(`i18n\.(?:T\(ctx, |M\()"([^"]+)"[,)]`),
	regexp.MustCompile(`fault\.(?:New|Wrap)\(fault\.\w+,(?: \w+,)? "([^"]+)"`),
	regexp.MustCompile(`(?:fault|i18n)\.Message\{(?:Key: )?"([^"]+)"[,}]`),
}

func TestEveryKeyHasAText(t *testing.T) {
	t.Parallel()
	texts := catalog(t, "en")
	found := 0
	check := func(path, text string) {
		for _, pattern := range said {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				found++
				if texts[m[1]] == nil {
					t.Errorf("%s says %q, which has no text", path, m[1])
				}
			}
		}
	}
	sources(t, "..", ".go", check)
	sources(t, "..", ".templ", check)
	require.Greater(t, found, 200, "the patterns still find keys")
}

// composed are beginnings of keys whose ends are codes, which no scan can see whole.
var composed = []string{
	"cluster.status.", "did.", "event.", "day.", "notify.kind.", "configuration.status.", "task.status.", "node.status.", "object.status.", "task.kind.", "phase.",
	"step.state.", "failure.", "unit.", "month.", "filter.", "section.", "fault.", "parameter.", "cluster.name.",
	"cluster.next.", "task.next.", "task.note.", "action.", "role.", "keys.", "log.", "access.", "form.", "deletion.", "tokens.problem.",
	"builder.kind.", "builder.property.", "upgrade.outcome.", "switch.status.", "switch.state.", "switch.next.", "render.", "task.failure", "task.lost", "task.cancel", "plain",
}

func TestNoTextIsForgotten(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile(`"([\w.]+)"`)
	used := map[string]bool{}
	collect := func(_, text string) {
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			used[m[1]] = true
		}
	}
	sources(t, "..", ".go", collect)
	sources(t, "..", ".templ", collect)
	for key := range catalog(t, "en") {
		if used[key] || slices.ContainsFunc(composed, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			continue
		}
		t.Errorf("nobody says %q", key)
	}
}

// plainText is a text between two tags of a templ line.
var plainText = regexp.MustCompile(`>([^<>{}]*\p{L}[^<>{}]*)<`)

// spelled are texts that are the same in every language.
var spelled = []string{"C", "Pieces"}

func TestNoTextIsWrittenIntoAPage(t *testing.T) {
	t.Parallel()
	attribute := regexp.MustCompile(`(?:title|placeholder|aria-label|alt)="([^"]+)"`)
	lines := 0
	sources(t, ".", ".templ", func(path, text string) {
		for line := range strings.Lines(text) {
			lines++
			for _, pattern := range []*regexp.Regexp{plainText, attribute} {
				for _, m := range pattern.FindAllStringSubmatch(line, -1) {
					text := strings.TrimSpace(m[1])
					if !strings.HasPrefix(text, "@") && !slices.Contains(spelled, text) {
						t.Errorf("%s says %q", path, text)
					}
				}
			}
		}
	})
	require.Greater(t, lines, 500, "the pages were read")
}
