package dhctl

import (
	"errors"
	"strings"

	pb "commander/agents/dhctl/dhctlpb"
)

// ErrBusy says that another operation holds the cluster; nothing was done.
var ErrBusy = errors.New("another operation holds the cluster")

// Failed is an operation that ended with an error. Its state is in the Result beside it.
type Failed struct {
	// Text is the engine's own, for the log of the task.
	Text string
}

func (e *Failed) Error() string { return e.Text }

// Is makes a busy cluster recognizable.
func (e *Failed) Is(target error) bool {
	return target == ErrBusy && strings.HasPrefix(e.Text, pb.BusyPrefix)
}

// Lost is a conversation that broke before there was a result: what became of the operation is
// not known, and the last state that was handed over is what to go on from.
type Lost struct{ Cause error }

func (e *Lost) Error() string { return "conversation with dhctl broke: " + e.Cause.Error() }

func (e *Lost) Unwrap() error { return e.Cause }
