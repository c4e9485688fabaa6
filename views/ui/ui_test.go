package ui_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"commander/views/i18n"
	"commander/views/ui"
)

// marks writes a comparison as one line per line, mark first.
func marks(lines []ui.DiffLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(string(l.Mark) + l.Text + "\n")
	}
	return b.String()
}

func TestCompareShowsWhatDiffersAndALittleAround(t *testing.T) {
	t.Parallel()
	require.Empty(t, ui.Compare("a\nb\n", "a\nb\n"))
	require.Equal(t, "+a\n", marks(ui.Compare("", "a\n")))
	require.Equal(t, "-a\n", marks(ui.Compare("a\n", "")))
	require.Equal(t, " a\n-b\n+x\n c\n", marks(ui.Compare("a\nb\nc\n", "a\nx\nc\n")))
	require.Equal(t, "…\n c\n d\n e\n-f\n+F\n g\n h\n i\n…\n",
		marks(ui.Compare("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", "a\nb\nc\nd\ne\nF\ng\nh\ni\nj\n")))
	require.Equal(t, " one\n+two\n three\n", marks(ui.Compare("one\nthree", "one\ntwo\nthree")))
}

func TestCompareOfHugeTextsSaysAllReplaced(t *testing.T) {
	t.Parallel()
	lines := ui.Compare(strings.Repeat("a\n", 1500), strings.Repeat("b\n", 3))
	require.Len(t, lines, 1503)
	require.Equal(t, '-', lines[0].Mark)
	require.Equal(t, '+', lines[1502].Mark)
}

func TestAnAgentsDotAgesInThreeSteps(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]ui.Tone{
		4 * time.Second:  ui.Good,
		6 * time.Minute:  ui.Warn,
		41 * time.Minute: ui.Bad,
	} {
		require.Equal(t, want, ui.AgentSeen(now.Add(-age), now).Tone)
	}
	require.Equal(t, ui.Neutral, ui.AgentSeen(time.Time{}, now).Tone)
}

func TestPhasesWithoutATitleKeepTheirName(t *testing.T) {
	t.Parallel()
	require.Equal(t, i18n.M("phase.BaseInfra"), ui.PhaseTitle("BaseInfra"))
	require.Equal(t, i18n.Plain("SomethingNew"), ui.PhaseTitle("SomethingNew"))
	require.Equal(t, i18n.M("status.unknown"), ui.TaskStatus("no such status").Word)
}
