package ui_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"commander/views/ui"
)

// texts gives both texts back from their rows.
func texts(rows []ui.SideRow) (before, after string) {
	var a, b strings.Builder
	for _, r := range rows {
		if r.Left.Number > 0 {
			a.WriteString(r.Left.Text + "\n")
		}
		if r.Right.Number > 0 {
			b.WriteString(r.Right.Text + "\n")
		}
	}
	return a.String(), b.String()
}

func TestSidesLoseNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		text := func() string {
			var b strings.Builder
			for range random.IntN(12) {
				fmt.Fprintf(&b, "%c\n", 'a'+random.IntN(4))
			}
			return b.String()
		}
		before, after := text(), text()
		rows, cut := ui.Sides(before, after, false)
		require.False(t, cut)
		a, b := texts(rows)
		require.Equal(t, before, a)
		require.Equal(t, after, b)
		for _, r := range rows {
			require.Equal(t, r.Changed, r.Left.Number == 0 || r.Right.Number == 0 || r.Left.Text != r.Right.Text, "%q and %q: %+v", before, after, r)
		}
	}
}

func TestSidesPairWhatWasReplaced(t *testing.T) {
	t.Parallel()
	rows, _ := ui.Sides("a\nb\nc\n", "a\nx\nc\nd\n", true)
	require.Equal(t, []ui.SideRow{
		{Left: ui.SideCell{Number: 1, Text: "a"}, Right: ui.SideCell{Number: 1, Text: "a"}},
		{Left: ui.SideCell{Number: 2, Text: "b"}, Right: ui.SideCell{Number: 2, Text: "x"}, Changed: true},
		{Left: ui.SideCell{Number: 3, Text: "c"}, Right: ui.SideCell{Number: 3, Text: "c"}},
		{Right: ui.SideCell{Number: 4, Text: "d"}, Changed: true},
	}, rows)
	rows, _ = ui.Sides(strings.Repeat("a\n", 40), strings.Repeat("a\n", 20)+"new\n"+strings.Repeat("a\n", 20), true)
	require.Len(t, rows, 9, "a gap, three lines, the new one, three lines, a gap")
	require.Equal(t, 17, rows[0].Gap)
	rows, _ = ui.Sides("a\n", "a\n", true)
	require.Empty(t, rows)
}

func TestSidesOfHugeTextsFindTheChange(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&before, "key%d: value\n", i)
		if i%1000 == 0 {
			fmt.Fprintf(&after, "key%d: another\nnew%d: line\n", i, i)
			continue
		}
		fmt.Fprintf(&after, "key%d: value\n", i)
	}
	rows, cut := ui.Sides(before.String(), after.String(), true)
	require.False(t, cut)
	changed := 0
	for _, r := range rows {
		if r.Changed {
			changed++
		}
	}
	require.Equal(t, 60, changed)
	_, cut = ui.Sides(before.String(), after.String(), false)
	require.True(t, cut, "more than a page can show")
}
