package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// together measures clusters that are asked for at the same moment: all must become ready, and the
// slowest says how long people wait. Asking for them one after the other is the peer.
func (b *bench) together(ctx context.Context) ([]figure, error) {
	d, err := b.theDemo(ctx)
	if err != nil {
		return nil, err
	}
	version, err := d.template(ctx)
	if err != nil {
		return nil, err
	}
	var alone samples
	if err := d.lifetime(ctx, "warm", version, new(samples)); err != nil {
		return nil, err
	}
	if err := d.lifetime(ctx, "alone", version, &alone); err != nil {
		return nil, err
	}
	ids, each, err := d.several(ctx, "together", version, b.Together)
	if err != nil {
		return nil, err
	}
	slowest := samples{each.at(1)}
	figures := []figure{
		{what: fmt.Sprintf("create → Ready, %d clusters at once, each", b.Together), samples: each, unit: seconds},
		{what: "the slowest of them", samples: slowest, unit: seconds, goal: "all become ready", beside: ratio(slowest, alone, seconds, "a cluster alone")},
	}
	return figures, d.removeAll(ctx, ids)
}

// several makes clusters at once and returns them with the time that each took to be ready.
func (d *demo) several(ctx context.Context, name, version string, count int) ([]string, samples, error) {
	ids, times := make([]string, count), make(samples, count)
	began := time.Now()
	makers, within := errgroup.WithContext(ctx)
	for n := range count {
		makers.Go(func() (err error) {
			if ids[n], err = d.create(within, fmt.Sprintf("%s-%d", name, n), version); err != nil {
				return err
			}
			err = d.awaitReady(within, ids[n])
			times[n] = time.Since(began).Seconds()
			return err
		})
	}
	return ids, times, makers.Wait()
}

func (d *demo) removeAll(ctx context.Context, ids []string) error {
	removers, within := errgroup.WithContext(ctx)
	for _, id := range ids {
		removers.Go(func() error { return d.remove(within, id) })
	}
	return removers.Wait()
}
