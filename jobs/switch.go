package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// switchPause is how soon a move of many clusters looks at its changes again; each takes minutes.
const switchPause = 2 * time.Second

type switchWorker struct {
	river.WorkerDefaults[fleet.SwitchArgs]
	fleet *fleet.Fleet
}

// NextRetry is soon: a look that failed is repeated like one that found nothing to do.
func (w *switchWorker) NextRetry(*river.Job[fleet.SwitchArgs]) time.Time {
	return w.fleet.Clock.Now().Add(switchPause)
}

// Work takes a move of many clusters as far as it goes now.
func (w *switchWorker) Work(ctx context.Context, job *river.Job[fleet.SwitchArgs]) error {
	done, err := w.fleet.ContinueSwitch(ctx, job.Args.SwitchID)
	if err != nil || done {
		return err
	}
	return river.JobSnooze(switchPause)
}
