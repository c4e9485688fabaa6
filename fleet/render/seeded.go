package render

import (
	"fmt"
	"math/rand/v2"
	"text/template"
	"time"
)

// drawn are the functions of chance and clock: the seed and the time of a revision stand in for them.
var drawn = set(
	"randNumeric", "randAlpha", "randAlphaNum", "randAscii", "randBytes", "randInt", "shuffle", "uuidv4", "now", "ago",
	"date", "date_in_zone", "dateInZone", "htmlDate", "htmlDateInZone", "toDate", "mustToDate",
)

// longestDrawn bounds a text of chance, in characters.
const longestDrawn = 1 << 16

func seeded(in Input) template.FuncMap {
	source := rand.New(rand.NewChaCha8(in.Seed))
	pick := func(alphabet string) func(int) string {
		return func(length int) string {
			text := make([]byte, max(0, min(length, longestDrawn)))
			for i := range text {
				text[i] = alphabet[source.IntN(len(alphabet))]
			}
			return string(text)
		}
	}
	const digits, letters = "0123456789", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const printable = "!#%+,-./:=?@_"
	out := template.FuncMap{
		"randNumeric": pick(digits), "randAlpha": pick(letters), "randAlphaNum": pick(digits + letters),
		"randAscii": pick(digits + letters + printable), "randBytes": pick(digits + letters),
		"randInt": func(low, high int) int {
			if high <= low {
				return low
			}
			return low + int(source.Uint64N(uint64(high)-uint64(low)))
		},
		"shuffle": func(text string) string {
			runes := []rune(text)
			source.Shuffle(len(runes), func(i, j int) { runes[i], runes[j] = runes[j], runes[i] })
			return string(runes)
		},
		"uuidv4": func() string {
			var b [16]byte
			for i := range b {
				b[i] = byte(source.UintN(256))
			}
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
		},
		"now": func() time.Time { return in.Now },
		"ago": func(v any) string { return in.Now.Sub(moment(v, in.Now)).Round(time.Second).String() },
	}
	// The zone of the machine is part of its environment, so moments are told in UTC.
	out["date"] = func(format string, v any) string { return moment(v, in.Now).UTC().Format(format) }
	out["htmlDate"] = func(v any) string { return moment(v, in.Now).UTC().Format(time.DateOnly) }
	inZone := func(format string, v any, zone string) string {
		place, err := time.LoadLocation(zone)
		if err != nil || zone == "Local" {
			place = time.UTC
		}
		return moment(v, in.Now).In(place).Format(format)
	}
	out["dateInZone"], out["date_in_zone"] = inZone, inZone
	out["htmlDateInZone"] = func(v any, zone string) string { return inZone(time.DateOnly, v, zone) }
	out["mustToDate"] = time.Parse
	out["toDate"] = func(format, text string) time.Time {
		t, _ := time.Parse(format, text) // sprig's gives the zero time as well
		return t
	}
	return out
}

// moment reads a time, or seconds since 1970; anything else is now.
func moment(v any, now time.Time) time.Time {
	switch v := v.(type) {
	case time.Time:
		return v
	case *time.Time:
		return *v
	case int64:
		return time.Unix(v, 0)
	case int:
		return time.Unix(int64(v), 0)
	case int32:
		return time.Unix(int64(v), 0)
	}
	return now
}
