package render

import (
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// bounds tell how large the result of a function that multiplies will be, in bytes or values, or how
// much work it is, before it is called. They rather say too much than too little.
var bounds = map[string]func(args []any) int{
	"repeat":    func(a []any) int { return times(number(a, 0), len(text(a, 1))) },
	"until":     func(a []any) int { return number(a, 0) },
	"untilStep": func(a []any) int { return span(number(a, 0), number(a, 1), number(a, 2)) },
	"seq":       sequence,
	"indent":    indentation,
	"nindent":   indentation,
	"replace":   func(a []any) int { return times(strings.Count(text(a, 2), text(a, 0)), len(text(a, 1))) },
	"wrap":      func(a []any) int { return len(text(a, 1)) },
	"wrapWith":  func(a []any) int { return times(len(text(a, 2)), len(text(a, 1))) / max(1, number(a, 0)) },
	"join":      func(a []any) int { return times(length(a, 1), len(text(a, 0))) },
	"printf":    widths,
	"uniq":      func(a []any) int { return times(length(a, 0), length(a, 0)) / fast },
	"mustUniq":  func(a []any) int { return times(length(a, 0), length(a, 0)) / fast },
	"without":   func(a []any) int { return times(length(a, 0), len(a)) / fast },

	"mustWithout":  func(a []any) int { return times(length(a, 0), len(a)) / fast },
	"toPrettyJson": pretty, "mustToPrettyJson": pretty,

	"regexMatch": matching, "mustRegexMatch": matching, "regexFind": matching, "mustRegexFind": matching,
	"regexFindAll": matching, "mustRegexFindAll": matching, "regexSplit": matching, "mustRegexSplit": matching,
	"regexReplaceAll": replacing, "mustRegexReplaceAll": replacing,
	"regexReplaceAllLiteral": replacing, "mustRegexReplaceAllLiteral": replacing,
}

// fast is how many comparisons or steps of a matcher are as much work as one byte that is made.
const fast = 16

// times multiplies without running over.
func times(a, b int) int {
	a, b = magnitude(a), magnitude(b)
	if a != 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

func magnitude(n int) int {
	if n == math.MinInt {
		return math.MaxInt
	}
	return max(n, -n)
}

// span is how many steps lead from a number to another.
func span(from, to, step int) int {
	distance := math.Abs(float64(to)-float64(from)) / float64(max(1, magnitude(step)))
	if distance >= math.MaxInt32 {
		return math.MaxInt32
	}
	return int(distance) + 1
}

const digits = 20 // the longest that a number is written

func sequence(a []any) int {
	switch len(a) {
	case 1:
		return times(span(1, number(a, 0), 1), digits)
	case 2:
		return times(span(number(a, 0), number(a, 1), 1), digits)
	case 3:
		return times(span(number(a, 0), number(a, 2), number(a, 1)), digits)
	}
	return 0
}

func indentation(a []any) int {
	return times(number(a, 0), 1+strings.Count(text(a, 1), "\n"))
}

// widths adds up the widths and precisions that a format asks for; those that stand among the
// arguments may be asked for by each verb.
func widths(a []any) int {
	format, total, here := text(a, 0), 0, 0
	for _, r := range format {
		if r >= '0' && r <= '9' && here < math.MaxInt32 {
			here = here*10 + int(r-'0')
			continue
		}
		total, here = total+here, 0
		if total > maxValue {
			return total
		}
	}
	widest := 0
	for i := range a {
		if n, is := a[i].(int); is {
			widest = max(widest, magnitude(n))
		}
	}
	// A verb can name any argument and show it again.
	largest := 0
	for i := 1; i < len(a); i++ {
		left := maxValue
		weight(reflect.ValueOf(a[i]), 0, &left)
		largest = max(largest, maxValue-left)
	}
	verbs := strings.Count(format, "%")
	total += times(strings.Count(format, "*"), min(widest, 1_000_000))
	if strings.Contains(format, "[") {
		total += times(verbs, largest)
	}
	return total
}

func replacing(a []any) int {
	return max(times(len(text(a, 1))+1, len(text(a, 2))+1), matching(a))
}

// matching is the work of a regular expression: a repetition stands for a thousand of its kind.
func matching(a []any) int {
	pattern := text(a, 0)
	return times(len(text(a, 1)), len(pattern)+1000*strings.Count(pattern, "{")) / fast
}

// pretty is the length of a value written as JSON with a line for each part.
func pretty(a []any) int {
	if len(a) == 0 {
		return 0
	}
	return indented(reflect.ValueOf(a[0]), 1)
}

func indented(v reflect.Value, depth int) int {
	total := 2 * depth
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return total
		}
		return indented(v.Elem(), depth)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			total += indented(v.Index(i), depth+1)
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			total += indented(value, depth+1)
		}
	case reflect.String:
		total += v.Len()
	}
	return total
}

func number(a []any, i int) int {
	if i >= len(a) {
		return 0
	}
	n, _ := a[i].(int) // every bounded function takes its numbers as int
	return n
}

func text(a []any, i int) string {
	if i >= len(a) {
		return ""
	}
	if s, is := a[i].(string); is {
		return s
	}
	return ""
}

// length is how many values a list has, or characters a text.
func length(a []any, i int) int {
	if i >= len(a) || a[i] == nil {
		return 0
	}
	switch v := reflect.ValueOf(a[i]); v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return v.Len()
	case reflect.String:
		return utf8.RuneCountInString(v.String())
	}
	return 0
}
