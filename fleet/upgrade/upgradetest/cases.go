// Package upgradetest makes up moves between versions of a template and knows what must become of
// each, from the words of the rules alone: for tests and for bench.
package upgradetest

import (
	"fmt"
	"math/rand/v2"

	"commander/fleet/schema"
	"commander/fleet/upgrade"
)

// variants are what a parameter may be in a version; nil is none. The oracle knows each by its number.
var variants = []string{
	``,
	`"type": "number"`,
	`"type": "number", "default": 1`,
	`"type": "number", "default": 2`,
	`"type": "number", "optional": true`,
	`"type": "number", "max": 2`,
	`"type": "number", "default": 2, "max": 2`,
	`"type": "number", "default": 2, "immutable": true`,
	`"type": "boolean"`,
	`"type": "boolean", "default": true`,
	`"type": "string", "default": "a"`,
	`"type": "string", "enum": ["a", "b"]`,
	`"type": "string", "format": "password", "optional": true`,
	`"type": "number", "minItems": 0, "maxItems": 2, "default": [1]`,
	`"type": "string", "optional": true`,
}

// choices are values that somebody may have set for each variant.
var choices = [][]any{
	nil,
	{1.0, 2.0, 5.0},
	{1.0, 5.0},
	{2.0, 5.0},
	{1.0, 9.0},
	{1.0, 2.0},
	{1.0, 2.0},
	{2.0, 3.0},
	{true, false},
	{true, false},
	{"a", "b"},
	{"a", "b"},
	{"secret", "a"},
	{[]any{1.0}, []any{3.0, 4.0}},
	{"a", "b"},
}

// Keys is how many parameters a case has: each is a triple of its own, of an old default, a value and
// a new schema.
const Keys = 6

// Source makes up cases, the same ones for the same seed.
type Source struct {
	random *rand.Rand
	fields [Keys][]*schema.Field // by key and variant
}

// New makes a source.
func New(seed uint64) (*Source, error) {
	s := &Source{random: rand.New(rand.NewPCG(seed, 2026))}
	for k := range s.fields {
		s.fields[k] = make([]*schema.Field, len(variants))
		for v := 1; v < len(variants); v++ {
			text := fmt.Sprintf(`[{"key": "%s", "title": "P", %s}]`, keyOf(k), variants[v])
			parsed, err := schema.Parse([]byte(text))
			if err != nil {
				return nil, fmt.Errorf("parse %s: %w", text, err)
			}
			s.fields[k][v] = parsed[0].Field
		}
	}
	return s, nil
}

func keyOf(k int) string { return fmt.Sprintf("p%d", k) }

// Case is a move and how it was made up.
type Case struct {
	Input    upgrade.Input
	from, to [Keys]int // variants
	given    [Keys]bool
}

// Next makes up a case.
func (s *Source) Next() Case {
	c := Case{Input: upgrade.Input{Values: map[string]any{}}}
	for k := range Keys {
		c.from[k], c.to[k] = s.random.IntN(len(variants)), s.random.IntN(len(variants))
		if v := c.from[k]; v > 0 {
			c.Input.Old = append(c.Input.Old, schema.Block{Field: s.fields[k][v]})
			value, _ := s.fields[k][v].Absent()
			if s.random.IntN(2) == 0 {
				value, c.given[k] = choices[v][s.random.IntN(len(choices[v]))], true
				c.Input.Given = append(c.Input.Given, keyOf(k))
			}
			if value != nil {
				c.Input.Values[keyOf(k)] = value
			}
		}
		if c.to[k] > 0 {
			c.Input.New = append(c.Input.New, schema.Block{Field: s.fields[k][c.to[k]]})
		}
	}
	return c
}
