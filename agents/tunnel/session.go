package tunnel

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Options bound a session. Zero values mean the defaults.
type Options struct {
	// MaxStreams bounds the streams opened by each end; 512 by default.
	MaxStreams int
	// Window is how many bytes a stream may hold unread, at least InitialWindow; 256 KiB by default.
	Window int
	// PingEvery is the pause between two pings; 15 s by default, which keeps a connection alive in
	// load balancers that cut silent ones after 30 s or more.
	PingEvery time.Duration
	// SilenceLimit is after what silence of the other end the session is dead; 40 s by default.
	SilenceLimit time.Duration
	// WriteLimit is how long one message may take to be written; 20 s by default.
	WriteLimit time.Duration
}

func (o Options) withDefaults() Options {
	or := func(v *time.Duration, d time.Duration) {
		if *v <= 0 {
			*v = d
		}
	}
	or(&o.PingEvery, 15*time.Second)
	or(&o.SilenceLimit, 40*time.Second)
	or(&o.WriteLimit, 20*time.Second)
	if o.MaxStreams <= 0 {
		o.MaxStreams = 512
	}
	if o.Window <= 0 {
		o.Window = 256 << 10
	}
	o.Window = min(max(o.Window, InitialWindow), maxWindow)
	return o
}

// Session is one end of a tunnel. It owns the WebSocket and two goroutines, which end with it.
type Session struct {
	ws      *websocket.Conn
	options Options

	accepted chan *Stream
	done     chan struct{}
	owned    sync.WaitGroup

	wire chan struct{} // held (a token in it) by whoever writes a message; waiters queue in order
	wake chan struct{} // tells the flusher that pending is not empty

	mu        sync.Mutex // protects what follows; taken after a stream's lock, never before
	err       error
	streams   map[uint32]*Stream
	opened    [2]int    // streams held, by parity of id
	lastID    [2]uint32 // largest id so far, by parity
	pending   []frame   // small frames that wait for the wire
	overrun   bool      // pending was full once
	pong      *string   // answer owed to a ping
	ownParity uint32
}

// Client makes the end that dialed the WebSocket.
func Client(ws *websocket.Conn, o Options) *Session { return start(ws, o, 1) }

// Server makes the end that accepted the WebSocket.
func Server(ws *websocket.Conn, o Options) *Session { return start(ws, o, 0) }

func start(ws *websocket.Conn, o Options, parity uint32) *Session {
	o = o.withDefaults()
	s := &Session{
		ws: ws, options: o, ownParity: parity,
		accepted: make(chan *Stream, o.MaxStreams),
		done:     make(chan struct{}),
		wire:     make(chan struct{}, 1),
		wake:     make(chan struct{}, 1),
		streams:  map[uint32]*Stream{},
	}
	s.owned.Go(s.read)
	s.owned.Go(s.flush)
	return s
}

// Open begins a stream to a target of the other end. It does not wait for the other end to take
// it: a refusal shows as a ResetError at the first read or write.
func (s *Session) Open(ctx context.Context, target string) (*Stream, error) {
	if len(target) == 0 || len(target) > maxTarget {
		return nil, fmt.Errorf("open stream: target name of %d bytes", len(target))
	}
	// The id is taken while the wire is held, because ids must rise on the wire.
	if err := s.takeWire(ctx.Done()); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("open stream: %w", err)
	}
	defer s.freeWire()
	st, err := s.addOwn(target)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	if err := s.write(frame{frameOpen, st.id, []byte(target)}); err != nil {
		s.end(err)
		return nil, fmt.Errorf("open stream: %w", s.Err())
	}
	return st, nil
}

func (s *Session) addOwn(target string) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.ownParity
	id := s.lastID[p] + 2
	switch {
	case s.err != nil:
		return nil, s.err
	case s.opened[p] >= s.options.MaxStreams:
		return nil, ErrTooManyStreams
	case s.lastID[p] == 0:
		id = 2 - p
	case id < s.lastID[p]:
		return nil, errors.New("the session has no more stream ids")
	}
	return s.addLocked(id, target), nil
}

func (s *Session) addLocked(id uint32, target string) *Stream {
	st := newStream(s, id, target)
	s.streams[id] = st
	s.lastID[id%2] = id
	s.opened[id%2]++
	return st
}

// Accept waits for a stream that the other end opens.
func (s *Session) Accept(ctx context.Context) (*Stream, error) {
	select {
	case st := <-s.accepted:
		return st, nil
	case <-s.done:
		return nil, s.Err()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Streams tells how many streams the session holds.
func (s *Session) Streams() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

// Done is closed when the session is over.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err says why the session is over: nil while it is not, and an error that wraps a
// *websocket.CloseError if the other end said goodbye.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close says goodbye with a WebSocket close code and a reason of at most 123 bytes, ends all
// streams with ErrSessionClosed, and waits for the session's goroutines.
func (s *Session) Close(code int, reason string) {
	s.finish(ErrSessionClosed, code, reason)
	s.owned.Wait()
}

// end closes the session because of an error; a violation is told to the other end.
func (s *Session) end(err error) {
	var v violation
	if errors.As(err, &v) {
		s.finish(fmt.Errorf("tunnel: protocol violation: %w", err), websocket.CloseProtocolError, v.Error())
		return
	}
	s.finish(fmt.Errorf("tunnel: %w", err), 0, "")
}

// goodbyeLimit is how long the close message may take; the connection is closed anyway.
const goodbyeLimit = time.Second

func (s *Session) finish(err error, code int, reason string) {
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return
	}
	s.err = err
	streams := make([]*Stream, 0, len(s.streams))
	for _, st := range s.streams {
		streams = append(streams, st)
	}
	close(s.done)
	s.mu.Unlock()
	for _, st := range streams {
		st.fail(err)
	}
	if code != 0 {
		message := websocket.FormatCloseMessage(code, reason[:min(len(reason), 123)])
		_ = s.ws.WriteControl(websocket.CloseMessage, message, time.Now().Add(goodbyeLimit))
	}
	_ = s.ws.Close()
}
