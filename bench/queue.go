package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"commander/jobs"
	"commander/jobs/clustermanager"
)

// atOnce is how many tasks are worked on at a time; the bare client has as many workers.
const atOnce = 16

// queue measures how soon a task is picked up and how many are done in a second. The peer is a client of
// River over the same database whose worker does nothing; Commander's installer does nothing either.
func (b *bench) queue(ctx context.Context) ([]figure, error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	c, err := s.crewOf(ctx, "queue")
	defer c.close()
	if err != nil {
		return nil, err
	}
	bare, err := c.bareRiver(ctx, b.Requests, b.Tasks, false)
	if err != nil {
		return nil, err
	}
	polled, err := c.bareRiver(ctx, min(b.Requests, 100), 0, true)
	if err != nil {
		return nil, err
	}
	ours, err := c.tasks(ctx, b.Requests, b.Tasks)
	if err != nil {
		return nil, err
	}
	return []figure{
		{
			what: "from asking for a task to its installer's being called", samples: ours.picked, unit: milliseconds, goal: "p99 ≤ 100 ms",
			beside: ratio(ours.picked, bare.picked, milliseconds, "a bare job"),
		},
		{what: "a bare job: from its insertion to its worker", samples: bare.picked, unit: milliseconds},
		{what: "the same by polling every 500 ms, without notices", samples: polled.picked, unit: milliseconds},
		{
			what: fmt.Sprintf("tasks a second, of %d that waited", b.Tasks), samples: ours.rate, unit: whole,
			beside: ratio(ours.rate, bare.rate, whole, "bare jobs a second"),
		},
	}, nil
}

// pace is how a queue did.
type pace struct{ picked, rate samples }

type emptyArgs struct{}

func (emptyArgs) Kind() string { return "bench.empty" }

type emptyWorker struct {
	river.WorkerDefaults[emptyArgs]
	called chan time.Time
}

func (w *emptyWorker) Work(context.Context, *river.Job[emptyArgs]) error {
	w.called <- time.Now()
	return nil
}

func (c *crew) bareRiver(ctx context.Context, alone, together int, poll bool) (p pace, err error) {
	w := &emptyWorker{called: make(chan time.Time, together+1)}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	const queue = "bare"
	client, err := river.NewClient(riverpgxv5.New(c.pool), &river.Config{
		Queues: map[string]river.QueueConfig{queue: {MaxWorkers: atOnce}}, Workers: workers, Logger: silent,
		PollOnly: poll, FetchPollInterval: 500 * time.Millisecond, FetchCooldown: jobs.FetchEvery,
	})
	if err != nil {
		return p, fmt.Errorf("make a bare client of River: %w", err)
	}
	insert := func(ctx context.Context) error {
		_, err := client.Insert(ctx, emptyArgs{}, &river.InsertOpts{Queue: queue})
		return err
	}
	for range together {
		if err := insert(ctx); err != nil {
			return p, err
		}
	}
	began := time.Now()
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return p, err
	}
	for range together {
		<-w.called
	}
	if together > 0 {
		p.rate = samples{float64(together) / time.Since(began).Seconds()}
	}
	p.picked, err = oneByOne(ctx, alone, w.called, func(ctx context.Context, _ int) error { return insert(ctx) })
	return p, errors.Join(err, client.Stop(context.WithoutCancel(ctx)))
}

// oneByOne asks for work again and again, at moments that fit no rhythm, and tells how soon it began.
func oneByOne(ctx context.Context, count int, called <-chan time.Time, ask func(context.Context, int) error) (picked samples, err error) {
	for n := range count {
		if err := pause(ctx, 60*time.Millisecond+time.Duration(n*7919%83)*time.Millisecond); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := ask(ctx, n); err != nil {
			return nil, err
		}
		select {
		case at := <-called:
			picked.addTime(at.Sub(began))
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return picked, nil
}

// nothing is an installer that is done at once.
type nothing struct{ called chan time.Time }

func (n nothing) Run(context.Context, clustermanager.Operation, clustermanager.Hooks) (clustermanager.Result, error) {
	n.called <- time.Now()
	return clustermanager.Result{}, nil
}

func (c *crew) tasks(ctx context.Context, alone, together int) (p pace, err error) {
	ids, err := c.installed(ctx, together, 100_000)
	if err != nil {
		return p, err
	}
	installer := nothing{called: make(chan time.Time, together+1)}
	client, err := c.client(installer, atOnce)
	if err != nil {
		return p, err
	}
	change := func(ctx context.Context, n int) error {
		_, err := c.fleet.Converge(ctx, c.actor, ids[n%together])
		return err
	}
	for n := range together {
		if err := change(ctx, n); err != nil {
			return p, err
		}
	}
	began := time.Now()
	err = c.during(ctx, client, func(ctx context.Context) error {
		if err := until(ctx, 20*time.Millisecond, 10*time.Minute, c.done); err != nil {
			return err
		}
		p.rate = samples{float64(together) / time.Since(began).Seconds()}
		for range together {
			<-installer.called
		}
		p.picked, err = oneByOne(ctx, alone, installer.called, change)
		return err
	})
	return p, err
}

// done reports whether all tasks have succeeded.
func (c *crew) done(ctx context.Context) error {
	var open, bad int
	err := c.pool.QueryRow(ctx, `select count(*) filter (where status in ('queued', 'running')), count(*) filter (where status not in ('queued', 'running', 'succeeded'))
		from tasks`).Scan(&open, &bad)
	switch {
	case err != nil:
		return err
	case bad > 0:
		return fmt.Errorf("%d tasks came to another end than success", bad)
	case open > 0:
		return fmt.Errorf("%d tasks are not over", open)
	}
	return nil
}
