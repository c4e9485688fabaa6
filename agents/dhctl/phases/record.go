package phases

import (
	"encoding/json"
	"fmt"

	"commander/agents/dhctl/state"
)

// recordEntry is where the state keeps which phases are finished.
const recordEntry = "phases.json"

// record says which phases of an operation are finished, in order.
type record struct {
	Operation string     `json:"operation"`
	Done      []finished `json:"done"`
}

// finished is a phase and what its work depended on.
type finished struct {
	Phase string `json:"phase"`
	Input string `json:"input"`
}

// remember reads how far an earlier attempt came and forgets what this one will do again: a
// phase whose input differs, and all that follow it, since its work may undo theirs.
func remember(operation string, steps []Step, cache *state.Cache) (record, error) {
	r := record{Operation: operation}
	raw, err := cache.Read(recordEntry)
	if err != nil {
		return r, err
	}
	var earlier record
	if raw != nil {
		if err := json.Unmarshal(raw, &earlier); err != nil {
			return r, fmt.Errorf("read finished phases: %w", err)
		}
	}
	for i, f := range earlier.Done {
		if earlier.Operation != operation || i >= len(steps) || f != steps[i].finished() || f.Input == "" {
			break
		}
		r.Done = append(r.Done, f)
	}
	return r, r.store(cache)
}

func (r record) store(cache *state.Cache) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write finished phases: %w", err)
	}
	return cache.Write(recordEntry, raw)
}

func (s Step) finished() finished { return finished{Phase: s.Phase, Input: s.Input} }
