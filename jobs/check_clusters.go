package jobs

import (
	"context"
	"log/slog"
	"time"

	"commander/fleet"
)

// ClusterChecker starts the checks of clusters that are due. Any number of them may run.
type ClusterChecker struct {
	Fleet *fleet.Fleet
	Log   *slog.Logger
	// Every is the pause between two looks that find nothing.
	Every time.Duration
}

// checkPause is the pause after a look that found something: 10,000 clusters with checks every five
// minutes are 33 checks a second, and each look starts no more than its share.
const checkPause = time.Second

// Run looks until the context ends.
func (c *ClusterChecker) Run(ctx context.Context) error {
	next := time.NewTimer(c.Every)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-next.C:
		}
		started, err := c.look(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("start checks", "error", err)
		}
		if started > 0 {
			c.Log.Debug("checks started", "checks", started)
			next.Reset(min(checkPause, c.Every))
		} else {
			next.Reset(c.Every)
		}
	}
}

func (c *ClusterChecker) look(ctx context.Context) (started int, err error) {
	share, err := c.Fleet.ShareOfChecks(ctx, checkPause)
	if err != nil || share == 0 {
		return 0, err
	}
	return c.Fleet.StartChecks(ctx, share)
}
