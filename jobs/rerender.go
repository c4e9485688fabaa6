package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// busyPause is how long clusters on which something runs are left alone before the next try.
const busyPause = 15 * time.Second

type rerenderWorker struct {
	river.WorkerDefaults[fleet.RerenderArgs]
	fleet *fleet.Fleet
}

// Timeout leaves room for many clusters.
func (w *rerenderWorker) Timeout(*river.Job[fleet.RerenderArgs]) time.Duration { return longestSweep }

// Work gives the clusters that use a changed record their new configurations.
func (w *rerenderWorker) Work(ctx context.Context, job *river.Job[fleet.RerenderArgs]) error {
	err := w.fleet.Rerender(ctx, job.Args.RecordID)
	if errors.Is(err, fleet.ErrBusy) {
		return river.JobSnooze(busyPause)
	}
	return err
}
