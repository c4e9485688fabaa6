package dhctltest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// saying is one message to the caller.
type saying struct {
	logs     *pb.Logs
	progress *pb.Progress
	end      *Ending
	outcome  *Outcome
}

// hearing is one message of the caller; all nil is a sign of life.
type hearing struct {
	start  *Start
	reply  *reply
	cancel bool
}

type reply struct {
	kind pb.Continue
	text string
}

// scene is one operation being played.
type scene struct {
	ctx       context.Context
	server    *Server
	asks      bool // the operation has phase ends
	say       func(saying) error
	started   chan Start
	cancelled chan struct{}
	closed    chan struct{}
	replies   chan reply
}

// play plays the next script and returns when the caller closed its side.
func (s *Server) play(ctx context.Context, asks bool, hear func() (hearing, error), say func(saying) error) error {
	c := &scene{
		ctx: ctx, server: s, asks: asks, say: say,
		started: make(chan Start, 1), cancelled: make(chan struct{}), closed: make(chan struct{}),
		replies: make(chan reply, 16),
	}
	go c.listen(hear) // ends with the call
	var start Start
	select {
	case start = <-c.started:
	case <-ctx.Done():
		return ctx.Err()
	}
	steps, ok := s.script(start)
	if !ok {
		return status.Error(codes.FailedPrecondition, "there is no script for this operation")
	}
	for _, step := range steps {
		if err := step(c); errors.Is(err, errOver) {
			break
		} else if err != nil {
			return err
		}
	}
	select {
	case <-c.closed:
	case <-ctx.Done():
	}
	return nil
}

func (c *scene) listen(hear func() (hearing, error)) {
	var start, cancel sync.Once
	for {
		h, err := hear()
		if errors.Is(err, io.EOF) {
			close(c.closed)
		}
		if err != nil {
			return
		}
		switch {
		case h.start != nil:
			c.server.note(func(all *Heard) { all.Starts = append(all.Starts, *h.start) })
			start.Do(func() { c.started <- *h.start })
		case h.reply != nil:
			c.server.note(func(all *Heard) {
				all.Continues = append(all.Continues, h.reply.kind)
				all.Reasons = append(all.Reasons, h.reply.text)
			})
			select {
			case c.replies <- *h.reply:
			default: // nobody waits for so many
			}
		case h.cancel:
			c.server.note(func(all *Heard) { all.Cancels++ })
			cancel.Do(func() { close(c.cancelled) })
		default:
			c.server.note(func(all *Heard) { all.Alive++ })
		}
	}
}

// answer waits for a reply; a cancel or the end of the call ends the script.
func (c *scene) answer() (reply, error) {
	select {
	case r := <-c.replies:
		return r, nil
	case <-c.cancelled:
		return reply{kind: pb.Continue_CONTINUE_STOP_OPERATION}, nil
	case <-c.ctx.Done():
		return reply{}, errOver
	}
}

func encode(state map[string][]byte) string {
	raw, err := json.Marshal(state)
	if err != nil {
		panic(err) // maps of bytes always encode
	}
	return string(raw)
}
