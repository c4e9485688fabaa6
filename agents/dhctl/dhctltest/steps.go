package dhctltest

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// Step is a thing that the server does in its script.
type Step func(*scene) error

// errOver ends a script early without an error of the call.
var errOver = errors.New("the script is over")

// Log sends lines.
func Log(lines ...string) Step {
	return func(s *scene) error { return s.say(saying{logs: &pb.Logs{Logs: lines}}) }
}

// Progress sends a share of the work that is done, and the phase at work.
func Progress(share float64, phase string) Step {
	return Overview(&pb.Progress{Progress: share, CurrentPhase: phase})
}

// Overview sends a whole progress message.
func Overview(p *pb.Progress) Step {
	return func(s *scene) error { return s.say(saying{progress: p}) }
}

// Ending is a phase end.
type Ending struct {
	Completed, Next string
	Critical        bool
	State           map[string][]byte
}

// PhaseEnd sends a phase end and waits for the answer. An answer other than to go on ends the
// script as the real server would: with the state, and the caller's error if it gave one. In an
// operation without phase ends it does nothing.
func PhaseEnd(e Ending) Step {
	return func(s *scene) error {
		if !s.asks {
			return nil
		}
		if err := s.say(saying{end: &e}); err != nil {
			return err
		}
		a, err := s.answer()
		if err != nil {
			return err
		}
		last := Outcome{State: encode(e.State)}
		switch a.kind {
		case pb.Continue_CONTINUE_NEXT_PHASE:
			return nil
		case pb.Continue_CONTINUE_STOP_OPERATION:
		case pb.Continue_CONTINUE_ERROR:
			last.Err = a.text
		default:
			last.Err = "the caller's continue said nothing"
		}
		return errors.Join(s.say(saying{outcome: &last}), errOver)
	}
}

// Outcome is a result; JSON is for operations that have one.
type Outcome struct{ State, Err, JSON string }

// Result sends the result.
func Result(o Outcome) Step {
	return func(s *scene) error { return s.say(saying{outcome: &o}) }
}

// Stall says nothing until the caller cancels or is gone. After a cancel the script goes on.
func Stall() Step {
	return func(s *scene) error {
		select {
		case <-s.cancelled:
			return nil
		case <-s.ctx.Done():
			return errOver
		}
	}
}

// Until holds the script until a channel is closed.
func Until(open <-chan struct{}) Step {
	return func(s *scene) error {
		select {
		case <-open:
			return nil
		case <-s.ctx.Done():
			return errOver
		}
	}
}

// Do lets the test do something of its own.
func Do(something func()) Step {
	return func(*scene) error {
		something()
		return nil
	}
}

// Die breaks the conversation as the death of the engine's process does.
func Die() Step {
	return func(*scene) error { return status.Error(codes.Unavailable, "the process died") }
}
