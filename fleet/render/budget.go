package render

import (
	"fmt"
	"reflect"
)

// What all sections of one rendering may use together. A template that any person would write stays
// a hundred times below; one that exhausts them is through with it within a second or two.
const (
	// maxSteps bounds the nodes of the parse tree that are carried out.
	maxSteps = 500_000
	// maxWork bounds the bytes and values that functions read and make.
	maxWork = 32 << 20
	// maxDepth bounds how deep templates call each other.
	maxDepth = 100
	// maxValue bounds one value, in bytes and values: everything in it counts as often as it is met.
	maxValue = 4 << 20
	// maxNested bounds how deep a value is nested. One that holds itself is deeper than anything.
	maxNested = 200
)

// Budget is what is left for the sections of one rendering. A nil one stands for a full one.
type Budget struct {
	steps, work, depth int
	line               int // of the template, where it stands
}

// exceeded is what stops a template that wants too much.
type exceeded string

func (e exceeded) Error() string { return string(e) }

// step pays for some nodes before they are carried out.
func (b *Budget) step(nodes, line int) (string, error) {
	b.line = line
	if b.steps += nodes; b.steps > maxSteps {
		return "", exceeded(fmt.Sprintf("the template takes more than %d steps", maxSteps))
	}
	return "", nil
}

// enter and leave stand around a template that is called.
func (b *Budget) enter(nodes int) (string, error) {
	if b.depth++; b.depth > maxDepth {
		return "", exceeded(fmt.Sprintf("templates call each other more than %d deep", maxDepth))
	}
	return b.step(nodes, b.line)
}

func (b *Budget) leave() string {
	b.depth--
	return ""
}

// show pays for a value before it is written out.
func (b *Budget) show(line int, v any) (any, error) {
	b.line = line
	return v, b.weigh(reflect.ValueOf(v))
}

// pay pays for what a function is about to make, in bytes or values.
func (b *Budget) pay(amount int) error {
	if amount > maxValue {
		return exceeded(fmt.Sprintf("a value is larger than %d MiB", maxValue>>20))
	}
	if b.work += amount; b.work > maxWork {
		return exceeded(fmt.Sprintf("the template works with more than %d MiB", maxWork>>20))
	}
	return nil
}

// weigh pays for a value that is read or was made.
func (b *Budget) weigh(v reflect.Value) error {
	left := maxValue
	if !weight(v, 0, &left) {
		return exceeded(fmt.Sprintf("a value is larger than %d MiB, nested deeper than %d, or holds itself", maxValue>>20, maxNested))
	}
	return b.pay(maxValue - left)
}

// weight takes a value off what is left, and tells whether that was enough.
func weight(v reflect.Value, depth int, left *int) bool {
	if *left--; *left < 0 || depth > maxNested {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		*left -= v.Len()
		return *left >= 0
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || weight(v.Elem(), depth+1, left)
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			*left -= v.Len()
			return *left >= 0
		}
		for i := range v.Len() {
			if !weight(v.Index(i), depth+1, left) {
				return false
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if !weight(key, depth+1, left) || !weight(value, depth+1, left) {
				return false
			}
		}
	}
	return true
}
