package tunnel

import (
	"fmt"
	"net"
)

// CloseWrite sends fin: the other end reads io.EOF after the data so far, and may go on sending.
func (st *Stream) CloseWrite() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return net.ErrClosed
	}
	st.finLocked()
	return nil
}

func (st *Stream) finLocked() {
	if st.finOut {
		return
	}
	st.finOut = true
	st.changed.Broadcast()
	if st.err == nil {
		st.session.send(frame{frameFin, st.id, nil})
	}
}

// Close implements net.Conn: what was written arrives, what the other end still sends does not.
func (st *Stream) Close() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return net.ErrClosed
	}
	st.finLocked()
	if !st.finIn && st.err == nil {
		st.session.send(resetFrame(st.id, "closed"))
	}
	st.closeLocked()
	return nil
}

// Reset ends the stream at once with a reason that the other end sees as a ResetError. It does
// nothing on a closed stream.
func (st *Stream) Reset(reason string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return
	}
	if st.err == nil {
		st.session.send(resetFrame(st.id, reason))
	}
	st.finOut = true
	st.closeLocked()
}

func (st *Stream) closeLocked() {
	st.closed = true
	st.readBy.stop()
	st.writeBy.stop()
	st.received.Reset()
	st.changed.Broadcast()
	s := st.session
	s.mu.Lock()
	s.forgetLocked(st)
	s.mu.Unlock()
}

// fail ends both directions because of a reset or the end of the session.
func (st *Stream) fail(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.err == nil {
		st.err = err
		st.changed.Broadcast()
	}
}

func (st *Stream) takeData(p []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.closed || st.err != nil:
		return nil
	case st.finIn:
		return fmt.Errorf("data for stream %d after its fin", st.id)
	case len(p) > st.credit:
		return fmt.Errorf("data for stream %d exceeds its window by %d bytes", st.id, len(p)-st.credit)
	}
	st.credit -= len(p)
	st.received.Write(p)
	st.changed.Broadcast()
	return nil
}

func (st *Stream) takeWindow(n uint32) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if n == 0 || n > maxWindow || st.window+int(n) > maxWindow {
		return fmt.Errorf("window of stream %d grows by %d", st.id, n)
	}
	st.window += int(n)
	st.changed.Broadcast()
	return nil
}

func (st *Stream) takeFin() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed || st.err != nil {
		return nil
	}
	if st.finIn {
		return fmt.Errorf("second fin for stream %d", st.id)
	}
	st.finIn = true
	st.changed.Broadcast()
	return nil
}
