package phases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"commander/agents/dhctl/state"
)

// Step is a phase and its work. Work must be safe to repeat: whoever is killed inside a phase
// does the whole phase again.
type Step struct {
	Phase string
	// Input identifies all that the work depends on. An attempt passes over the phases that an
	// earlier attempt finished with the same input; an empty one means that the work is always done.
	Input string
	// Run does the work of a phase without parts.
	Run func(context.Context) error
	// Parts are the sub-phases, in order.
	Parts []Part
	// Skip marks a phase that this kind of cluster does not have.
	Skip bool
	// Critical is asked just before the phase is announced: would an interruption leave
	// something that nobody remembers? Nil means no.
	Critical func() bool
}

// Part is a sub-phase.
type Part struct {
	Name string
	Run  func(context.Context) error
}

func (s Step) units() int     { return max(len(s.Parts), 1) }
func (s Step) critical() bool { return s.Critical != nil && s.Critical() }

// End is what the caller hears between phases: Completed is empty before the first phase,
// Next after the last one.
type End struct {
	Completed    string
	State        map[string][]byte
	Next         string
	NextCritical bool
}

// Caller is whoever asked for the operation.
type Caller struct {
	// PhaseEnd hands over the state and returns when the operation may go on, ErrStop when it
	// is to stop here, and another error when it failed on the caller's side.
	PhaseEnd func(context.Context, End) error
	Progress func(Progress)
}

// ErrStop says that the operation ends here without being at fault.
var ErrStop = errors.New("stopped at a phase end")

// ErrDone is returned by the work of a phase after which the rest is not needed.
var ErrDone = errors.New("nothing more to do")

// Run takes an operation through its steps, passing over those that the state remembers as
// finished; on success it is forgotten which were. Run returns nil, ErrStop, or what went wrong
// with the phase's name before it.
func Run(ctx context.Context, operation string, steps []Step, cache *state.Cache, caller Caller) error {
	r := &run{caller: caller, cache: cache, track: newTracker(operation, steps, caller.Progress)}
	rest := slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Skip })
	var err error
	if r.record, err = remember(operation, rest, cache); err != nil {
		return err
	}
	completed := ""
	for range r.record.Done {
		completed = rest[0].Phase
		r.track.done += rest[0].units()
		rest = rest[1:]
	}
	for {
		if err := r.between(ctx, completed, rest); err != nil {
			return err
		}
		if len(rest) == 0 {
			break
		}
		step := rest[0]
		rest = rest[1:]
		err := r.step(ctx, completed, step, rest)
		if errors.Is(err, ErrDone) {
			rest = nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", step.Phase, err)
		}
		completed = step.Phase
		r.record.Done = append(r.record.Done, step.finished())
		if err := r.record.store(cache); err != nil {
			return err
		}
	}
	if err := cache.Delete(recordEntry); err != nil {
		return err
	}
	r.track.finish(completed)
	return nil
}

type run struct {
	caller Caller
	cache  *state.Cache
	track  *tracker
	record record
}

// between hands over the state and waits.
func (r *run) between(ctx context.Context, completed string, rest []Step) error {
	snapshot, err := r.cache.Snapshot()
	if err != nil {
		return err
	}
	end := End{Completed: completed, State: snapshot}
	if len(rest) > 0 {
		end.Next, end.NextCritical = rest[0].Phase, rest[0].critical()
	}
	return r.caller.PhaseEnd(ctx, end)
}

func (r *run) step(ctx context.Context, completed string, s Step, rest []Step) error {
	at := Progress{CompletedPhase: completed, CurrentPhase: s.Phase}
	if len(rest) > 0 {
		at.NextPhase = rest[0].Phase
	}
	if len(s.Parts) == 0 {
		r.track.at(at)
		if err := s.Run(ctx); err != nil {
			return err
		}
		r.track.done++
		return ctx.Err()
	}
	for i, part := range s.Parts {
		at.CurrentSub, at.NextSub = part.Name, ""
		if i+1 < len(s.Parts) {
			at.NextSub = s.Parts[i+1].Name
		}
		r.track.at(at)
		if err := part.Run(ctx); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r.track.done++
		at.CompletedSub = part.Name
	}
	return nil
}
