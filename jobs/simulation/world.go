package simulation

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/jobs"
	"commander/store"
)

const (
	quietLimit = 2 * time.Minute
	beatEvery  = 10 * time.Second
	judgeEvery = 15 * time.Second
	// faultsFor is how long a run is disturbed; afterwards everything must come to its end.
	faultsFor = 8 * time.Minute
	// settleFor bounds the rest, with people who try again what failed.
	settleFor = 4 * time.Hour
	// wrongBy is how wrong a clock may be.
	wrongBy = time.Hour
)

// world is one run.
type world struct {
	*chance
	sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
	keys     *store.Keyring
	database database
	queue    fleet.Queue
	fault    string    // that is planted; empty for none
	trace    io.Writer // of what happens; nil for nobody

	began     time.Time
	awayUntil time.Time // of the database
	workers   []*process
	judges    []*process

	mu         sync.Mutex // protects what follows
	clusters   map[string]*cluster
	ids        []uuid.UUID // of the clusters, in their order
	operations []*operation
	executing  map[fleet.Delivery]*execution
	succeeded  map[fleet.Delivery]bool
	differed   map[fleet.Delivery]bool // checks that found a difference
	stopped    map[fleet.Delivery]bool // attempts that a person has stopped for certain
	approved   map[string]bool         // changes that a person has seen, by cluster and name
	names      map[uuid.UUID]string    // of tasks, in the order of their first delivery
	stored     map[string]bool         // phases whose end is in the database, by task and phase

	problem string
}

// fail notes the first rule that was broken, and ends the run.
func (w *world) fail(format string, args ...any) {
	if w.problem == "" {
		w.problem = fmt.Sprintf("after %s: ", time.Since(w.began).Round(time.Second)) + fmt.Sprintf(format, args...)
		w.cancel()
	}
}

// tell writes what happens for whoever looks at one seed.
func (w *world) tell(format string, args ...any) {
	if w.trace != nil {
		_, _ = fmt.Fprintf(w.trace, "%s "+format+"\n", append([]any{time.Since(w.began)}, args...)...)
	}
}

func (w *world) locked(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
}

func (w *world) over() bool { return w.ctx.Err() != nil }

// faulty reports whether things still go wrong.
func (w *world) faulty() bool { return time.Since(w.began) < faultsFor }

func (w *world) databaseAway() bool { return time.Now().Before(w.awayUntil) }

// databaseNow is by a clock that no process has, as exact as PostgreSQL is.
func (w *world) databaseNow() time.Time {
	return time.Now().Add(17 * time.Minute).UTC().Truncate(time.Microsecond)
}

// nameOf names a delivery the same in each run of a seed, whatever the ids are.
func (w *world) nameOf(d delivery) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names[d.task] == "" {
		w.names[d.task] = fmt.Sprintf("task-%d", len(w.names)+1)
	}
	return fmt.Sprintf("%s.%d#%d", w.names[d.task], d.attempt, d.id)
}

// begins notes that an operation changes a cluster.
func (w *world) begins(o *operation, phase string) {
	if o.cluster.at != nil {
		w.fail("%s and %s change the same cluster at once", o.cluster.at.name, o.name)
	}
	if w.stored[o.task()+"/"+phase] {
		w.fail("%s does phase %s again, whose end was stored", o.name, phase)
	}
	o.cluster.at = o
	if w.stopped[o.delivery] {
		if o.afterStop++; o.afterStop > 1 {
			w.fail("%s goes on for %d phases after it was stopped", o.name, o.afterStop)
		}
	}
}

// run starts everyone and waits for the end.
func (w *world) run() {
	for i := range 3 {
		w.workers = append(w.workers, w.start(fmt.Sprintf("worker-%d", i)))
	}
	for i := range 2 {
		judge := w.start(fmt.Sprintf("judge-%d", i))
		w.judges = append(w.judges, judge)
		checker := jobs.TaskChecker{Fleet: judge.rules(judge.name), Log: quiet, Every: judgeEvery}
		w.Go(func() { _ = checker.Run(judge.ctx) })
	}
	looker := w.start("looker")
	checker := jobs.ClusterChecker{Fleet: looker.rules("looker"), Log: quiet, Every: 50 * time.Second}
	w.Go(func() { _ = checker.Run(looker.ctx) })
	w.Go(func() {
		time.Sleep(faultsFor)
		looker.cancel() // a world that is checked for ever never comes to rest
	})
	w.Go(w.disturb)
	var people sync.WaitGroup
	for i := range w.ids {
		people.Go(func() { w.person(i) })
	}
	people.Wait()
	w.cancel()
	w.Wait()
}
