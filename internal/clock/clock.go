// Package clock makes time an argument: rules and controllers ask a Clock, and a test owns one.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time.
type Clock interface {
	Now() time.Time
}

// System is the clock of the machine.
type System struct{}

// Now is the time by the machine's clock, in UTC so that what is written down never depends on
// where the process runs.
func (System) Now() time.Time { return time.Now().UTC() }

// Fake is a clock that stands still until a test moves it. It is safe for concurrent use.
type Fake struct {
	mu  sync.Mutex // protects now
	now time.Time
}

// At makes a clock that stands at a moment.
func At(now time.Time) *Fake { return &Fake{now: now} }

// Now is the moment at which the clock stands.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set moves the clock to a moment, backwards too.
func (f *Fake) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}

// Advance moves the clock on and returns the new moment.
func (f *Fake) Advance(by time.Duration) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(by)
	return f.now
}
