package simulation

import (
	"fmt"
	"slices"
	"time"
)

// planted are faults in what the run stands on, which the run must find.
type planted []string

func (p planted) has(name string) bool { return slices.Contains(p, name) }

// disturb does harm until the time for it is over.
func (w *world) disturb() {
	for n := 1; ; n++ {
		time.Sleep(w.between("harm", "pause", 5*time.Second, 70*time.Second))
		if !w.faulty() || w.over() {
			return
		}
		i := w.of("harm", "worker").IntN(len(w.workers))
		worker := w.workers[i]
		switch w.of("harm", "kind").IntN(8) {
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
			judge := w.judges[w.of("harm", "judge").IntN(len(w.judges))]
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
		case 7:
			judge := w.judges[w.of("harm", "judge").IntN(len(w.judges))]
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
	return w.operations[len(w.operations)-1-w.of("harm", "operation").IntN(min(2, len(w.operations)))]
}
