package ui

import (
	"time"

	"commander/views/i18n"
)

// StepState is how far a step has come.
type StepState string

// The states of a step.
const (
	StepWaiting StepState = "waiting"
	StepRunning StepState = "running"
	StepDone    StepState = "done"
	StepFailed  StepState = "failed"
	StepSkipped StepState = "skipped"
	StepLost    StepState = "lost"
)

// Step is one line of a vertical course of events.
type Step struct {
	Title    i18n.Message // Plain for titles that come already translated
	State    StepState
	Started  time.Time     // counts up while the step runs
	Took     time.Duration // of a finished step
	Critical bool          // must not be interrupted
	Steps    []Step        // sub-steps, without times of their own when zero
}

// PhaseTitle is the title of a phase or sub-phase known by its name alone.
func PhaseTitle(name string) i18n.Message {
	if !i18n.Has("phase." + name) {
		return i18n.Plain(name)
	}
	return i18n.M("phase." + name)
}

// Line is a line of a log.
type Line struct {
	N     int // from 1, without gaps
	At    time.Time
	Text  string
	Error bool // a place that "jump to first error" leads to
}

// DiffLine is a line of a comparison: ' ' in both, '-' only before, '+' only after, and '…' for
// a run of equal lines left out.
type DiffLine struct {
	Mark rune
	Text string
}
