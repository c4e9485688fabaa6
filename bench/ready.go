package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// readyWorkers is how many installations go on at once: each waits for its engine nearly all the time.
const readyWorkers = 400

// ready measures many clusters from the template to Ready, with an engine that takes a second for each of
// three steps. None may be lost, fail, or need a second attempt.
func (b *bench) ready(ctx context.Context) ([]figure, error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.crewOf(ctx, "ready")
	defer c.close()
	if err != nil {
		return nil, err
	}
	const step = time.Second
	engine, stop, err := c.dhctl(ctx, step)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stop() }()
	client, err := c.client(engine, readyWorkers)
	if err != nil {
		return nil, err
	}
	cpu, err := cpuOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	var wall time.Duration
	if err := c.during(ctx, client, func(ctx context.Context) error {
		began := time.Now()
		if _, err := c.create(ctx, b.Ready, true); err != nil {
			return err
		}
		err := until(ctx, 100*time.Millisecond, time.Hour, c.done)
		wall = time.Since(began)
		return err
	}); err != nil {
		return nil, err
	}
	used, err := cpuOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	if again, err := c.count(ctx, "select count(*) from tasks where attempt > 1 or status <> 'succeeded'"); err != nil || again > 0 {
		return nil, fmt.Errorf("%d tasks were lost or needed another attempt (%v)", again, err)
	}
	if there, err := c.count(ctx, "select count(*) from clusters where status = 'in_sync'"); err != nil || there != int64(b.Ready) {
		return nil, fmt.Errorf("%d of %d clusters are Ready (%v)", there, b.Ready, err)
	}
	each, err := c.seconds(ctx, "select extract(epoch from applied_at - created_at)::float8 from clusters")
	if err != nil {
		return nil, err
	}
	return []figure{
		{what: fmt.Sprintf("%d clusters, %d at once, from the first to all Ready", b.Ready, readyWorkers), samples: samples{wall.Seconds()}, unit: seconds, goal: "none lost"},
		{what: "each of them, from its creation to Ready", samples: each, unit: seconds, beside: ratio(each, samples{3 * step.Seconds()}, seconds, "the engine alone")},
		{what: "CPU time of Commander for each", samples: samples{(used - cpu).Seconds() / float64(b.Ready)}, unit: milliseconds},
	}, nil
}

// seconds are the answers to a question, in seconds.
func (c *crew) seconds(ctx context.Context, question string) (samples, error) {
	found, err := c.pool.Query(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("read times: %w", err)
	}
	return collectFloats(found)
}
