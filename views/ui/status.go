// Package ui holds the pieces that pages are made of: each knows how it looks in every state
// and nothing about what it is used for.
package ui

import (
	"time"

	"commander/views/i18n"
)

// Tone says how a thing is doing; shape and colour follow from it.
type Tone string

// The tones, from nothing to say to a person being needed.
const (
	Neutral Tone = "neutral"
	Busy    Tone = "busy"
	Good    Tone = "good"
	Warn    Tone = "warn"
	Bad     Tone = "bad"
)

// Status is a chip: a tone and the word for it.
type Status struct {
	Tone Tone
	Word i18n.Message
}

// Agent is how long ago a cluster's agent was heard; the zero time means never.
type Agent struct {
	Tone Tone
	Seen time.Time
}

// ClusterStatus gives the chip of a cluster's infrastructure status.
func ClusterStatus(code string) Status { return lookUp(clusterTones, "cluster.status.", code) }

// ConfigurationStatus gives the chip of what the agent says about Kubernetes objects.
func ConfigurationStatus(code string) Status {
	return lookUp(configurationTones, "configuration.status.", code)
}

// TaskStatus gives the chip of a task.
func TaskStatus(code string) Status { return lookUp(taskTones, "task.status.", code) }

// NodeStatus gives the chip of a node.
func NodeStatus(code string) Status { return lookUp(nodeTones, "node.status.", code) }

// ObjectStatus gives the chip of one Kubernetes object that the agent applies.
func ObjectStatus(code string) Status { return lookUp(objectTones, "object.status.", code) }

// TaskKind names what a task does: bootstrap, converge, check, destroy, attach, detach, abort.
func TaskKind(kind string) i18n.Message { return i18n.M("task.kind." + kind) }

// Silent limits of an agent's dot: it reports every few seconds, so minutes of silence are a
// warning and a quarter of an hour is a fault.
const (
	agentLate = time.Minute
	agentLost = 15 * time.Minute
)

// AgentSeen gives the dot of an agent by the age of its last report.
func AgentSeen(seen, now time.Time) Agent {
	switch age := now.Sub(seen); {
	case seen.IsZero():
		return Agent{Tone: Neutral}
	case age < agentLate:
		return Agent{Tone: Good, Seen: seen}
	case age < agentLost:
		return Agent{Tone: Warn, Seen: seen}
	default:
		return Agent{Tone: Bad, Seen: seen}
	}
}

func lookUp(tones map[string]Tone, prefix, code string) Status {
	tone, ok := tones[code]
	if !ok {
		return Status{Tone: Neutral, Word: i18n.M("status.unknown")}
	}
	return Status{Tone: tone, Word: i18n.M(prefix + code)}
}

var clusterTones = map[string]Tone{
	"new":                     Neutral,
	"configuration_error":     Bad,
	"creating":                Busy,
	"creation_failed":         Bad,
	"in_sync":                 Good,
	"updating":                Busy,
	"synchronization_failure": Bad,
	"pending_changes":         Warn,
	"destructive_changes":     Warn,
	"ready_to_join":           Warn,
	"joining":                 Busy,
	"detaching":               Busy,
	"detached":                Neutral,
	"pending_deletion":        Warn,
	"delete":                  Busy,
	"deletion_failed":         Bad,
	"deleted":                 Neutral,
	"archived":                Neutral,
	"unknown":                 Neutral,
}

var configurationTones = map[string]Tone{
	"no_data":        Neutral,
	"applying":       Busy,
	"configured":     Good,
	"not_configured": Warn,
}

var taskTones = map[string]Tone{
	"queued":           Neutral,
	"running":          Busy,
	"stopping":         Busy,
	"waiting_approval": Warn,
	"succeeded":        Good,
	"failed":           Bad,
	"cancelled":        Neutral,
	"lost":             Warn,
	"lost_in_critical": Bad,
}

var nodeTones = map[string]Tone{
	"ready":           Good,
	"not_ready":       Bad,
	"joining":         Busy,
	"updating":        Busy,
	"draining":        Neutral,
	"approval_needed": Warn,
	"fenced":          Bad,
}

var objectTones = map[string]Tone{
	"waiting": Neutral,
	"applied": Good,
	"failed":  Bad,
	"drifted": Warn,
	"removed": Neutral,
}
