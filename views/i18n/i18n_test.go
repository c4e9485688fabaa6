package i18n_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"commander/views/i18n"
)

var (
	en = i18n.With(context.Background(), i18n.English)
	ru = i18n.With(context.Background(), i18n.Russian)
)

func TestPluralFormsFollowTheNumber(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1:    "Показать 1 новый кластер",
		2:    "Показать 2 новых кластера",
		5:    "Показать 5 новых кластеров",
		11:   "Показать 11 новых кластеров",
		12:   "Показать 12 новых кластеров",
		21:   "Показать 21 новый кластер",
		24:   "Показать 24 новых кластера",
		111:  "Показать 111 новых кластеров",
		1001: "Показать 1001 новый кластер",
	} {
		require.Equal(t, want, i18n.T(ru, "clusters.new", n))
	}
	require.Equal(t, "Show 1 new cluster", i18n.T(en, "clusters.new", 1))
	require.Equal(t, "Show 0 new clusters", i18n.T(en, "clusters.new", 0))
	require.Equal(t, "ядра", i18n.T(ru, "unit.cores", 1.5))
}

func TestArgumentsAreSaidInTheReadersWay(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Next: Add nodes.", i18n.T(en, "task.next.running", i18n.M("phase.InstallAdditionalMastersAndStaticNodes")))
	require.Equal(t, "1–25 of 12,345", i18n.T(en, "pages.shown", 1, 25, int64(12345)))
	require.Equal(t, "1–25 из 12\u00a0345", i18n.T(ru, "pages.shown", 1, 25, 12345))
	require.Equal(t, "no.such.key", i18n.T(en, "no.such.key", 1))
	require.Equal(t, "payments", i18n.Plain("payments").In(ru))
	require.Equal(t, "{0} stays", i18n.Plain("{0} stays").In(en), "an argument is not a pattern")
	require.Empty(t, i18n.Message{}.In(en))
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	require.Equal(t, "1.5", i18n.Number(en, 1.5))
	require.Equal(t, "1,5", i18n.Number(ru, 1.5))
	require.Equal(t, "1234", i18n.Number(en, 1234))
	require.Equal(t, "−1,234,567.25", i18n.Number(en, -1234567.25))
	require.Equal(t, "0", i18n.Number(en, 0))
	require.Equal(t, "10", i18n.Number(en, 9.999))
}

func TestSpansAndMoments(t *testing.T) {
	t.Parallel()
	for span, want := range map[time.Duration]string{
		850 * time.Millisecond:            "850 ms",
		14 * time.Second:                  "14 s",
		112 * time.Second:                 "1 min 52 s",
		2 * time.Minute:                   "2 min",
		2*time.Hour + 5*time.Minute:       "2 h 5 min",
		50*time.Hour + 30*time.Minute:     "2 d 2 h",
		-time.Second:                      "0 ms",
		time.Minute + 900*time.Nanosecond: "1 min",
	} {
		require.Equal(t, want, plainSpaces(i18n.Span(en, span)))
	}
	require.Equal(t, "41 мин", plainSpaces(i18n.Ago(ru, 41*time.Minute+59*time.Second)))
	require.Equal(t, "0 s", plainSpaces(i18n.Ago(en, -time.Hour)))
	moment := time.Date(2026, 5, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
	require.Equal(t, "3 May 2026, 03:05:06 UTC", plainSpaces(i18n.Moment(en, moment)))
	require.Equal(t, "3 мая 2026, 03:05:06 UTC", plainSpaces(i18n.Moment(ru, moment)))
}

func TestNegotiation(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		chosen, accept string
		want           i18n.Locale
	}{
		{"", "", i18n.English},
		{"", "de,fr;q=0.9", i18n.English},
		{"", "ru-RU,ru;q=0.9,en;q=0.8", i18n.Russian},
		{"", "en;q=0.4, ru;q=0.5", i18n.Russian},
		{"", "ru;q=nonsense, en", i18n.English},
		{"", "ru;q=0", i18n.English},
		{"en", "ru", i18n.English},
		{"ru", "", i18n.Russian},
		{"xx", "ru", i18n.Russian},
	} {
		require.Equal(t, c.want, i18n.Negotiate(c.chosen, c.accept), "%q %q", c.chosen, c.accept)
	}
}

func TestNowIsFixedByTheContext(t *testing.T) {
	t.Parallel()
	fixed := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	require.Equal(t, fixed, i18n.Now(i18n.At(en, fixed)))
	require.WithinDuration(t, time.Now(), i18n.Now(en), time.Minute)
}

func plainSpaces(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r == '\u00a0' {
			out[i] = ' '
		}
	}
	return string(out)
}
