// Package upgrade decides what becomes of a cluster's parameters when it moves to another version
// of a template: what somebody set stays, what was only a default follows the new one.
package upgrade

import (
	"slices"

	"commander/fleet/schema"
	"commander/internal/fault"
)

// Input is what a merge is made of.
type Input struct {
	// Old is the schema that the values belong to, New the one that they move to.
	Old, New schema.Schema
	// Values are the saved ones, with defaults filled in and secrets in the clear.
	Values map[string]any
	// Given are the keys that somebody set.
	Given []string
}

// Outcome is what becomes of one parameter.
type Outcome string

// The outcomes.
const (
	// Kept is a value that somebody set, or that cannot change any more, and that the new schema allows.
	Kept Outcome = "kept"
	// Followed is a value that nobody set and that becomes what the new schema has for it.
	Followed Outcome = "followed"
	// Added is a parameter without a value so far that the new schema can do without asking.
	Added Outcome = "added"
	// Asked is a parameter that must have a value, and that has none.
	Asked Outcome = "asked"
	// Conflict is a value that somebody set and that the new schema does not allow.
	Conflict Outcome = "conflict"
	// Removed is a value that the new schema has no parameter for.
	Removed Outcome = "removed"
)

// Item is one parameter of the list that a person reads before anything is applied.
type Item struct {
	Key, Title string
	Outcome    Outcome
	// Old and New are shown to people: secrets are masks, and records are their ids alone, as only the
	// inventory knows what of them is secret. Nil stands for no value.
	Old, New any
	// Record tells that Old is a record, or a list of them.
	Record bool
	// Given tells whether somebody set the old value.
	Given bool
	// Problem says what is wrong with a Conflict.
	Problem *fault.Message
}

// Result is what a merge makes.
type Result struct {
	// Items are the parameters of the new schema in its order, and then those that are removed.
	Items []Item
	// Values are to be saved with the new schema, which fills in its defaults. Values in conflict
	// are among them, so that whoever mends them sees them.
	Values map[string]any
	// Given are the keys of Values that somebody set, in the order of the schema.
	Given []string
}

// Open are the keys that a person must answer before the move can be made.
func (r Result) Open() []string {
	var keys []string
	for _, item := range r.Items {
		if item.Outcome == Asked || item.Outcome == Conflict {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// Merge moves values from one schema to another. It changes nothing of what it is given.
func Merge(in Input) Result {
	out := Result{Values: map[string]any{}}
	old := byKey(in.Old)
	kept := byKey(in.New)
	for _, f := range in.New.Fields() {
		item := out.move(f, old[f.Key], in.Values[f.Key], slices.Contains(in.Given, f.Key))
		item.Key, item.Title = f.Key, f.Title
		out.Items = append(out.Items, item)
	}
	for _, f := range in.Old.Fields() {
		if value := in.Values[f.Key]; kept[f.Key] == nil && !schema.Empty(value) {
			out.Items = append(out.Items, Item{
				Key: f.Key, Title: f.Title, Outcome: Removed, Old: shown(f, value), Given: slices.Contains(in.Given, f.Key), Record: f.Catalog != "",
			})
		}
	}
	return out
}

func byKey(s schema.Schema) map[string]*schema.Field {
	fields := map[string]*schema.Field{}
	for _, f := range s.Fields() {
		fields[f.Key] = f
	}
	return fields
}

// move decides about one parameter of the new schema. was is nil when the old one did not have it.
func (r *Result) move(f, was *schema.Field, value any, given bool) Item {
	if was == nil || schema.Empty(value) {
		return arrive(f, was != nil)
	}
	if !given && f.Catalog == "" && !f.Immutable {
		return follow(f, was, value)
	}
	item := Item{Outcome: Kept, Old: shown(was, value), Given: given, Record: was.Catalog != ""}
	checked, problem := f.Valid(value)
	// What could be read then and must not be is not carried over, whatever else is wrong with it.
	bare := was.Secret() && !f.Secret() || was.Catalog != "" && f.Catalog == ""
	if problem == nil && bare {
		problem = &fault.Message{Key: "parameter.was_secret"}
	}
	if problem != nil {
		item.Outcome, item.Problem = Conflict, problem
		if bare {
			return item
		}
		item.New, checked = item.Old, value
	}
	if problem == nil {
		item.New = shown(f, checked)
	}
	r.Values[f.Key] = checked
	if given {
		r.Given = append(r.Given, f.Key)
	}
	return item
}

// arrive is a parameter without a value so far; one that was empty before may stay so.
func arrive(f *schema.Field, before bool) Item {
	value, asked := f.Absent()
	switch {
	case asked:
		return Item{Outcome: Asked}
	case before && value == nil:
		return Item{Outcome: Kept}
	}
	return Item{Outcome: Added, New: shown(f, value)}
}

// follow is a value that nobody set.
func follow(f, was *schema.Field, value any) Item {
	next, asked := f.Absent()
	item := Item{Outcome: Followed, Old: shown(was, value), New: shown(f, next), Record: was.Catalog != ""}
	switch {
	case asked:
		item.Outcome = Asked
	case schema.Same(value, next):
		item.Outcome = Kept // nothing changes for the cluster
	}
	return item
}

// shown is what people see of a value.
func shown(f *schema.Field, value any) any {
	if f.Catalog == "" {
		return f.Shown(value)
	}
	switch v := value.(type) {
	case map[string]any:
		return map[string]any{schema.RecordID: v[schema.RecordID]}
	case []any:
		ids := make([]any, len(v))
		for i, one := range v {
			ids[i] = shown(f, one)
		}
		return ids
	}
	return value
}
