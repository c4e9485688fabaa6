package phases

import (
	"encoding/json"
	"fmt"
)

// recordEntry is where the state keeps which phases are finished.
const recordEntry = "phases.json"

// record says which phases of which request are finished.
type record struct {
	Operation string   `json:"operation"`
	Input     string   `json:"input"`
	Done      []string `json:"done"`
}

// remember reads the record and keeps it if it is about the same request.
func (r *run) remember(operation, input string) error {
	r.record = record{Operation: operation, Input: input}
	raw, err := r.cache.Read(recordEntry)
	if err != nil || raw == nil {
		return err
	}
	var earlier record
	if err := json.Unmarshal(raw, &earlier); err != nil {
		return fmt.Errorf("read finished phases: %w", err)
	}
	if earlier.Operation != operation || earlier.Input != input {
		// What this request is about to do may undo what the other one finished.
		return r.cache.Delete(recordEntry)
	}
	r.record.Done = earlier.Done
	return nil
}

// finished writes down that a phase is done.
func (r *run) finished(phase string) error {
	if r.record.Input == "" {
		return nil
	}
	r.record.Done = append(r.record.Done, phase)
	raw, err := json.Marshal(r.record)
	if err != nil {
		return fmt.Errorf("write finished phases: %w", err)
	}
	return r.cache.Write(recordEntry, raw)
}
