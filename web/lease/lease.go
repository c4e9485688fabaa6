// Package lease ends long requests whose right was withdrawn while they were open.
package lease

import (
	"context"
	"errors"
	"time"

	"commander/internal/fault"
)

// Every is how long a request may go on after its right was withdrawn.
const Every = 30 * time.Second

// patience is how many checks in a row may fail because something is away: a database that fails
// over must not cut everybody's streams, and one that nobody can ask for minutes grants nothing.
const patience = 10

// Reasons for the end of a context that Hold made, as context.Cause tells them.
var (
	ErrWithdrawn = errors.New("the right to this request was withdrawn")
	ErrStopping  = errors.New("the server stops")
)

// Hold returns a context that ends when check no longer agrees, which is asked at each tick, or
// when stop is closed; a nil stop never is. The caller must call release, which waits until no
// check runs any more.
func Hold(ctx context.Context, tick <-chan time.Time, stop <-chan struct{}, check func(context.Context) error) (held context.Context, release func()) {
	held, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		cancel(watch(held, tick, stop, check))
	}()
	return held, func() {
		cancel(context.Canceled)
		<-over
	}
}

func watch(ctx context.Context, tick <-chan time.Time, stop <-chan struct{}, check func(context.Context) error) error {
	away := 0
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-stop:
			return ErrStopping
		case <-tick:
		}
		switch err := check(ctx); {
		case err == nil:
			away = 0
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case fault.Is(err, fault.Unavailable) && away < patience:
			away++
		default:
			return errors.Join(ErrWithdrawn, err)
		}
	}
}
