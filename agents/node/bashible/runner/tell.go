package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"commander/agents/node/api"
)

// Reasons of events.
const (
	eventStepFailed = "BashibleStepFailed"
	eventUpdate     = "BashibleNodeUpdate"
	eventAction     = "BashibleStepExecution"
)

// noteMost is how much of a step's log an event holds, in bytes.
const noteMost = 500

// event tells what happens. Nothing depends on it, so that a failure is only logged.
func (r *Run) event(ctx context.Context, kind, reason, note string) {
	note = note[max(0, len(note)-noteMost):]
	now := r.clock.Now().UTC()
	// The UID is the node's name, as kubelet writes it: by that kubectl finds the events of a node.
	body, err := json.Marshal(map[string]any{
		"apiVersion": "events.k8s.io/v1", "kind": "Event",
		"metadata":  map[string]any{"generateName": "bashible-" + r.node + "-", "namespace": "default"},
		"regarding": map[string]any{"apiVersion": "v1", "kind": "Node", "name": r.node, "uid": r.node},
		"type":      kind, "reason": reason, "note": note, "action": eventAction,
		"reportingController": "bashible", "reportingInstance": r.node,
		"eventTime": now.Format("2006-01-02T15:04:05.000000Z"),
	})
	if err == nil {
		err = r.kube.Do(ctx, http.MethodPost, "/apis/events.k8s.io/v1/namespaces/default/events", "application/json", body, nil)
	}
	if err != nil {
		r.log.Warn("event is not recorded", "reason", reason, "error", err)
	}
}

// condition is one of an Instance's status.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Since   string `json:"lastTransitionTime"`
}

// tell sets a condition of the machine's Instance to true or false.
func (r *Run) tell(ctx context.Context, kind string, is bool, reason, message string) {
	status := "False"
	if is {
		status = "True"
	}
	r.tellStatus(ctx, kind, status, reason, message)
}

// tellStatus applies the condition with all that were told before: what a manager no longer
// applies is removed. A machine without an Instance is told nothing about.
func (r *Run) tellStatus(ctx context.Context, kind, status, reason, message string) {
	known := map[string]condition{}
	if text := r.read(conditionsFile); text != "" {
		_ = json.Unmarshal([]byte(text), &known) // an unreadable file is told anew
	}
	next := condition{kind, status, reason, message, r.clock.Now().UTC().Format(time.RFC3339)}
	if before := known[kind]; before.Status == status {
		next.Since = before.Since
	}
	known[kind] = next
	conditions := []condition{}
	for _, kind := range []string{api.ConditionBashibleReady, api.ConditionWaitingApproval, api.ConditionWaitingDisruptionApproval} {
		if c, is := known[kind]; is {
			conditions = append(conditions, c)
		}
	}
	if err := r.applyConditions(ctx, conditions); err != nil && !isStatus(err, http.StatusNotFound) {
		r.log.Warn("condition is not recorded", "type", kind, "error", err)
	}
	text, err := json.Marshal(known)
	if err == nil {
		err = r.write(conditionsFile, text, 0o600)
	}
	if err != nil {
		r.log.Warn("condition is not kept", "type", kind, "error", err)
	}
}

func (r *Run) applyConditions(ctx context.Context, conditions []condition) error {
	name := r.read(machineFile)
	if name == "" {
		name = r.node
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "deckhouse.io/v1alpha2", "kind": "Instance", "metadata": map[string]any{"name": name},
		"status": map[string]any{"conditions": conditions},
	})
	if err != nil {
		return fmt.Errorf("write conditions: %w", err)
	}
	path := "/apis/deckhouse.io/v1alpha2/instances/" + name + "/status?fieldManager=bashible&force=true"
	return r.kube.Do(ctx, http.MethodPatch, path, "application/apply-patch+yaml", body, nil)
}
