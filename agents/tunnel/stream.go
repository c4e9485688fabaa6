package tunnel

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// Stream is one byte stream of a session and a net.Conn. Each stream must be closed, also after
// an error, or it keeps its place among Options.MaxStreams.
type Stream struct {
	session *Session
	id      uint32
	target  string

	mu       sync.Mutex // protects what follows
	changed  *sync.Cond
	received bytes.Buffer
	credit   int   // bytes the other end may still send
	size     int   // of the receive window as granted so far: credit, received and owed together
	owed     int   // bytes read and not yet given back as credit
	window   int   // bytes we may send
	finIn    bool  // the other end sent fin
	finOut   bool  // we sent fin
	closed   bool  // Close or Reset was called
	err      error // reset, or end of the session
	readBy   deadline
	writeBy  deadline
}

func newStream(s *Session, id uint32, target string) *Stream {
	st := &Stream{session: s, id: id, target: target, credit: InitialWindow, size: InitialWindow, window: InitialWindow}
	st.changed = sync.NewCond(&st.mu)
	return st
}

// Target is the name that the opener asked for.
func (st *Stream) Target() string { return st.target }

// Read implements net.Conn. What was received is readable even after a reset or the end of the
// session; io.EOF comes only after a fin.
func (st *Stream) Read(p []byte) (int, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for {
		switch {
		case st.closed:
			return 0, net.ErrClosed
		case st.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case st.received.Len() > 0:
			return st.readLocked(p), nil
		case st.finIn:
			return 0, io.EOF
		case st.err != nil:
			return 0, st.err
		}
		st.changed.Wait()
	}
}

// keepBuffer is up to what size an empty buffer is kept for the next data.
const keepBuffer = 64 << 10

func (st *Stream) readLocked(p []byte) int {
	n, _ := st.received.Read(p)
	if st.received.Len() == 0 && st.received.Cap() > keepBuffer {
		st.received = bytes.Buffer{}
	}
	if st.finIn || st.err != nil {
		return n
	}
	st.owed += n
	if st.owed >= st.size/2 {
		// The window grows to the wanted size with the first credit given back, so that streams
		// with little data need no frame for it.
		grant := st.owed + st.session.options.Window - st.size
		st.credit += grant
		st.owed, st.size = 0, st.session.options.Window
		st.session.send(windowFrame(st.id, uint32(grant)))
	}
	return n
}

// Write implements net.Conn. It returns when the bytes were handed to the WebSocket. A deadline
// ends the wait for the other end's window; a write that already waits for the wire is bounded by
// Options.WriteLimit.
func (st *Stream) Write(p []byte) (int, error) {
	written := 0
	for {
		n, err := st.reserve(len(p) - written)
		if err != nil || n == 0 {
			return written, err
		}
		if err := st.writeData(p[written : written+n]); err != nil {
			return written, err
		}
		if written += n; written == len(p) {
			return written, nil
		}
	}
}

// reserve waits until at least one byte may be sent and takes up to want bytes of the window.
func (st *Stream) reserve(want int) (int, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for {
		switch {
		case st.closed || st.finOut:
			return 0, net.ErrClosed
		case st.err != nil:
			return 0, st.err
		case st.writeBy.passed():
			return 0, os.ErrDeadlineExceeded
		case want == 0:
			return 0, nil
		case st.window > 0:
			n := min(want, st.window, MaxPayload)
			st.window -= n
			return n, nil
		}
		st.changed.Wait()
	}
}

func (st *Stream) writeData(p []byte) error {
	s := st.session
	if err := s.takeWire(nil); err != nil {
		return err
	}
	defer s.freeWire()
	st.mu.Lock()
	over, cause := st.closed || st.finOut, st.err
	st.mu.Unlock()
	if over {
		return net.ErrClosed // a fin went out while this waited for the wire
	}
	if cause != nil {
		return cause
	}
	if err := s.write(frame{frameData, st.id, p}); err != nil {
		s.end(err)
		return fmt.Errorf("write to stream: %w", s.Err())
	}
	return nil
}
