package i18n

import "math"

// The plural categories of the Unicode CLDR that our languages use.
const (
	one   = "one"
	few   = "few"
	many  = "many"
	other = "other"
)

// category tells which plural form a number takes. English has two. Russian has one, few and
// many for whole numbers by their last digits, and other for fractions.
func category(locale Locale, n float64) string {
	whole := n == math.Trunc(n)
	n = math.Abs(n)
	if locale != Russian {
		if n == 1 {
			return one
		}
		return other
	}
	if !whole {
		return other
	}
	last, lastTwo := math.Mod(n, 10), math.Mod(n, 100)
	teen := lastTwo >= 11 && lastTwo <= 14
	switch {
	case last == 1 && !teen:
		return one
	case last >= 2 && last <= 4 && !teen:
		return few
	default:
		return many
	}
}
