package gallery_test

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"commander/views/gallery"
	"commander/views/i18n"
)

// short are the tables that are no lists, and why they need no address of their own.
var short = map[string]string{
	"tasks":    "the newest tasks beside a cluster's facts; its tasks have a list",
	"moves":    "the newest moves below the choice of clusters; all of them have a list",
	"channels": "who is told: a handful in a workspace",
	"groups":   "the groups of one template",
	"switch":   "clusters to choose among, which the form above narrows; what is ticked must stay on the page",
	"upgrade":  "the parameters of one cluster",
	"nodes":    "some of a cluster's nodes; all of them have a list",
}

// TestTablesAreListsOrShort finds each table that is neither searched, sorted and paged by its address
// nor known to be short.
func TestTablesAreListsOrShort(t *testing.T) {
	t.Parallel()
	for _, e := range gallery.Exhibits() {
		page, err := goquery.NewDocumentFromReader(strings.NewReader(draw(t, e, i18n.English)))
		require.NoError(t, err)
		listed := page.Find("#list table, #cluster-list table")
		if listed.Length() > 0 {
			require.Positive(t, page.Find("[data-filter]").Length(), "%s cannot be searched", e.Name)
			require.Positive(t, listed.Find("thead a").Length(), "%s cannot be sorted", e.Name)
		}
		page.Find("main .table table").NotSelection(listed).Each(func(_ int, table *goquery.Selection) {
			kind := table.Closest(".table").AttrOr("data-kind", "")
			require.NotEmpty(t, short[kind], "the table %q of %s is no list", kind, e.Name)
		})
	}
}
