package console

import (
	"encoding/json"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/tasks"
)

// decisions put what people did with a task in words.
func decisions(all []fleet.Decision) []tasks.Decision {
	out := make([]tasks.Decision, 0, len(all))
	for _, d := range all {
		out = append(out, tasks.Decision{What: decided(d.Audit), Actor: d.Who, At: d.At})
	}
	return out
}

func decided(a store.Audit) i18n.Message {
	var more struct {
		Attempt int    `json:"attempt"`
		For     string `json:"for"`
	}
	if json.Unmarshal(a.Changes, &more) != nil {
		more.Attempt, more.For = 0, "" // the audit of another version: the deed alone is told
	}
	key := "did." + a.Action
	switch {
	case more.For != "" && i18n.Has(key+"."+more.For):
		return i18n.M(key + "." + more.For)
	case !i18n.Has(key):
		return i18n.Plain(a.Action)
	}
	return i18n.M(key, more.Attempt)
}
