package fencing

import (
	"sync"
	"time"

	"commander/internal/clock"
)

// Hub passes changes of members on to whoever listens. A listener that is slow, or a member that
// comes and goes faster than the least interval, loses what is in between and never the last.
type Hub struct {
	interval time.Duration
	clock    clock.Clock

	mu        sync.Mutex // protects all below
	listeners map[*listener]struct{}
	gone      map[string]time.Time // when a member was last seen to go
}

type listener struct {
	pending map[string]Change
	sent    map[string]time.Time
	wake    chan struct{} // room for one
}

// NewHub has no listeners. interval is the least time between two events on the same member.
func NewHub(interval time.Duration, c clock.Clock) *Hub {
	return &Hub{interval: interval, clock: c, listeners: map[*listener]struct{}{}, gone: map[string]time.Time{}}
}

// Publish takes a change and never blocks.
func (h *Hub) Publish(c Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !c.Joined {
		h.gone[c.Name] = h.clock.Now()
	}
	for l := range h.listeners {
		l.pending[c.Name] = c
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
}

// Gone is when a member was last seen to go; zero if never.
func (h *Hub) Gone(member string) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gone[member]
}

func (h *Hub) listen() *listener {
	l := &listener{pending: map[string]Change{}, sent: map[string]time.Time{}, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners[l] = struct{}{}
	return l
}

func (h *Hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.listeners, l)
}

// due takes what may be sent to a listener now, and says when to ask again for the rest; zero
// means that nothing is left.
func (h *Hub) due(l *listener) (now []Change, again time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.clock.Now()
	for name, change := range l.pending {
		if wait := h.interval - at.Sub(l.sent[name]); !l.sent[name].IsZero() && wait > 0 {
			if again == 0 || wait < again {
				again = wait
			}
			continue
		}
		now = append(now, change)
		l.sent[name] = at
		delete(l.pending, name)
	}
	return now, again
}
