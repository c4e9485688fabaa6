package tunnel

import (
	"net"
	"strconv"
	"time"
)

// deadline is a point in time that wakes the waiters of a stream. The stream's lock protects it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

// set takes what wakes the waiters; it must take the stream's lock, or a waiter that has just
// found the deadline in the future would miss it.
func (d *deadline) set(at time.Time, wake func()) {
	d.stop()
	d.at, d.timer = at, nil
	if !at.IsZero() {
		left := time.Until(at)
		d.at = time.Now().Add(left) // with a monotonic reading, as the timer has
		d.timer = time.AfterFunc(left, wake)
	}
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

// SetDeadline implements net.Conn.
func (st *Stream) SetDeadline(t time.Time) error { return st.setDeadlines(t, &st.readBy, &st.writeBy) }

// SetReadDeadline implements net.Conn.
func (st *Stream) SetReadDeadline(t time.Time) error { return st.setDeadlines(t, &st.readBy) }

// SetWriteDeadline implements net.Conn.
func (st *Stream) SetWriteDeadline(t time.Time) error { return st.setDeadlines(t, &st.writeBy) }

func (st *Stream) setDeadlines(t time.Time, which ...*deadline) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return net.ErrClosed
	}
	for _, d := range which {
		d.set(t, st.wakeAll)
	}
	st.changed.Broadcast()
	return nil
}

func (st *Stream) wakeAll() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.changed.Broadcast()
}

// Addr names an end of a stream.
type Addr struct {
	Target string
	ID     uint32
}

// Network implements net.Addr.
func (Addr) Network() string { return "tunnel" }

func (a Addr) String() string { return a.Target + "#" + strconv.FormatUint(uint64(a.ID), 10) }

// LocalAddr implements net.Conn.
func (st *Stream) LocalAddr() net.Addr { return Addr{st.target, st.id} }

// RemoteAddr implements net.Conn.
func (st *Stream) RemoteAddr() net.Addr { return Addr{st.target, st.id} }

var _ net.Conn = (*Stream)(nil)
