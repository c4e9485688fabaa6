package upgradetest

import (
	"fmt"
	"reflect"

	"commander/fleet/upgrade"
)

// Expected is what must become of one parameter.
type Expected struct {
	Outcome upgrade.Outcome // empty when the parameter is in neither version
	// Value is what the cluster has afterwards.
	Value any
}

// Expected asks the oracle about each parameter.
func (c Case) Expected() [Keys]Expected {
	var out [Keys]Expected
	for k := range Keys {
		out[k].Outcome, out[k].Value = oracle(c.from[k], c.to[k], c.Input.Values[keyOf(k)], c.given[k])
	}
	return out
}

// Check compares a merge of the case with what the oracle says, and with what a save of it says. It
// fails with the first parameter that differs.
func (c Case) Check(got upgrade.Result, expected [Keys]Expected) error {
	items := map[string]upgrade.Item{}
	for _, item := range got.Items {
		items[item.Key] = item
	}
	effective := map[string]any{}
	for _, f := range c.Input.New.Fields() {
		value, has := got.Values[f.Key]
		if !has {
			value, _ = f.Absent()
		}
		effective[f.Key] = value
	}
	for k, want := range expected {
		key := keyOf(k)
		move := fmt.Sprintf("%s from %q to %q with %v (given %v)", key, variants[c.from[k]], variants[c.to[k]], c.Input.Values[key], c.given[k])
		if items[key].Outcome != want.Outcome {
			return fmt.Errorf("%s: got %q, want %q", move, items[key].Outcome, want.Outcome)
		}
		dropped := want.Outcome == upgrade.Conflict && want.Value == nil
		if saved, has := got.Values[key]; dropped && has {
			return fmt.Errorf("%s: %v is carried over", move, saved)
		}
		if want.Outcome != upgrade.Asked && c.to[k] > 0 && !dropped && !reflect.DeepEqual(effective[key], want.Value) {
			return fmt.Errorf("%s: got value %v, want %v", move, effective[key], want.Value)
		}
	}
	return c.checkSave(got)
}

// checkSave compares what a merge says with what saving its values would say.
func (c Case) checkSave(got upgrade.Result) error {
	_, problems := c.Input.New.Check(got.Values, c.Input.Values)
	for _, item := range got.Items {
		problem := problems[item.Key].Key
		switch item.Outcome {
		case upgrade.Removed, upgrade.Conflict:
		case upgrade.Asked:
			if problem != "parameter.required" {
				return fmt.Errorf("%s is asked for, and a save says %q", item.Key, problem)
			}
		default:
			if problem != "" {
				return fmt.Errorf("%s is %s, and a save says %q", item.Key, item.Outcome, problem)
			}
		}
	}
	return nil
}
