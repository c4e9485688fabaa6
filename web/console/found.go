package console

import (
	"encoding/json"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/tasks"
	"commander/views/ui"
)

// The words with which an engine compares parts of a cluster with what is wanted.
const (
	partOK      = "ok"
	partAbsent  = "absent"
	partChanged = "changed"
	partGone    = "abandoned"
	partAnew    = "destructively_changed"
	partError   = "error"
)

// found is what matters to a person of what an engine found.
type found struct {
	Configuration string `json:"configuration_status"`
	Cluster       struct {
		Status string `json:"status"`
		Reason string `json:"reason"`
	} `json:"cluster"`
	Nodes []struct {
		Name   string `json:"name"`
		Group  string `json:"group"`
		Status string `json:"status"`
	} `json:"nodes"`
}

// readFound reads the details of a check; false when there is nothing to read.
func readFound(details json.RawMessage) (f found, ok bool) {
	return f, json.Unmarshal(details, &f) == nil && f.Cluster.Status != ""
}

// summary counts the machines that are made anew, deleted, made and changed.
func (f found) summary() []i18n.Message {
	counts := map[string]int{}
	for _, node := range f.Nodes {
		counts[node.Status]++
	}
	var out []i18n.Message
	for _, about := range []struct{ status, key string }{
		{partAnew, "review.recreated"}, {partGone, "review.deleted"}, {partAbsent, "review.made"}, {partChanged, "review.changed"},
	} {
		if n := counts[about.status]; n > 0 {
			out = append(out, i18n.M(about.key, n))
		}
	}
	return out
}

// losses are what is destroyed, a sentence each.
func (f found) losses() []i18n.Message {
	var out []i18n.Message
	switch f.Cluster.Status {
	case partAnew:
		out = append(out, i18n.M("task.loss.base"))
	case partError:
		out = append(out, i18n.M("task.loss.reason", f.Cluster.Reason))
	}
	for _, node := range f.Nodes {
		switch node.Status {
		case partGone:
			out = append(out, i18n.M("task.loss.node_deleted", node.Name, node.Group))
		case partAnew:
			out = append(out, i18n.M("task.loss.node_recreated", node.Name, node.Group))
		}
	}
	return out
}

// differs are all differences between what there is and what is declared, a sentence each.
func (f found) differs() []i18n.Message {
	var out []i18n.Message
	switch f.Cluster.Status {
	case partAbsent:
		out = append(out, i18n.M("drift.base_absent"))
	case partChanged:
		out = append(out, i18n.M("drift.base_changed"))
	case partAnew:
		out = append(out, i18n.M("drift.base_anew"))
	case partError:
		out = append(out, i18n.M("task.loss.reason", f.Cluster.Reason))
	}
	sentences := map[string]string{
		partAbsent: "drift.node_absent", partChanged: "drift.node_changed", partGone: "drift.node_abandoned", partAnew: "drift.node_anew",
	}
	for _, node := range f.Nodes {
		if key, says := sentences[node.Status]; says {
			out = append(out, i18n.M(key, node.Name, node.Group))
		}
	}
	if f.Configuration != "" && f.Configuration != inSync {
		out = append(out, i18n.M("drift.configuration"))
	}
	return out
}

// The statuses of a check, in the engine's words.
const (
	inSync      = "InSync"
	destructive = "DestructiveOutOfSync"
)

// driftOf says in what the desired, the applied and the actual configuration of an installed
// cluster differ; nil when they are the same.
func driftOf(view fleet.ClusterView) *clusters.Drift {
	if !view.WasCreated {
		return nil
	}
	d := clusters.Drift{Desired: view.Revision}
	if view.AppliedRevision != nil {
		d.Applied = *view.AppliedRevision
	}
	if check := view.Found; check != nil && check.Status != inSync {
		d.Status, d.FoundAt = ui.Status{Tone: ui.Warn, Word: i18n.M("drift.status")}, check.FoundAt
		if check.Status == destructive {
			d.Status.Word = i18n.M("drift.status_destructive")
		}
		if f, ok := readFound(check.Details); ok {
			d.Found = f.differs()
		}
		if len(d.Found) == 0 {
			d.Found = []i18n.Message{i18n.M("drift.unknown")}
		}
	}
	if d.FoundAt.IsZero() && d.Desired == d.Applied {
		return nil
	}
	return &d
}

// approval is the destructive change that a task waits with: a sentence for each loss.
func approval(task store.Task, may bool) *tasks.Approval {
	if task.Status != store.TaskWaitingApproval {
		return nil
	}
	a := &tasks.Approval{ChangeID: task.ChangeID, CanApprove: may}
	var result struct {
		CheckResult struct {
			Details json.RawMessage `json:"status_details"`
		} `json:"check_result"`
	}
	if json.Unmarshal(task.Result, &result) == nil {
		if f, ok := readFound(result.CheckResult.Details); ok {
			a.Summary, a.Consequences = f.summary(), f.losses()
		}
	}
	if len(a.Consequences) == 0 { // what cannot be read must not look harmless
		a.Consequences = append(a.Consequences, i18n.M("task.loss.unknown"))
	}
	if len(a.Summary) == 0 {
		a.Summary = append(a.Summary, i18n.M("review.something"))
	}
	return a
}
