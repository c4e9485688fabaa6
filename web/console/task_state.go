package console

import (
	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/tasks"
	"commander/views/ui"
)

var stepStates = map[string]ui.StepState{
	store.PhasePending: ui.StepWaiting,
	store.PhaseRunning: ui.StepRunning,
	store.PhaseDone:    ui.StepDone,
	store.PhaseSkipped: ui.StepSkipped,
	store.PhaseFailed:  ui.StepFailed,
}

// steps are the phases of a task. Where a task was lost, nobody knows that a phase failed.
func steps(task store.Task) []ui.Step {
	lost := fleet.Lost(task)
	state := func(status string) ui.StepState {
		if s := stepStates[status]; s != ui.StepFailed || !lost {
			return s
		}
		return ui.StepLost
	}
	out := make([]ui.Step, 0, len(task.Phases))
	for _, p := range task.Phases {
		step := ui.Step{
			Title: ui.PhaseTitle(p.Name), State: state(p.Status), Started: moment(p.StartedAt),
			Critical: task.PhaseCritical && p.Name == task.Phase,
		}
		if p.StartedAt != nil && p.FinishedAt != nil {
			step.Took = p.FinishedAt.Sub(*p.StartedAt)
		}
		for _, sub := range p.SubPhases {
			part := ui.Step{Title: ui.PhaseTitle(sub.Name), State: state(sub.Status), Started: moment(sub.StartedAt)}
			if sub.StartedAt != nil && sub.FinishedAt != nil {
				part.Took = sub.FinishedAt.Sub(*sub.StartedAt)
			}
			step.Steps = append(step.Steps, part)
		}
		out = append(out, step)
	}
	return out
}

// next says what happens next, in one sentence.
func next(task store.Task) i18n.Message {
	switch {
	case task.Status == store.TaskCancelled && task.StartedAt != nil:
		return i18n.M("task.next.stopped")
	case task.Status != store.TaskRunning:
		return i18n.M("task.next." + string(task.Status))
	case task.StopRequested:
		return i18n.M("task.next.stopping")
	}
	coming := comingPhase(task)
	switch {
	case len(task.Phases) == 0:
		return i18n.M("task.next.starting")
	case coming == "":
		return i18n.M("task.next.last")
	case task.PhaseCritical:
		return i18n.M("task.next.critical", ui.PhaseTitle(coming))
	}
	return i18n.M("task.next.running", ui.PhaseTitle(coming))
}

// comingPhase is the phase after the current one, empty when that is the last.
func comingPhase(task store.Task) string {
	for _, p := range task.Phases {
		if p.Status == store.PhasePending && p.Name != task.Phase {
			return p.Name
		}
	}
	return ""
}

// failure is what went wrong. What Commander itself decided is told in the reader's language;
// anything else is the engine's own words, which have passed the redactor.
func failure(task store.Task) *ui.Notice {
	switch task.Status {
	case store.TaskFailed, store.TaskCancelled:
		n := &ui.Notice{Tone: ui.Bad, Text: i18n.M("task.failure_start"), Detail: task.Error}
		if task.Phase != "" {
			n.Text = i18n.M("task.failure", ui.PhaseTitle(task.Phase))
		}
		if i18n.Has(task.Error) {
			n.Text, n.Detail = i18n.M(task.Error), ""
		}
		if task.Status == store.TaskCancelled {
			n.Tone = ui.Neutral
			if task.Error == "" {
				return nil
			}
		}
		return n
	case store.TaskLost, store.TaskLostInCritical:
		tone := ui.Warn
		if task.Status == store.TaskLostInCritical {
			tone = ui.Bad
		}
		return &ui.Notice{Tone: tone, Text: i18n.M("task.lost"), At: moment(task.HeartbeatAt)}
	}
	return nil
}

// actions are what may be done with a task now. Only the newest task of a cluster can go on.
func actions(task store.Task, newest bool) tasks.Actions {
	var a tasks.Actions
	switch task.Status {
	case store.TaskRunning:
		a.Stop, a.StopNote = !task.StopRequested, i18n.M("task.note.stop")
	case store.TaskQueued:
		a.Stop, a.StopNote = true, i18n.M("task.note.cancel")
	case store.TaskWaitingApproval:
		a.Stop = true
	default:
		a.Retry = newest && fleet.CanBecome(task.Status, store.TaskQueued)
		a.RetryNote = i18n.M("task.note.retry")
		if fleet.Lost(task) {
			a.GiveUp, a.GiveUpNote = true, i18n.M("task.note.give_up")
		}
	}
	return a
}
