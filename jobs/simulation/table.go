package simulation

import "slices"

// table holds rows in the order in which they were written. A version of it shares what it did not
// change with the one before: rows are replaced, never changed in place.
type table[R any] struct {
	rows []*R
	mine bool // says that this version has its own list
}

func (t *table[R]) shared() table[R] { return table[R]{rows: t.rows} }

func (t *table[R]) own() {
	if !t.mine {
		t.rows, t.mine = slices.Clone(t.rows), true
	}
}

// find gives a row to read; nil when there is none.
func (t *table[R]) find(is func(*R) bool) *R {
	for _, row := range t.rows {
		if is(row) {
			return row
		}
	}
	return nil
}

// change gives a row of this version's own to write to; nil when there is none.
func (t *table[R]) change(is func(*R) bool) *R {
	for i, row := range t.rows {
		if is(row) {
			t.own()
			replaced := *row
			t.rows[i] = &replaced
			return &replaced
		}
	}
	return nil
}

func (t *table[R]) insert(row R) {
	t.own()
	t.rows = append(t.rows, &row)
}

func (t *table[R]) delete(is func(*R) bool) {
	if slices.ContainsFunc(t.rows, is) {
		t.own()
		t.rows = slices.DeleteFunc(t.rows, is)
	}
}
