package simulation

import (
	"fmt"
	"time"
)

// disturb does harm until the time for it is over.
func (w *world) disturb() {
	for n := 1; ; n++ {
		time.Sleep(w.between("harm", "pause", 5*time.Second, 70*time.Second))
		if !w.faulty() || w.over() {
			return
		}
		i := w.of("harm", "worker").below(len(w.workers))
		worker := w.workers[i]
		harm := w.of("harm", "kind").below(10)
		w.tell("%s", []string{"a worker dies", "a worker stands still", "a worker's clock jumps", "a judge's clock jumps", "the database goes away", "an engine is killed", "an engine stands still", "a worker shuts down, a judge stands still", "the line to an engine breaks", "somebody changes a cluster by hand"}[harm])
		switch harm {
		case 0:
			worker.kill()
			w.Go(func() {
				time.Sleep(w.between("harm", "restart", time.Second, time.Minute))
				w.workers[i] = w.start(fmt.Sprintf("worker-%d.%d", i, n))
			})
		case 1:
			worker.freeze(w.between("harm", "freeze", time.Second, 7*time.Minute))
		case 2:
			worker.skew += w.jump()
		case 3:
			judge := w.judges[w.of("harm", "judge").below(len(w.judges))]
			judge.skew += w.jump()
		case 4:
			w.awayUntil = time.Now().Add(w.between("harm", "away", time.Second, 5*time.Minute))
		case 5:
			if o := w.someOperation(); o != nil {
				o.kill()
			}
		case 6:
			if o := w.someOperation(); o != nil {
				o.frozenUntil = later(o.frozenUntil, time.Now().Add(w.between("harm", "engine", time.Second, 7*time.Minute)))
			}
		case 9:
			real := w.clusters[w.ids[w.of("harm", "cluster").below(len(w.ids))].String()]
			if real.exists {
				real.n, real.drifted = 1_000_003, true // which nobody asks for
			}
		case 8:
			if o := w.someOperation(); o != nil {
				o.cutOff()
			}
		case 7:
			judge := w.judges[w.of("harm", "judge").below(len(w.judges))]
			judge.freeze(w.between("harm", "freeze judge", time.Second, 7*time.Minute))
			w.locked(func() {
				for m := range worker.managers {
					m.Drain()
				}
			})
		}
	}
}

func (w *world) jump() time.Duration {
	if w.in("harm", "backwards", 2) {
		return -wrongBy
	}
	return wrongBy
}

func (w *world) someOperation() *operation {
	if len(w.operations) == 0 {
		return nil
	}
	return w.operations[len(w.operations)-1-w.of("harm", "operation").below(min(2, len(w.operations)))]
}
