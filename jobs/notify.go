package jobs

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// notifyLimit bounds one delivery.
const notifyLimit = 20 * time.Second

type notifyWorker struct {
	river.WorkerDefaults[fleet.NotifyArgs]
	fleet  *fleet.Fleet
	client *http.Client
	mail   Mail
	limit  time.Duration // of one delivery
}

// Timeout bounds one attempt.
func (w *notifyWorker) Timeout(*river.Job[fleet.NotifyArgs]) time.Duration { return 2 * w.limit }

// Work delivers one notification. An error makes River try again, each time later; the last one
// is kept for people to see.
func (w *notifyWorker) Work(ctx context.Context, job *river.Job[fleet.NotifyArgs]) error {
	telling, waits, err := w.fleet.Telling(ctx, job.Args.ID)
	if err != nil || !waits {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	failure := w.deliver(bounded, telling)
	if err := w.fleet.Told(ctx, job.Args.ID, failure, job.Attempt >= job.MaxAttempts); err != nil {
		return errors.Join(failure, err)
	}
	return failure
}

func (w *notifyWorker) deliver(ctx context.Context, t fleet.Telling) error {
	if t.Channel.Kind == fleet.ChannelMail {
		return w.send(ctx, t)
	}
	return w.post(ctx, t)
}
