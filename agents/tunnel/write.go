package tunnel

import (
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"
)

// takeWire waits for the right to write messages. Waiters get it in the order in which they came,
// and each writes one frame at a time: that is what makes the streams share the wire fairly.
func (s *Session) takeWire(cancel <-chan struct{}) error {
	select {
	case s.wire <- struct{}{}:
		return nil
	case <-s.done:
		return s.Err()
	case <-cancel:
		return errors.New("cancelled")
	}
}

func (s *Session) freeWire() { <-s.wire }

// write writes the pending frames and then f, because f may only come after them. The caller
// holds the wire.
func (s *Session) write(f frame) error {
	if err := s.writePending(); err != nil {
		return err
	}
	return s.writeFrame(f)
}

func (s *Session) writePending() error {
	s.mu.Lock()
	frames, pong, overrun := s.pending, s.pong, s.overrun
	s.pending, s.pong = nil, nil
	s.mu.Unlock()
	if overrun {
		return violation{errors.New("the other end causes answers and does not read them")}
	}
	if pong != nil {
		err := s.ws.WriteControl(websocket.PongMessage, []byte(*pong), time.Now().Add(s.options.WriteLimit))
		if err != nil {
			return fmt.Errorf("write pong: %w", err)
		}
	}
	for _, f := range frames {
		if err := s.writeFrame(f); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) writeFrame(f frame) error {
	if err := s.ws.SetWriteDeadline(time.Now().Add(s.options.WriteLimit)); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	w, err := s.ws.NextWriter(websocket.BinaryMessage)
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	header := f.header()
	_, headErr := w.Write(header[:])
	_, bodyErr := w.Write(f.payload)
	if err := errors.Join(headErr, bodyErr, w.Close()); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// send queues a small frame that nobody waits for. It never blocks.
func (s *Session) send(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sendLocked(f)
}

func (s *Session) sendLocked(f frame) {
	// Each held stream owes at most two windows, a fin and a reset; more comes only from an other
	// end that opens streams on and on without reading our answers. The flusher ends that session.
	if len(s.pending) < 16*s.options.MaxStreams+64 {
		s.pending = append(s.pending, f)
	} else {
		s.overrun = true
	}
	s.wakeFlusher()
}

func (s *Session) wakeFlusher() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// flush writes what was queued, and pings.
func (s *Session) flush() {
	ticker := time.NewTicker(s.options.PingEvery)
	defer ticker.Stop()
	for {
		ping := false
		select {
		case <-s.done:
			return
		case <-s.wake:
		case <-ticker.C:
			ping = true
		}
		if s.takeWire(nil) != nil {
			return
		}
		err := s.writePending()
		if err == nil && ping {
			err = s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(s.options.WriteLimit))
		}
		s.freeWire()
		if err != nil {
			s.end(err)
			return
		}
	}
}
