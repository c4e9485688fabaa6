package i18n

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

//go:embed en.json
var english []byte

//go:embed ru.json
var russian []byte

// text is an entry of a catalog: one sentence, or one for each plural category.
type text struct {
	one   string
	forms map[string]string
}

// UnmarshalJSON reads a string, or an object of plural categories.
func (t *text) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, &t.forms)
	}
	return json.Unmarshal(b, &t.one)
}

var catalogs = map[Locale]map[string]text{English: load(english), Russian: load(russian)}

// load reads a catalog. The catalogs are part of the program, so a broken one stops its start.
func load(b []byte) map[string]text {
	var catalog map[string]text
	if err := json.Unmarshal(b, &catalog); err != nil {
		panic(fmt.Errorf("read message catalog: %w", err))
	}
	return catalog
}

// Has tells whether there is a text for the key.
func Has(key string) bool {
	_, ok := catalogs[English][key]
	return ok
}

// T says the text of a key. {0}, {1} … are replaced by the arguments, numbers, moments and
// messages among them said in the reader's way. A text with plural forms takes the form of its
// first number. A key without a text says itself, so that a mistake is visible and harmless.
func T(ctx context.Context, key string, args ...any) string {
	locale := Of(ctx)
	entry, ok := catalogs[locale][key]
	if !ok {
		return key
	}
	pattern := entry.one
	if entry.forms != nil {
		pattern = entry.forms[category(locale, firstNumber(args))]
		if pattern == "" {
			pattern = entry.forms[other]
		}
	}
	if len(args) == 0 || !strings.Contains(pattern, "{") {
		return pattern
	}
	pairs := make([]string, 0, 2*len(args))
	for i, arg := range args {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", say(ctx, arg))
	}
	return strings.NewReplacer(pairs...).Replace(pattern)
}

// say puts an argument in words.
func say(ctx context.Context, arg any) string {
	switch v := arg.(type) {
	case string:
		return v
	case Message:
		return v.In(ctx)
	case int:
		return Number(ctx, float64(v))
	case int32:
		return Number(ctx, float64(v))
	case int64:
		return Number(ctx, float64(v))
	case float64:
		return Number(ctx, v)
	case time.Time:
		return Moment(ctx, v)
	case time.Duration:
		return Span(ctx, v)
	default:
		return fmt.Sprint(v)
	}
}

func firstNumber(args []any) float64 {
	for _, arg := range args {
		switch v := arg.(type) {
		case int:
			return float64(v)
		case int32:
			return float64(v)
		case int64:
			return float64(v)
		case float64:
			return v
		}
	}
	return 0
}
