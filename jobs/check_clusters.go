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
	// Every is the pause between two looks.
	Every time.Duration
}

const (
	// checkBatch bounds how many checks one look starts, so that they spread over time and what
	// people ask for never waits behind many of them.
	checkBatch = 50
	// fullPause is the pause after a look that found a whole batch: 10,000 clusters with checks every
	// five minutes are 33 checks a second. When capacity is short, due checks slip.
	fullPause = time.Second
)

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
		started, err := c.Fleet.StartChecks(ctx, checkBatch)
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("start checks", "error", err)
		}
		if started > 0 {
			c.Log.Debug("checks started", "checks", started)
		}
		if started == checkBatch {
			next.Reset(min(fullPause, c.Every))
		} else {
			next.Reset(c.Every)
		}
	}
}
