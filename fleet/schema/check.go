package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"commander/internal/fault"
)

// Mask stands for a secret wherever values are shown; sent back, it means "keep what is saved".
const Mask = "••••••••"

// Check completes and checks values: a value that is missing becomes the default, numbers and
// texts are held to their rules. It returns the values that templates get and a problem by key.
// saved holds what is known already: for masked secrets and for immutable fields.
func (s Schema) Check(values, saved map[string]any) (clean map[string]any, problems map[string]fault.Message) {
	clean, problems = map[string]any{}, map[string]fault.Message{}
	fields := s.Fields()
	byKey := make(map[string]*Field, len(fields))
	for _, f := range fields {
		byKey[f.Key] = f
	}
	for key := range values {
		if byKey[key] == nil {
			problems[key] = fault.Message{Key: "parameter.unknown"}
		}
	}
	for _, f := range fields {
		value, given := values[f.Key]
		old, had := saved[f.Key]
		if f.Secret() && value == Mask {
			value, given = old, had
		}
		if empty(value) {
			given = false
		}
		if !given {
			var asked bool
			if value, asked = f.Absent(); asked {
				problems[f.Key] = fault.Message{Key: "parameter.required"}
			}
			if value == nil {
				continue
			}
		}
		if f.Secret() && f.List() {
			value = unmask(value, old)
		}
		checked, problem := f.check(value)
		if problem != nil {
			problems[f.Key] = *problem
			clean[f.Key] = value
			continue
		}
		if f.Immutable && had && !empty(old) && !sameChoice(old, checked) {
			problems[f.Key] = fault.Message{Key: "parameter.immutable", Args: []any{Text(f.shown(old))}}
		}
		clean[f.Key] = checked
	}
	return clean, problems
}

// Absent is the value that templates get when there is none, nil for no value at all. asked is true
// when there must be one.
func (f *Field) Absent() (value any, asked bool) {
	switch {
	case f.Default != nil:
		return f.Default, false
	case f.Optional, f.Autoselect: // the inventory picks
		return nil, false
	case f.Type == Boolean && !f.List():
		return false, false
	}
	return nil, true
}

// Shown is what people see of a value: masks in place of a secret.
func (f *Field) Shown(value any) any {
	if empty(value) {
		return value
	}
	return f.shown(value)
}

func (f *Field) shown(value any) any {
	if !f.Secret() {
		return value
	}
	list, is := value.([]any)
	if !is || !f.List() {
		return Mask
	}
	masks := make([]any, len(list))
	for i := range masks {
		masks[i] = Mask
	}
	return masks
}

// Empty reports whether a value is as good as none: nothing, an empty text or an empty list.
func Empty(value any) bool { return empty(value) }

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}

// Same reports whether two values are equal as JSON.
func Same(a, b any) bool { return same(a, b) }

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Valid holds a value that is there to the rules of the field: whether there is such a record is
// the inventory's to say. It returns the value in the form that templates get.
func (f *Field) Valid(value any) (any, *fault.Message) { return f.check(value) }

func (f *Field) check(value any) (any, *fault.Message) {
	if f.List() {
		return f.checkList(value)
	}
	return f.checkOne(value)
}

// checkOne holds a value, or one of a list, to the rules of the field.
func (f *Field) checkOne(value any) (any, *fault.Message) {
	if f.Catalog != "" {
		return checkRecord(value)
	}
	if len(f.Select) > 0 {
		for _, c := range f.Select {
			if same(c.Value, value) {
				return value, nil
			}
		}
		return nil, &fault.Message{Key: "parameter.not_a_choice"}
	}
	var problem *fault.Message
	switch f.Type {
	case String:
		value, problem = f.checkString(value)
	case Number:
		value, problem = f.checkNumber(value)
	case Boolean:
		if _, is := value.(bool); !is {
			problem = &fault.Message{Key: "parameter.not_a_boolean"}
		}
	}
	if problem != nil {
		return nil, problem
	}
	if len(f.Enum) > 0 {
		for _, allowed := range f.Enum {
			if same(allowed, value) {
				return value, nil
			}
		}
		return nil, &fault.Message{Key: "parameter.not_in_enum", Args: []any{list(f.Enum)}}
	}
	return value, nil
}

func (f *Field) checkString(value any) (any, *fault.Message) {
	text, is := value.(string)
	if !is {
		return nil, &fault.Message{Key: "parameter.not_a_string"}
	}
	length := utf8.RuneCountInString(text)
	switch {
	case f.MinLength != nil && length < *f.MinLength:
		return nil, &fault.Message{Key: "parameter.too_short", Args: []any{*f.MinLength}}
	case f.MaxLength != nil && length > *f.MaxLength:
		return nil, &fault.Message{Key: "parameter.too_long", Args: []any{*f.MaxLength}}
	case f.pattern != nil && !f.pattern.MatchString(text):
		return nil, &fault.Message{Key: "parameter.pattern", Args: []any{f.Pattern}}
	}
	if valid := formats[f.Format]; valid != nil && !valid(text) {
		return nil, &fault.Message{Key: "parameter.format", Args: []any{f.Format}}
	}
	return text, nil
}

func (f *Field) checkNumber(value any) (any, *fault.Message) {
	number, is := toFloat(value)
	if !is || math.IsNaN(number) || math.IsInf(number, 0) {
		return nil, &fault.Message{Key: "parameter.not_a_number"}
	}
	switch {
	case f.Min != nil && number < *f.Min:
		return nil, &fault.Message{Key: "parameter.too_small", Args: []any{Text(*f.Min)}}
	case f.Max != nil && number > *f.Max:
		return nil, &fault.Message{Key: "parameter.too_large", Args: []any{Text(*f.Max)}}
	}
	return number, nil
}

func toFloat(value any) (float64, bool) {
	if n, is := value.(json.Number); is {
		number, err := n.Float64()
		return number, err == nil
	}
	v := reflect.ValueOf(value)
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	}
	return 0, false
}

// Text is how a value reads in a form field.
func Text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	if body, err := json.Marshal(value); err == nil {
		return string(body)
	}
	return fmt.Sprint(value)
}

func list(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = Text(v)
	}
	return strings.Join(texts, ", ")
}

var (
	uuidPattern  = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	cuidPattern  = regexp.MustCompile(`^c[0-9a-z]{8,}$`)
	cuid2Pattern = regexp.MustCompile(`^[a-z][0-9a-z]{1,31}$`)
	ulidPattern  = regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)
	// Pictures with their joiners, colours and selectors, keycaps, and the tags of flags.
	emojiPattern = regexp.MustCompile(`^(?:[0-9#*]\x{FE0F}?\x{20E3}|` +
		`[\x{A9}\x{AE}\x{203C}\x{2049}\x{2122}\x{2139}\x{2194}-\x{21AA}\x{231A}-\x{23FF}\x{24C2}\x{25AA}-\x{27BF}` +
		`\x{2934}\x{2935}\x{2B05}-\x{2B55}\x{3030}\x{303D}\x{3297}\x{3299}\x{1F000}-\x{1FAFF}]` +
		`[\x{FE0F}\x{200D}\x{20E3}\x{E0020}-\x{E007F}]*)+$`)
)

// formats are the named shapes of texts that a field may ask for.
var formats = map[string]func(string) bool{
	"date-time": func(s string) bool { _, err := time.Parse(time.RFC3339, s); return err == nil },
	"url":       func(s string) bool { u, err := url.Parse(s); return err == nil && u.Scheme != "" && u.Host != "" },
	"email":     func(s string) bool { a, err := mail.ParseAddress(s); return err == nil && a.Address == s },
	"uuid":      uuidPattern.MatchString,
	"cuid":      cuidPattern.MatchString,
	"cuid2":     cuid2Pattern.MatchString,
	"ulid":      ulidPattern.MatchString,
	"emoji":     emojiPattern.MatchString,
	"ipv4":      func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() },
}
