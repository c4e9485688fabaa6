package schema

import "commander/internal/fault"

// checkList holds each value of a list to the rules of the field, and their number to its bounds.
func (f *Field) checkList(value any) (any, *fault.Message) {
	values, is := value.([]any)
	if !is {
		return nil, &fault.Message{Key: "parameter.not_a_list"}
	}
	switch {
	case len(values) < *f.MinItems:
		return nil, &fault.Message{Key: "parameter.too_few", Args: []any{*f.MinItems}}
	case len(values) > *f.MaxItems:
		return nil, &fault.Message{Key: "parameter.too_many", Args: []any{*f.MaxItems}}
	}
	checked := make([]any, len(values))
	for i, one := range values {
		var problem *fault.Message
		if checked[i], problem = f.checkOne(one); problem != nil {
			return nil, problem
		}
		for _, earlier := range checked[:i] {
			if f.choice() && sameChoice(earlier, checked[i]) {
				return nil, &fault.Message{Key: "parameter.twice"}
			}
		}
	}
	return checked, nil
}

// choice reports whether values are chosen from what there is; nothing is chosen twice.
func (f *Field) choice() bool { return f.Catalog != "" || len(f.Enum) > 0 || len(f.Select) > 0 }

// checkRecord looks at the form of a record only.
func checkRecord(value any) (any, *fault.Message) {
	if _, is := recordID(value); !is {
		return nil, &fault.Message{Key: "parameter.not_a_record"}
	}
	return value, nil
}

// recordID is the id of a record among parameters.
func recordID(value any) (string, bool) {
	record, is := value.(map[string]any)
	if !is {
		return "", false
	}
	id, is := record[RecordID].(string)
	return id, is && id != ""
}

// sameChoice compares values; records are the same whatever they hold now.
func sameChoice(a, b any) bool {
	if x, is := recordID(a); is {
		y, too := recordID(b)
		return too && x == y
	}
	x, isA := a.([]any)
	y, isB := b.([]any)
	if !isA || !isB {
		return same(a, b)
	}
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !sameChoice(x[i], y[i]) {
			return false
		}
	}
	return true
}

// unmask puts what is saved in place of the masks of a list of secrets.
func unmask(value, saved any) any {
	values, is := value.([]any)
	old, had := saved.([]any)
	if !is {
		return value
	}
	out := make([]any, 0, len(values))
	for i, one := range values {
		switch {
		case one != Mask:
			out = append(out, one)
		case had && i < len(old):
			out = append(out, old[i])
		}
	}
	return out
}
