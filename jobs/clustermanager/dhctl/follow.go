package dhctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	pb "commander/agents/dhctl/dhctlpb"
)

// Handler is told how an operation goes, by one goroutine. While a call lasts nothing is said to
// the engine, which stops an operation whose caller is silent for too long.
type Handler struct {
	// OnLogs gets whole lines, oldest first.
	OnLogs     func(lines []string)
	OnProgress func(*pb.Progress)
	// OnPhaseEnd must have stored the state when it returns Next. An error ends the operation
	// with that error. Operations without phase ends (Check) never call it.
	OnPhaseEnd func(context.Context, PhaseEnd) (Continue, error)
	// OnAlive is called every AliveEvery while the stream lives. The engine hears a sign of
	// life only when it returns nil: a caller that cannot record that the operation lives
	// should not keep it alive.
	OnAlive func(context.Context) error
	// AliveEvery is ten seconds when it is zero. It must be well below half the lost limit.
	AliveEvery time.Duration
}

// PhaseEnd is where an operation stands between two phases.
type PhaseEnd struct {
	// Completed is empty before the first phase.
	Completed string
	// State is the secret blob that Request.State takes.
	State string
	// Next is empty after the last phase.
	Next string
	// NextCritical says that an interruption of the next phase is dangerous.
	NextCritical bool
}

// Continue is an answer to a phase end.
type Continue int

// Answers to a phase end.
const (
	Next Continue = iota
	Stop          // end here without an error, to go on later
)

// Result is what an operation ended with.
type Result struct {
	// State is the last one, also when there was an error; empty when the conversation broke.
	State string
	// Err is the engine's error, empty on success.
	Err string
	// CheckJSON is the result of a Check or, within "check_result", of a Converge.
	CheckJSON string
	// Stopped says that the operation ended at a phase end because Stop was answered.
	Stopped bool
}

// stopWait is how long a cancelled operation may take to say its last state.
const stopWait = 15 * time.Second

// said is one message of the server, whichever operation it is of.
type said struct {
	logs     *pb.Logs
	progress *pb.Progress
	phaseEnd *PhaseEnd
	result   *Result
}

// words are one operation's messages.
type words struct {
	start, cancel, alive, closeSend func() error
	answer                          func(pb.Continue, string) error
	recv                            func() (said, error)
}

// heard is a message or the error in its place.
type heard struct {
	said
	err error
}

// follow leads a conversation from its start to its result.
func follow(ctx context.Context, h Handler, open func(context.Context) (words, error)) (Result, error) {
	// The stream outlives the caller's context for a moment, to hear the last state.
	stream, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	w, err := open(stream)
	if err != nil {
		hangUp()
		return Result{}, &Lost{err}
	}
	if err := w.start(); err != nil && !errors.Is(err, io.EOF) { // EOF: receiving tells why
		hangUp()
		return Result{}, &Lost{err}
	}
	messages := make(chan heard)
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		for {
			s, err := w.recv()
			select {
			case messages <- heard{s, err}:
			case <-stream.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	defer func() {
		hangUp()
		<-listened
	}()
	return (&follower{Handler: h, words: w}).run(ctx, messages)
}

type follower struct {
	Handler
	words
	stopped bool
}

func (f *follower) run(ctx context.Context, messages <-chan heard) (Result, error) {
	every := f.AliveEvery
	if every == 0 {
		every = 10 * time.Second
	}
	beat := time.NewTicker(every)
	defer beat.Stop()
	cancelled := ctx.Done()
	var impatient <-chan time.Time
	for {
		select {
		case m := <-messages:
			if m.err != nil {
				return Result{}, &Lost{m.err}
			}
			if m.result != nil {
				return f.end(*m.result, messages)
			}
			f.hear(ctx, m.said)
		case <-beat.C:
			if f.OnAlive == nil || f.OnAlive(ctx) == nil {
				_ = f.alive() // a broken stream is heard of by receiving
			}
		case <-cancelled:
			cancelled = nil
			_ = f.cancel() // likewise
			timer := time.NewTimer(stopWait)
			defer timer.Stop()
			impatient = timer.C
		case <-impatient:
			return Result{}, &Lost{context.Cause(ctx)}
		}
	}
}

func (f *follower) hear(ctx context.Context, s said) {
	switch {
	case s.logs != nil && f.OnLogs != nil:
		f.OnLogs(s.logs.GetLogs())
	case s.progress != nil && f.OnProgress != nil:
		f.OnProgress(s.progress)
	case s.phaseEnd != nil:
		// A broken stream is heard of by receiving, so errors of sending are left to that.
		then, err := f.OnPhaseEnd(ctx, *s.phaseEnd)
		switch {
		case err != nil:
			_ = f.answer(pb.Continue_CONTINUE_ERROR, err.Error())
		case then == Stop:
			f.stopped = true
			_ = f.answer(pb.Continue_CONTINUE_STOP_OPERATION, "")
		default:
			_ = f.answer(pb.Continue_CONTINUE_NEXT_PHASE, "")
		}
	}
}

// end closes our side and waits for the server's, so that the operation's process is gone and
// its cluster free when the result is returned.
func (f *follower) end(r Result, messages <-chan heard) (Result, error) {
	_ = f.closeSend()
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	for ended := false; !ended; {
		select {
		case m := <-messages:
			ended = m.err != nil
		case <-timer.C:
			ended = true
		}
	}
	if r.Err != "" {
		return r, &Failed{Text: r.Err}
	}
	r.Stopped = f.stopped
	return r, nil
}

func blob(state map[string][]byte) (string, error) {
	raw, err := json.Marshal(state)
	if err != nil {
		return "", fmt.Errorf("encode state: %w", err)
	}
	return string(raw), nil
}
