// Package i18n says things in the language of whoever reads: texts by key, plurals, numbers,
// moments and durations. Texts live in en.json and ru.json, which hold the same keys.
package i18n

import (
	"context"
	"time"
)

// Locale is a language the product speaks.
type Locale string

// The languages of the product; English is the one for everybody else.
const (
	English Locale = "en"
	Russian Locale = "ru"
)

// Locales are the languages a person can choose from.
func Locales() []Locale { return []Locale{English, Russian} }

// Message is a text that is said when it is shown: a key of the catalogs and its arguments. It
// has the fields of a fault's message, so that the one converts to the other.
type Message struct {
	Key  string
	Args []any
}

// M makes a message.
func M(key string, args ...any) Message { return Message{Key: key, Args: args} }

// Plain makes a message of a text that needs no translation, such as a name.
func Plain(text string) Message { return M("plain", text) }

// IsZero tells whether there is nothing to say.
func (m Message) IsZero() bool { return m.Key == "" }

// In says the message in the context's language.
func (m Message) In(ctx context.Context) string {
	if m.IsZero() {
		return ""
	}
	return T(ctx, m.Key, m.Args...)
}

type localeKey struct{}

type nowKey struct{}

// With sets the language of everything rendered under the context.
func With(ctx context.Context, l Locale) context.Context {
	return context.WithValue(ctx, localeKey{}, l)
}

// Of tells the context's language.
func Of(ctx context.Context) Locale {
	if l, ok := ctx.Value(localeKey{}).(Locale); ok {
		return l
	}
	return English
}

// At fixes the moment that relative times are counted from; tests and the gallery need it.
func At(ctx context.Context, now time.Time) context.Context {
	return context.WithValue(ctx, nowKey{}, now)
}

// Now is the moment that relative times are counted from.
func Now(ctx context.Context) time.Time {
	if t, ok := ctx.Value(nowKey{}).(time.Time); ok {
		return t
	}
	return time.Now()
}
