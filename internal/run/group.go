package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DefaultBound is how long a group waits for its actors after it told them to stop. It is
// shorter than the thirty seconds that Kubernetes and systemd grant before they kill.
const DefaultBound = 25 * time.Second

// Group is the actors of a program: they start together, and the first error or the end of the
// context stops them all. The zero value is ready to use.
type Group struct {
	// Bound is how long Run waits for actors that were told to stop; zero means DefaultBound.
	Bound  time.Duration
	actors []actor
}

type actor struct {
	name string
	run  func(context.Context) error
}

type ended struct {
	name string
	err  error
}

// Add puts an actor into the group. It must return soon after its context ends; returning nil
// earlier means that its work is done and stops nobody else.
func (g *Group) Add(name string, run func(context.Context) error) {
	g.actors = append(g.actors, actor{name, run})
}

// Run starts all actors and waits for them. It returns the first error, with the actor's name
// before it, and an error that names the actors which were still running when Bound was over.
// The end of ctx is no error.
func (g *Group) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan ended, len(g.actors)) // room for all: a late actor never blocks
	running := make(map[string]int, len(g.actors))
	for _, a := range g.actors {
		running[a.name]++
		go func() { results <- ended{a.name, a.run(ctx)} }()
	}
	var first error
	stopping := ctx.Done()
	var overdue <-chan time.Time
	for range g.actors {
		for waiting := true; waiting; {
			select {
			case e := <-results:
				waiting = false
				if running[e.name]--; running[e.name] == 0 {
					delete(running, e.name)
				}
				if e.err != nil && first == nil && !(ctx.Err() != nil && errors.Is(e.err, context.Canceled)) {
					first = fmt.Errorf("%s: %w", e.name, e.err)
					cancel()
				}
			case <-stopping:
				stopping = nil
				overdue = time.After(g.bound())
			case <-overdue:
				return errors.Join(first, fmt.Errorf("still running %s after being told to stop: %s", g.bound(), names(running)))
			}
		}
	}
	return first
}

func (g *Group) bound() time.Duration {
	if g.Bound > 0 {
		return g.Bound
	}
	return DefaultBound
}

func names(running map[string]int) string {
	all := make([]string, 0, len(running))
	for name := range running {
		all = append(all, name)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
