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

// checkBatch bounds how many checks one look starts: when capacity is short, due checks slip.
const checkBatch = 50

// Run looks until the context ends.
func (c *ClusterChecker) Run(ctx context.Context) error {
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		started, err := c.Fleet.StartChecks(ctx, checkBatch)
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("start checks", "error", err)
		}
		if started > 0 {
			c.Log.Debug("checks started", "checks", started)
		}
	}
}
