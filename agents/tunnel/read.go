package tunnel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gorilla/websocket"
)

// read takes messages until the session ends. It never waits for a stream or for the wire, so one
// slow stream cannot hold up the others and two ends cannot wait for each other.
func (s *Session) read() {
	s.ws.SetReadLimit(headerSize + MaxPayload)
	alive := func() { _ = s.ws.SetReadDeadline(time.Now().Add(s.options.SilenceLimit)) }
	alive()
	s.ws.SetPongHandler(func(string) error { alive(); return nil })
	s.ws.SetPingHandler(func(data string) error {
		alive()
		s.mu.Lock()
		s.pong = &data
		s.mu.Unlock()
		s.wakeFlusher()
		return nil
	})
	buf := make([]byte, headerSize+MaxPayload)
	for {
		kind, r, err := s.ws.NextReader()
		if err != nil {
			s.end(readError(err))
			return
		}
		if kind != websocket.BinaryMessage {
			s.end(violation{errors.New("text message")})
			return
		}
		n, err := io.ReadFull(r, buf)
		if err == nil { // full to the brim: is there more?
			_, err = r.Read(make([]byte, 1))
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			s.end(readError(err))
			return
		}
		alive()
		f, err := parseFrame(buf[:n])
		if err == nil {
			err = s.take(f)
		}
		if err != nil {
			s.end(violation{err})
			return
		}
	}
}

func readError(err error) error {
	if errors.Is(err, websocket.ErrReadLimit) {
		return violation{errors.New("message is longer than a frame may be")}
	}
	return fmt.Errorf("read: %w", err)
}

// take hands a frame to its stream. Its errors are violations.
func (s *Session) take(f frame) error {
	if f.kind == frameOpen {
		return s.takeOpen(f)
	}
	s.mu.Lock()
	st, known := s.streams[f.id], f.id <= s.lastID[f.id%2]
	s.mu.Unlock()
	if st == nil {
		if known {
			return nil // crossed our reset
		}
		return fmt.Errorf("frame of type %d for stream %d, which was never opened", f.kind, f.id)
	}
	switch f.kind {
	case frameData:
		return st.takeData(f.payload)
	case frameWindow:
		return st.takeWindow(binary.BigEndian.Uint32(f.payload))
	case frameFin:
		return st.takeFin()
	default:
		st.fail(&ResetError{string(f.payload)})
		return nil
	}
}

func (s *Session) takeOpen(f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := f.id % 2
	if p == s.ownParity || f.id <= s.lastID[p] {
		return fmt.Errorf("stream opened with id %d, which is not the other end's next", f.id)
	}
	if s.err != nil {
		return nil
	}
	if s.opened[p] >= s.options.MaxStreams {
		s.lastID[p] = f.id
		s.sendLocked(resetFrame(f.id, ErrTooManyStreams.Error()))
		return nil
	}
	st := s.addLocked(f.id, string(f.payload))
	select {
	case s.accepted <- st:
	default:
		// Streams closed before they were accepted still use places in the queue.
		s.forgetLocked(st)
		s.sendLocked(resetFrame(f.id, ErrTooManyStreams.Error()))
	}
	return nil
}

func (s *Session) forgetLocked(st *Stream) {
	if s.streams[st.id] == st {
		delete(s.streams, st.id)
		s.opened[st.id%2]--
	}
}
