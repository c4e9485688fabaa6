package gallery_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"commander/views/gallery"
	"commander/views/i18n"
	"commander/views/layout"
)

var update = flag.Bool("update", false, "write the golden pages anew")

func frame() layout.Frame {
	return layout.Frame{Assets: layout.Assets{Style: "/assets/commander.css", Script: "/assets/app.js", Icon: "/assets/favicon.svg"}}
}

// draw renders an exhibit in a language.
func draw(t *testing.T, e gallery.Exhibit, l i18n.Locale) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, e.Page(frame()).Render(gallery.Context(t.Context(), l), &b))
	return b.String()
}

// golden puts each element on a line of its own, so that a difference can be read.
func golden(html string) string {
	return strings.ReplaceAll(html, "><", ">\n<") + "\n"
}

func TestPagesLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for _, e := range gallery.Exhibits() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			got := golden(draw(t, e, i18n.English))
			file := filepath.Join("testdata", e.Name+".html")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			require.Equal(t, string(want), got)
		})
	}
}

func TestPagesKeepTheRulesOfAPage(t *testing.T) {
	t.Parallel()
	for _, e := range gallery.Exhibits() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			page, err := goquery.NewDocumentFromReader(strings.NewReader(draw(t, e, i18n.Russian)))
			require.NoError(t, err)
			require.Zero(t, page.Find("[style], style, script:not([src]), [onclick], [hx-on]").Length(), "nothing inline under the policy")
			require.Equal(t, 1, page.Find("main#main").Length())
			require.LessOrEqual(t, page.Find("[ws-connect]").Length(), 1, "one socket a page")
			require.Zero(t, page.Find("th:not([scope])").Length(), "heads say what they head")
			page.Find("form[method=post]").Each(func(_ int, f *goquery.Selection) {
				require.NotEmpty(t, f.AttrOr("action", ""), "a form works without script")
			})
			page.Find("input:not([type=hidden]), select, textarea").Each(func(_ int, c *goquery.Selection) {
				id := c.AttrOr("id", "")
				named := c.AttrOr("aria-label", "") != "" || c.Closest("label").Length() > 0 || (id != "" && page.Find(`label[for="`+id+`"]`).Length() > 0)
				require.True(t, named, "control %q has a label", c.AttrOr("name", ""))
			})
			page.Find("button, a").Each(func(_ int, b *goquery.Selection) {
				named := strings.TrimSpace(b.Text()) != "" || b.AttrOr("aria-label", "") != ""
				require.True(t, named, "a link or button says what it does: %v", b.Nodes[0].Attr)
			})
			if e.Name == "messages" {
				return
			}
			require.Equal(t, 1, page.Find("h1").Length(), "one title a page")
			seen := map[string]bool{}
			page.Find("[id]").Each(func(_ int, n *goquery.Selection) {
				id := n.AttrOr("id", "")
				require.False(t, seen[id], "id %q is used twice", id)
				seen[id] = true
			})
			page.Find("[aria-describedby]").Each(func(_ int, n *goquery.Selection) {
				for id := range strings.FieldsSeq(n.AttrOr("aria-describedby", "")) {
					require.True(t, seen[id], "%q describes something", id)
				}
			})
		})
	}
}

func TestNothingTypedBecomesMarkup(t *testing.T) {
	t.Parallel()
	for _, e := range gallery.Exhibits() {
		if e.Name == "pieces" {
			html := draw(t, e, i18n.English)
			require.Contains(t, html, "a &lt; b &amp;&amp; c &gt; d")
			require.Contains(t, html, `value="with &#34;quotes&#34; &lt;b&gt;"`)
			return
		}
	}
	t.Fatal("the pieces are not in the gallery")
}
