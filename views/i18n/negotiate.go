package i18n

import (
	"strconv"
	"strings"
)

// Negotiate picks a language: the person's own choice, else what the Accept-Language header
// likes best of those we speak, else English.
func Negotiate(chosen, accept string) Locale {
	if l, ok := known(chosen); ok {
		return l
	}
	best, bestWeight := English, 0.0
	for part := range strings.SplitSeq(accept, ",") {
		tag, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		l, ok := known(tag)
		if !ok {
			continue
		}
		weight := 1.0
		if q, found := strings.CutPrefix(strings.TrimSpace(parameters), "q="); found {
			w, err := strconv.ParseFloat(q, 64)
			if err != nil {
				continue
			}
			weight = w
		}
		if weight > bestWeight {
			best, bestWeight = l, weight
		}
	}
	return best
}

// known finds our language for a tag such as "ru" or "ru-RU".
func known(tag string) (Locale, bool) {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	for _, l := range Locales() {
		if string(l) == primary {
			return l, true
		}
	}
	return "", false
}
