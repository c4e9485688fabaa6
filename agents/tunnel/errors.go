package tunnel

import "errors"

var (
	// ErrTooManyStreams says that a session holds as many streams as it may.
	ErrTooManyStreams = errors.New("too many streams in the tunnel")
	// ErrSessionClosed is the cause of errors after the own end closed the session.
	ErrSessionClosed = errors.New("tunnel closed")
)

// ResetError is what readers and writers of a stream get after the other end reset it.
type ResetError struct {
	Reason string // the other end's words
}

func (e *ResetError) Error() string {
	if e.Reason == "" {
		return "stream was reset by the other end"
	}
	return "stream was reset by the other end: " + e.Reason
}

// violation is a breach of the protocol by the other end.
type violation struct{ error }

func (v violation) Unwrap() error { return v.error }
