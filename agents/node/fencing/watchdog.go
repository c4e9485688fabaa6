package fencing

import (
	"errors"
	"sync"
	"time"

	"commander/internal/clock"
)

// Watchdog resets the node if it is not fed in time. It is used by one goroutine.
type Watchdog interface {
	// Arm starts it. It fails if it is armed already.
	Arm() error
	// Feed grants another timeout. It fails if it is not armed.
	Feed() error
	// Disarm stops it without a reset. If it fails, the watchdog still has to be fed.
	Disarm() error
}

var (
	errArmed    = errors.New("the watchdog is armed already")
	errNotArmed = errors.New("the watchdog is not armed")
)

// MemoryWatchdog resets nothing, but remembers that it would have. It is safe for concurrent use.
type MemoryWatchdog struct {
	timeout time.Duration
	clock   clock.Clock

	mu    sync.Mutex // protects all below
	armed bool
	fed   time.Time
	late  bool
	stuck error
}

// NewMemoryWatchdog makes one that is not armed.
func NewMemoryWatchdog(timeout time.Duration, c clock.Clock) *MemoryWatchdog {
	return &MemoryWatchdog{timeout: timeout, clock: c}
}

// Arm starts it.
func (w *MemoryWatchdog) Arm() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.armed {
		return errArmed
	}
	w.armed, w.fed = true, w.clock.Now()
	return nil
}

// Feed grants another timeout, unless it is too late.
func (w *MemoryWatchdog) Feed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.armed {
		return errNotArmed
	}
	w.look()
	w.fed = w.clock.Now()
	return nil
}

// Disarm stops it, unless Stick said otherwise.
func (w *MemoryWatchdog) Disarm() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.armed {
		return errNotArmed
	}
	if w.stuck != nil {
		return w.stuck
	}
	w.look()
	w.armed = false
	return nil
}

// Stick makes Disarm fail with an error; nil makes it work again.
func (w *MemoryWatchdog) Stick(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stuck = err
}

// Armed says whether it waits to be fed.
func (w *MemoryWatchdog) Armed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.armed
}

// Expired says whether the node would have been reset by now.
func (w *MemoryWatchdog) Expired() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.look()
	return w.late
}

func (w *MemoryWatchdog) look() {
	w.late = w.late || w.armed && w.clock.Now().Sub(w.fed) > w.timeout
}
