package jobs

import (
	"context"
	"log/slog"
	"time"

	"commander/fleet"
	"commander/store"
)

// TaskChecker looks for running tasks that have gone silent, and for queued ones that nobody will
// come for. Any number of them may run.
type TaskChecker struct {
	Fleet *fleet.Fleet
	Log   *slog.Logger
	// Every is the pause between two looks.
	Every time.Duration

	// blindUntil is when the checker may judge again after it could not see the database itself:
	// a task's silence may have had the same cause. Like every time here it is by the database's
	// clock: one of this process may be wrong, and may have stood still with it.
	blindUntil time.Time
	// seen is when the database last answered; zero when it did not.
	seen time.Time
}

// redeliverAfter leaves a delivery that was just made its time.
const redeliverAfter = 30 * time.Second

// Run looks until the context ends.
func (c *TaskChecker) Run(ctx context.Context) error {
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for {
		if err := c.look(ctx); err != nil && ctx.Err() == nil {
			if store.Away(err) {
				c.seen = time.Time{}
			}
			c.Log.Warn("check tasks", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// sees notes that the database has answered, and reports whether the checker may judge. It was blind
// before its start, and while the database was away. A database that was frozen answers late but
// without an error, and so does one to a checker that was frozen itself: then as well it was blind,
// for as long as a task may be silent.
func (c *TaskChecker) sees(now time.Time) bool {
	if gap := now.Sub(c.seen); c.seen.IsZero() || gap < 0 || gap > c.Fleet.QuietLimit/2+c.Every {
		c.blindUntil = now.Add(c.Fleet.QuietLimit)
	}
	c.seen = now
	return !now.Before(c.blindUntil)
}

func (c *TaskChecker) look(ctx context.Context) error {
	redelivered, err := c.Fleet.Redeliver(ctx, redeliverAfter)
	if err != nil {
		return err
	}
	if redelivered > 0 {
		c.Log.Info("tasks delivered again", "tasks", redelivered)
	}
	suspects, err := c.Fleet.QuietTasks(ctx)
	if err != nil {
		return err
	}
	now, err := c.Fleet.Now(ctx)
	if err != nil {
		return err
	}
	if !c.sees(now) {
		return nil
	}
	for _, id := range suspects {
		lost, err := c.Fleet.MarkLost(ctx, id)
		if err != nil {
			return err
		}
		if lost {
			c.Log.Warn("task lost", "task", id)
		}
	}
	return nil
}
