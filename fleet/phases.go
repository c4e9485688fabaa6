package fleet

import (
	"slices"
	"time"

	"commander/store"
)

// Progress is where an engine says an operation is.
type Progress struct {
	// Fraction is from 0 to 1.
	Fraction             float64
	Current, CurrentSub  string
	Completed, Completes string // the phase and sub-phase that ended last
	// Plan lists all phases in their order; empty when the engine did not tell it again.
	Plan []PlannedPhase
}

// PlannedPhase is a phase as announced.
type PlannedPhase struct {
	Name      string
	SubPhases []string
	Skip      bool
}

// follow brings the phases that people see up to what the engine says. Phases that are done stay
// done: a later attempt may announce them again.
func follow(phases store.Phases, p Progress, now time.Time) store.Phases {
	out := planned(phases, p.Plan)
	current := slices.IndexFunc(out, func(x store.Phase) bool { return x.Name == p.Current })
	completed := slices.IndexFunc(out, func(x store.Phase) bool { return x.Name == p.Completed })
	for i := range out {
		phase := &out[i]
		switch {
		case phase.Status == store.PhaseSkipped || phase.Status == store.PhaseDone:
		case i <= completed || (current >= 0 && i < current):
			finish(phase, store.PhaseDone, now)
		case i == current:
			begin(phase, p, now)
		}
	}
	return out
}

// planned merges the announced phases with what is known of them.
func planned(known store.Phases, plan []PlannedPhase) store.Phases {
	if len(plan) == 0 {
		return slices.Clone(known)
	}
	out := make(store.Phases, 0, len(plan))
	for _, announced := range plan {
		phase := store.Phase{Name: announced.Name, Status: store.PhasePending}
		if i := slices.IndexFunc(known, func(x store.Phase) bool { return x.Name == announced.Name }); i >= 0 {
			phase = known[i]
		}
		if announced.Skip && phase.Status == store.PhasePending {
			phase.Status = store.PhaseSkipped
		}
		if len(phase.SubPhases) == 0 {
			for _, name := range announced.SubPhases {
				phase.SubPhases = append(phase.SubPhases, store.SubPhase{Name: name, Status: store.PhasePending})
			}
		}
		out = append(out, phase)
	}
	return out
}

func begin(phase *store.Phase, p Progress, now time.Time) {
	if phase.Status != store.PhaseRunning {
		phase.Status, phase.StartedAt, phase.FinishedAt = store.PhaseRunning, &now, nil
	}
	phase.SubPhases = slices.Clone(phase.SubPhases)
	running := slices.IndexFunc(phase.SubPhases, func(s store.SubPhase) bool { return s.Name == p.CurrentSub })
	ended := slices.IndexFunc(phase.SubPhases, func(s store.SubPhase) bool { return s.Name == p.Completes })
	for i := range phase.SubPhases {
		sub := &phase.SubPhases[i]
		switch {
		case sub.Status == store.PhaseDone:
		case i <= ended || (running >= 0 && i < running):
			finishSub(sub, store.PhaseDone, now)
		case i == running && sub.Status != store.PhaseRunning:
			sub.Status, sub.StartedAt, sub.FinishedAt = store.PhaseRunning, &now, nil
		}
	}
}

func finishSub(sub *store.SubPhase, status string, now time.Time) {
	if sub.StartedAt == nil {
		sub.StartedAt = &now
	}
	sub.Status, sub.FinishedAt = status, &now
}

func finish(phase *store.Phase, status string, now time.Time) {
	if phase.StartedAt == nil {
		phase.StartedAt = &now
	}
	phase.Status, phase.FinishedAt = status, &now
	phase.SubPhases = slices.Clone(phase.SubPhases)
	for i := range phase.SubPhases {
		sub := &phase.SubPhases[i]
		if sub.Status != store.PhaseDone && (status == store.PhaseDone || sub.Status == store.PhaseRunning) {
			finishSub(sub, status, now)
		}
	}
}

// conclude marks how the phases ended: a success finishes what ran and leaves out what never
// began, anything else marks the phase in which it happened.
func conclude(phases store.Phases, succeeded bool, now time.Time) store.Phases {
	out := slices.Clone(phases)
	for i := range out {
		switch {
		case out[i].Status == store.PhaseRunning && succeeded:
			finish(&out[i], store.PhaseDone, now)
		case out[i].Status == store.PhaseRunning:
			finish(&out[i], store.PhaseFailed, now)
		case out[i].Status == store.PhasePending && succeeded:
			out[i].Status = store.PhaseSkipped
		}
	}
	return out
}

// again opens what a new attempt has to do: everything that is not done.
func again(phases store.Phases) store.Phases {
	out := slices.Clone(phases)
	for i := range out {
		if out[i].Status == store.PhaseFailed || out[i].Status == store.PhaseRunning {
			out[i].Status, out[i].StartedAt, out[i].FinishedAt = store.PhasePending, nil, nil
			out[i].SubPhases = slices.Clone(out[i].SubPhases)
			for j := range out[i].SubPhases {
				out[i].SubPhases[j] = store.SubPhase{Name: out[i].SubPhases[j].Name, Status: store.PhasePending}
			}
		}
	}
	return out
}
