package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// idleFor is the pause before memory at rest is read.
const idleFor = 10 * time.Second

// start measures the time from the start of `commander`, all roles in one process, to its first
// page, and the memory that it has when nobody asks. The floor is a server that does nothing.
func (b *bench) start(ctx context.Context) ([]figure, error) {
	s, err := b.theSite(ctx)
	if err != nil {
		return nil, err
	}
	var ours, floor samples
	for range b.Samples {
		if err := s.once(ctx, &ours, s.commanderOn); err != nil {
			return nil, err
		}
		if err := s.once(ctx, &floor, s.floorOn); err != nil {
			return nil, err
		}
	}
	held, err := s.idleMemory(ctx, s.commanderOn)
	if err != nil {
		return nil, err
	}
	least, err := s.idleMemory(ctx, s.floorOn)
	if err != nil {
		return nil, err
	}
	const peer = "a bare TLS server in Go"
	return []figure{
		{
			what: "`commander`, all roles, from its start to its first page", samples: ours, unit: milliseconds,
			goal: "≤ 300 ms", beside: ratio(ours, floor, milliseconds, peer),
		},
		{
			what: "its resident memory when idle (RSS)", samples: samples{held.rss}, unit: mebibytes,
			goal: "≤ 120 MiB", beside: ratio(samples{held.rss}, samples{least.rss}, mebibytes, peer),
		},
		{what: "the same with shared pages divided (PSS)", samples: samples{held.pss}, unit: mebibytes},
	}, nil
}

func (s *site) commanderOn(port int) (*child, error) { return s.commander(port, "--roles=all") }

func (s *site) floorOn(port int) (*child, error) { return s.floor(port, []byte("hello")) }

// once starts a server, notes when it gave its first answer, and stops it.
func (s *site) once(ctx context.Context, into *samples, launch func(port int) (*child, error)) (err error) {
	c, took, err := s.ready(ctx, launch)
	defer end(c, &err)
	into.addTime(took)
	return err
}

// idleMemory is what a server holds some time after its first answer.
func (s *site) idleMemory(ctx context.Context, launch func(port int) (*child, error)) (m memory, err error) {
	c, _, err := s.ready(ctx, launch)
	defer end(c, &err)
	if err != nil {
		return m, err
	}
	if err := pause(ctx, idleFor); err != nil {
		return m, err
	}
	return memoryOf(c.pid())
}

// ready starts a server and waits for its first answer.
func (s *site) ready(ctx context.Context, launch func(port int) (*child, error)) (*child, time.Duration, error) {
	port, err := freePort(1)
	if err != nil {
		return nil, 0, err
	}
	c, err := launch(port)
	if err != nil {
		return nil, 0, err
	}
	c.port = port
	// Asking more often would take CPU time from what is measured.
	took, err := c.answers(ctx, 2*time.Millisecond, time.Minute, func(ctx context.Context) error {
		return s.signInPage(ctx, port)
	})
	return c, took, err
}

// signInPage asks for a page that everybody may see.
func (s *site) signInPage(ctx context.Context, port int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("https://%s/sign-in", on(port)), nil)
	if err != nil {
		return err
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	err = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("the sign-in page answers %s", answer.Status))
	}
	return err
}
