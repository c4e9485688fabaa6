package upgradetest

import (
	"reflect"

	"commander/fleet/upgrade"
)

// oracle says the outcome and what the cluster has afterwards, from the words of the rules alone.
func oracle(from, to int, value any, given bool) (upgrade.Outcome, any) {
	kind := func(n int) string {
		return []string{"", "n", "n", "n", "n", "n", "n", "n", "b", "b", "s", "s", "s", "l", "s"}[n]
	}
	standard := []any{nil, nil, 1.0, 2.0, nil, nil, 2.0, 2.0, false, true, "a", nil, nil, []any{1.0}, nil}[to]
	optional := to == 4 || to == 12 || to == 14
	nobody := func(outcome upgrade.Outcome) (upgrade.Outcome, any) {
		if standard == nil && !optional {
			return upgrade.Asked, nil
		}
		return outcome, standard
	}
	if to == 0 {
		if value == nil {
			return "", nil
		}
		return upgrade.Removed, nil
	}
	if value == nil {
		if from > 0 && optional {
			return upgrade.Kept, nil
		}
		return nobody(upgrade.Added)
	}
	if !given && to != 7 {
		if reflect.DeepEqual(standard, value) {
			return upgrade.Kept, value
		}
		return nobody(upgrade.Followed)
	}
	if from == 12 && to != 12 {
		return upgrade.Conflict, nil // a secret never becomes readable
	}
	fits := kind(from) == kind(to)
	if number, is := value.(float64); is && (to == 5 || to == 6) {
		fits = fits && number <= 2
	}
	if word, is := value.(string); is && to == 11 {
		fits = fits && (word == "a" || word == "b")
	}
	if fits {
		return upgrade.Kept, value
	}
	return upgrade.Conflict, value
}
