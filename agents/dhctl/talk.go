package dhctl

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	pb "commander/agents/dhctl/dhctlpb"
	"commander/agents/dhctl/phases"
)

// Reasons for which an operation's context ends.
var (
	errCancelled = errors.New("cancelled by the caller")
	errGone      = errors.New("the caller went away")
	errSilent    = errors.New(pb.SilentCaller)
)

// message is a request of any operation: one of the fields, or none for a sign of life.
type message[Start any] struct {
	start  *Start
	answer *answer
	cancel bool
}

// answer is a caller's reply to a phase end.
type answer struct {
	kind pb.Continue
	err  string
}

// outcome is what an operation ends with.
type outcome struct {
	state, err string
	json       string // of operations that have a result beside their state
}

// wire turns the words that all conversations share into the messages of one RPC.
type wire[Start any] struct {
	recv     func() (message[Start], error)
	logs     func(*pb.Logs) error
	progress func(*pb.Progress) error
	phaseEnd func(phases.End) error // nil for operations that do not ask between phases
	result   func(outcome) error
}

// talk is a conversation with a caller: one goroutine listens, the operation speaks.
type talk[Start any] struct {
	wire wire[Start]
	log  *slog.Logger
	// hangUp ends the conversation, cancel only the operation.
	hangUp, cancel context.CancelCauseFunc

	mu  sync.Mutex // guards now
	now moment

	say     sync.Mutex // one message at a time
	starts  chan *Start
	answers chan answer
	ended   chan struct{} // closed when the caller closed its side after the result
}

// converse leads one conversation to its end. It returns nil when the caller closed its side
// after the result.
func converse[Start any](ctx context.Context, s *Server, w wire[Start], operate func(context.Context, *talk[Start], *Start) outcome) error {
	ctx, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := &talk[Start]{
		wire: w, log: s.Log, hangUp: hangUp, cancel: cancel, now: initial,
		starts: make(chan *Start, 1), answers: make(chan answer, 1), ended: make(chan struct{}),
	}
	quiet := newSilence(s.Silence, func() { hangUp(errSilent) })
	defer quiet.end()
	go t.listen(quiet)

	var start *Start
	select {
	case start = <-t.starts:
	case <-ctx.Done():
		return ended(ctx)
	}
	out := operate(work, t, start)
	t.move(operated)
	t.say.Lock()
	err := w.result(out)
	t.say.Unlock()
	if err != nil {
		return err
	}
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// listen receives until the caller closes its side or is gone.
func (t *talk[Start]) listen(quiet *silence) {
	for {
		m, err := t.wire.recv()
		if err != nil {
			if errors.Is(err, io.EOF) && t.at() == finished {
				close(t.ended)
				return
			}
			t.hangUp(errGone)
			return
		}
		quiet.heard()
		switch {
		case m.start != nil && t.move(gotStart):
			t.starts <- m.start
		case m.answer != nil && t.move(gotContinue):
			t.answers <- *m.answer
		case m.cancel && t.move(gotCancel):
			t.cancel(errCancelled)
		}
	}
}

// move follows the protocol; false means that the event does not fit and must be ignored.
func (t *talk[Start]) move(e event) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	next, fits := follow[t.now][e]
	if !fits {
		t.log.Warn("message ignored", "event", e, "moment", t.now)
		return false
	}
	t.now = next
	return true
}

func (t *talk[Start]) at() moment {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// line sends lines of the operation's log. An error would be the stream's end, which the
// operation learns from its context.
func (t *talk[Start]) line(text string) {
	t.say.Lock()
	defer t.say.Unlock()
	_ = t.wire.logs(&pb.Logs{Logs: strings.Split(strings.TrimRight(text, "\n"), "\n")})
}

func (t *talk[Start]) caller() phases.Caller {
	return phases.Caller{PhaseEnd: t.phaseEnd, Progress: t.progress}
}

func (t *talk[Start]) progress(p phases.Progress) {
	t.say.Lock()
	defer t.say.Unlock()
	_ = t.wire.progress(progressMessage(p)) // as with line
}

// phaseEnd tells the caller where the operation is and waits for its answer.
func (t *talk[Start]) phaseEnd(ctx context.Context, end phases.End) error {
	if t.wire.phaseEnd == nil {
		return context.Cause(ctx)
	}
	t.move(phaseEnded)
	t.say.Lock()
	err := t.wire.phaseEnd(end)
	t.say.Unlock()
	if err != nil {
		return errGone
	}
	select {
	case a := <-t.answers:
		return a.verdict()
	case <-ctx.Done():
		if cause := context.Cause(ctx); !errors.Is(cause, errCancelled) {
			return cause
		}
		return phases.ErrStop
	}
}

func (a answer) verdict() error {
	switch a.kind {
	case pb.Continue_CONTINUE_NEXT_PHASE:
		return nil
	case pb.Continue_CONTINUE_STOP_OPERATION:
		return phases.ErrStop
	case pb.Continue_CONTINUE_ERROR:
		return errors.New(a.err)
	default:
		return errors.New("the caller's continue said nothing")
	}
}

// silence calls expired when nothing was heard for a time; a time of zero means never.
type silence struct {
	limit time.Duration
	timer *time.Timer
}

func newSilence(limit time.Duration, expired func()) *silence {
	s := &silence{limit: limit}
	if limit > 0 {
		s.timer = time.AfterFunc(limit, expired)
	}
	return s
}

func (s *silence) heard() {
	if s.timer != nil && s.timer.Stop() {
		s.timer.Reset(s.limit)
	}
}

func (s *silence) end() {
	if s.timer != nil {
		s.timer.Stop()
	}
}
