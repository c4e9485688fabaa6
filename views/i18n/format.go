package i18n

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"
)

// thin keeps a number and its groups together on one line.
const thin = "\u00a0"

// Number writes a number with at most two decimals, grouped by the reader's habit.
func Number(ctx context.Context, n float64) string {
	point, group := ".", ","
	if Of(ctx) == Russian {
		point, group = ",", thin
	}
	text := strconv.FormatFloat(math.Abs(n), 'f', 2, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	var b strings.Builder
	if n < 0 {
		b.WriteString("−")
	}
	for i, digit := range whole {
		// Four digits stay together, as both languages like it.
		if left := len(whole) - i; i > 0 && left%3 == 0 && len(whole) > 4 {
			b.WriteString(group)
		}
		b.WriteRune(digit)
	}
	if fraction != "" {
		b.WriteString(point + fraction)
	}
	return b.String()
}

// Date writes a day.
func Date(ctx context.Context, t time.Time) string {
	t = t.UTC()
	month := T(ctx, "month."+strconv.Itoa(int(t.Month())))
	return strconv.Itoa(t.Day()) + thin + month + thin + strconv.Itoa(t.Year())
}

// Moment writes a day and a time to the second. The server does not know a reader's time zone, so it
// says UTC; the browser's script puts local time in its place.
func Moment(ctx context.Context, t time.Time) string {
	return Date(ctx, t) + ", " + t.UTC().Format("15:04:05") + thin + "UTC"
}

const day = 24 * time.Hour

// Ago writes how long ago something was by its largest unit: "4 s", "6 min", "3 h", "2 d". The
// browser's script counts on with the same words.
func Ago(ctx context.Context, d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return unit(ctx, "s", d/time.Second)
	case d < time.Hour:
		return unit(ctx, "min", d/time.Minute)
	case d < day:
		return unit(ctx, "h", d/time.Hour)
	default:
		return unit(ctx, "d", d/day)
	}
}

// Span writes how long something took by its two largest units: "850 ms", "14 s", "1 min 52 s", "2 h 5 min".
func Span(ctx context.Context, d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Second:
		return unit(ctx, "ms", d/time.Millisecond)
	case d < time.Minute:
		return unit(ctx, "s", d/time.Second)
	case d < time.Hour:
		return both(ctx, "min", d/time.Minute, "s", d%time.Minute/time.Second)
	case d < day:
		return both(ctx, "h", d/time.Hour, "min", d%time.Hour/time.Minute)
	default:
		return both(ctx, "d", d/day, "h", d%day/time.Hour)
	}
}

func unit(ctx context.Context, name string, n time.Duration) string {
	return strconv.FormatInt(int64(n), 10) + thin + T(ctx, "unit."+name)
}

func both(ctx context.Context, large string, n time.Duration, small string, m time.Duration) string {
	if m == 0 {
		return unit(ctx, large, n)
	}
	return unit(ctx, large, n) + thin + unit(ctx, small, m)
}
