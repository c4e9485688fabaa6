package clustermanager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
)

// attempt is one attempt of a task under way.
type attempt struct {
	*Manager
	delivery fleet.Delivery
	work     fleet.Work
	redactor *fleet.Redactor
	log      *logBuffer
	cancel   context.CancelCauseFunc
	kept     []byte // the state that is stored
	// stopping says that a person asked the task to stop; told, that the installer was told so.
	stopping atomic.Bool
	told     atomic.Bool
}

func (a *attempt) startLog(ctx context.Context) {
	a.log = newLogBuffer(func(part int, lines []string) error {
		return a.patiently(ctx, func() error { return a.Tasks.AppendLog(ctx, a.delivery, part, lines) })
	})
}

func (a *attempt) run(ctx context.Context) (Result, error) {
	op, err := a.operation()
	if err != nil {
		return Result{Err: err.Error(), State: a.work.State}, nil
	}
	if a.EnsureConnector != nil && op.Kind != store.TaskDestroy {
		if err := a.EnsureConnector(ctx, op.ClusterID); err != nil {
			a.log.add([]string{"The connector for the agent's tunnel could not be started yet: " + a.redactor.Text(err.Error())})
		}
	}
	result, err := a.Installer.Run(ctx, op, Hooks{
		Logs: func(lines []string) { a.log.add(a.redactor.Lines(lines)) },
		Progress: func(p fleet.Progress) {
			// A progress that cannot be written is followed by another one.
			if err := a.Tasks.Advance(ctx, a.delivery, p); errors.Is(err, fleet.ErrSuperseded) {
				a.cancel(fleet.ErrSuperseded)
			} else if err != nil && ctx.Err() == nil {
				a.Log.Warn("write progress", "task", a.delivery.TaskID, "error", err)
			}
		},
		PhaseEnd: func(end fleet.PhaseEnd) (bool, error) { return a.phaseEnd(ctx, end) },
		Alive:    func() error { return a.beat(ctx) },
	})
	if err != nil {
		a.log.add([]string{"The connection to the installer was lost: " + a.redactor.Text(err.Error()) +
			". Whether it still works is not known, so the task waits until it surely does not."})
		return result, fmt.Errorf("%s of cluster %s: %w", op.Kind, op.ClusterID, err)
	}
	return result, nil
}

// beat gives the sign of life for as long as the installer can be heard. Whoever lost the task
// stops at once.
func (a *attempt) beat(ctx context.Context) error {
	stop, err := a.Tasks.Beat(ctx, a.delivery)
	switch {
	case errors.Is(err, fleet.ErrSuperseded):
		a.cancel(fleet.ErrSuperseded)
	case err == nil && stop:
		a.stopping.Store(true)
	}
	return err
}

func (a *attempt) phaseEnd(ctx context.Context, end fleet.PhaseEnd) (bool, error) {
	var stop bool
	err := a.patiently(ctx, func() (err error) {
		stop, err = a.Tasks.EndPhase(ctx, a.delivery, end)
		return err
	})
	if err != nil {
		return false, err
	}
	if end.State != nil {
		a.kept = end.State
	}
	if stop {
		a.stopping.Store(true)
	}
	if (a.stopping.Load() || a.draining.Load()) && end.Next != "" {
		a.told.Store(true)
		return false, nil
	}
	return true, nil
}

// end writes down how the attempt ended.
func (a *attempt) end(ctx context.Context, r Result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endBound)
	defer cancel()
	if bytes.Equal(r.State, a.kept) {
		r.State = nil // as after most checks: a state may be large
	}
	if r.Unheard {
		return a.patiently(ctx, func() error { return a.Tasks.HandBack(ctx, a.delivery, r.State) })
	}
	if a.told.Load() && r.Stopped {
		if !a.stopping.Load() {
			return a.patiently(ctx, func() error { return a.Tasks.HandBack(ctx, a.delivery, r.State) })
		}
		return a.finish(ctx, fleet.Ending{Status: store.TaskCancelled, Error: "task.stopped", State: r.State})
	}
	switch {
	case r.ChangeID != "":
		return a.finish(ctx, fleet.Ending{Status: store.TaskWaitingApproval, State: r.State, ChangeID: r.ChangeID, Result: r.Found})
	case r.Err != "":
		return a.finish(ctx, fleet.Ending{Status: store.TaskFailed, Error: a.redactor.Text(r.Err), State: r.State, Result: r.Found})
	}
	return a.finish(ctx, fleet.Ending{Status: store.TaskSucceeded, State: r.State, Result: r.Found, OutOfSync: r.OutOfSync, Actual: r.Actual})
}

func (a *attempt) finish(ctx context.Context, end fleet.Ending) error {
	return a.patiently(ctx, func() error { return a.Tasks.Finish(ctx, a.delivery, end) })
}

const (
	// endBound is how long the end of an operation waits for a database that is away.
	endBound = 30 * time.Minute
	// retryEvery is the pause between two tries to reach it.
	retryEvery = 500 * time.Millisecond
)

// patiently tries again while the database is away, until the context ends.
func (a *attempt) patiently(ctx context.Context, write func() error) error {
	for {
		err := write()
		if err == nil || !fault.Is(store.AsFault(err), fault.Unavailable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retryEvery):
		}
	}
}
