package main

import (
	"context"
	"fmt"
	"time"
)

// create measures the time from the request for a cluster to its being ready, warm, one cluster
// after the other. The floor is etcd and an API server of the same programs without all the rest.
func (b *bench) create(ctx context.Context) ([]figure, error) {
	d, err := b.theDemo(ctx)
	if err != nil {
		return nil, err
	}
	version, err := d.template(ctx)
	if err != nil {
		return nil, err
	}
	floor, err := b.newPlane(ctx)
	if err != nil {
		return nil, err
	}
	var ours, bare samples
	if err := d.lifetime(ctx, "warm", version, new(samples)); err != nil {
		return nil, err
	}
	for n := range b.Samples {
		if err := d.lifetime(ctx, fmt.Sprintf("create-%d", n), version, &ours); err != nil {
			return nil, err
		}
		took, err := floor.once(ctx)
		if err != nil {
			return nil, err
		}
		bare.addTime(took)
	}
	return []figure{{
		what: "create → Ready, agent connected", samples: ours, unit: seconds,
		goal: "≤ 10 s", beside: ratio(ours, bare, seconds, "etcd and an API server alone"),
	}}, nil
}

// lifetime makes a cluster, notes when it was ready, and deletes it.
func (d *demo) lifetime(ctx context.Context, name, version string, into *samples) error {
	began := time.Now()
	id, err := d.create(ctx, name, version)
	if err != nil {
		return err
	}
	if err := d.awaitReady(ctx, id); err != nil {
		return err
	}
	into.addTime(time.Since(began))
	return d.remove(ctx, id)
}
