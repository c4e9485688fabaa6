package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"commander/internal/fault"
	"commander/web/lease"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var away = fault.New(fault.Unavailable, "fault.database_away")

func TestWithdrawnRightEndsTheContext(t *testing.T) {
	t.Parallel()
	answers := make(chan error)
	tick := make(chan time.Time)
	held, release := lease.Hold(t.Context(), tick, nil, func(context.Context) error { return <-answers })
	defer release()
	for range 3 {
		tick <- time.Time{}
		answers <- nil
	}
	if held.Err() != nil {
		t.Fatalf("ended although every check agreed: %v", context.Cause(held))
	}
	tick <- time.Time{}
	answers <- fault.New(fault.Unauthenticated, "fault.token")
	<-held.Done()
	if got := context.Cause(held); !errors.Is(got, lease.ErrWithdrawn) || !fault.Is(got, fault.Unauthenticated) {
		t.Errorf("cause: got %v, want a withdrawn right and why", got)
	}
}

func TestAwayIsBorneForAWhile(t *testing.T) {
	t.Parallel()
	answers := make(chan error)
	tick := make(chan time.Time)
	held, release := lease.Hold(t.Context(), tick, nil, func(context.Context) error { return <-answers })
	defer release()
	ask := func(answer error) {
		tick <- time.Time{}
		answers <- answer
	}
	for range 9 {
		ask(away)
	}
	ask(nil) // the count starts anew
	for range 10 {
		ask(away)
	}
	if held.Err() != nil {
		t.Fatalf("ended too early: %v", context.Cause(held))
	}
	ask(away)
	<-held.Done()
}

func TestStopAndReleaseEndTheContext(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	held, release := lease.Hold(t.Context(), nil, stop, nil)
	close(stop)
	<-held.Done()
	if got := context.Cause(held); !errors.Is(got, lease.ErrStopping) {
		t.Errorf("cause: got %v, want %v", got, lease.ErrStopping)
	}
	release()
	held, release = lease.Hold(t.Context(), nil, nil, nil)
	release()
	if held.Err() == nil {
		t.Error("lives on after release")
	}
}
