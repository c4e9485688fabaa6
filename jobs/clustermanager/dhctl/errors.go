package dhctl

import (
	"errors"
	"strings"

	pb "commander/agents/dhctl/dhctlpb"
)

// ErrBusy says that another operation holds the cluster; nothing was done.
var ErrBusy = errors.New("another operation holds the cluster")

// ErrSilent says that the engine stopped the operation because it had not heard of us. The state
// beside it is whole.
var ErrSilent = errors.New("the engine heard nothing of its caller")

// Failed is an operation that ended with an error. Its state is in the Result beside it.
type Failed struct {
	// Text is the engine's own, for the log of the task.
	Text string
}

func (e *Failed) Error() string { return e.Text }

// Is makes a busy cluster and a silent caller recognizable.
func (e *Failed) Is(target error) bool {
	switch target {
	case ErrBusy:
		return strings.HasPrefix(e.Text, pb.BusyPrefix)
	case ErrSilent:
		return strings.Contains(e.Text, pb.SilentCaller)
	}
	return false
}

// Lost is a conversation that broke before there was a result: what became of the operation is
// not known, and the last state that was handed over is what to go on from.
type Lost struct{ Cause error }

func (e *Lost) Error() string { return "conversation with dhctl broke: " + e.Cause.Error() }

func (e *Lost) Unwrap() error { return e.Cause }
