package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// MarkClusters notes the same about the chosen clusters of a list, and comes back to it. Those that
// could not be marked stay chosen, with the reason of each.
func (c *Console) MarkClusters(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	query := paths.ReadHere(r.PostForm.Get(clusters.FieldQuery))
	typed := r.PostForm.Get(clusters.FieldLabels)
	picked := r.PostForm[clusters.FieldPicked]
	marks, err := marksOf(r.PostForm.Get(clusters.FieldAction), typed)
	changed := 0
	var left []fleet.Refusal
	if err == nil {
		changed, left, err = c.Fleet.MarkClusters(r.Context(), actor(r), workspace.ID, idsOf(picked), marks)
	}
	refusal, is := refused(err)
	switch {
	case err != nil && !is:
		return err
	case err == nil && len(left) == 0:
		return respond.SeeOther(w, r, paths.ClusterListChanged(workspace.Slug, query, changed))
	}
	status := http.StatusConflict
	if is {
		status = respond.Status(refusal)
	}
	return c.clusterList(w, r, status, workspace, query, func(list *clusters.List) {
		list.Bulk.Typed, list.Bulk.Changed, list.Bulk.Picked = typed, changed, map[string]bool{}
		if is {
			list.Bulk.Problem = i18n.Message(refusal.Fields[fleet.LabelsField])
			if list.Bulk.Problem.IsZero() {
				list.Bulk.Problem = respond.Message(refusal)
			}
			for _, one := range picked {
				list.Bulk.Picked[one] = true
			}
		}
		for _, l := range left {
			list.Bulk.Picked[l.ID.String()] = true
			list.Bulk.Refused = append(list.Bulk.Refused, clusters.Refused{Name: l.Name, Why: firstReason(l.Why)})
		}
	})
}

// firstReason is the sentence of a fault that says most.
func firstReason(why *fault.Error) i18n.Message {
	for _, problem := range why.Fields {
		return i18n.Message(problem)
	}
	return respond.Message(why)
}

// marksOf reads what a button of the form and the field beside it mean.
func marksOf(action, typed string) (fleet.Marks, error) {
	locked := action == clusters.ActionLock
	switch action {
	case clusters.ActionLock, clusters.ActionUnlock:
		return fleet.Marks{Locked: &locked}, nil
	case clusters.ActionSet:
		labels, err := fleet.ParseLabels(typed)
		if err == nil && len(labels) == 0 {
			err = noLabels()
		}
		return fleet.Marks{Set: labels}, err
	case clusters.ActionRemove:
		var keys []string
		for _, word := range strings.FieldsFunc(typed, func(c rune) bool { return strings.ContainsRune(" ,\t\r\n", c) }) {
			key, _, _ := strings.Cut(word, "=")
			keys = append(keys, key)
		}
		if len(keys) == 0 {
			return fleet.Marks{}, noLabels()
		}
		return fleet.Marks{Remove: keys}, nil
	}
	return fleet.Marks{}, fault.New(fault.Invalid, "fault.form")
}

func noLabels() error {
	return fault.Fields(map[string]fault.Message{fleet.LabelsField: {Key: "bulk.none"}})
}

// idsOf reads ids, each once; what is no id names nothing that could be marked.
func idsOf(texts []string) []uuid.UUID {
	var ids []uuid.UUID
	for _, text := range texts {
		if id, err := uuid.Parse(text); err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
