package simulation

import (
	"context"
	"time"

	"commander/fleet"
)

// committed hands out what a transaction delivered.
func (w *world) committed(made []delivery) {
	for _, d := range made {
		name := w.nameOf(d)
		w.Go(func() { w.handOut(d, name) })
	}
}

// handOut gives a delivery to a living process, sometimes to a second one as well. A process that
// dies with it leaves it running, as River does until its own rescue half a day later.
func (w *world) handOut(d delivery, name string) {
	for try := 0; ; try++ {
		time.Sleep(w.between(name, "fetch", 5*time.Millisecond, 2*time.Second))
		if w.over() {
			return
		}
		p := w.workers[w.of(name, "worker").below(len(w.workers))]
		if p.dead || p.frozenUntil.After(time.Now()) || w.faulty() && w.databaseAway() {
			continue
		}
		if w.faulty() && w.in(name, "delivered twice", 15) {
			twin := d
			w.Go(func() { w.execute(w.workers[w.of(name, "second worker").below(len(w.workers))], twin, name+"'") })
		}
		w.execute(p, d, name)
		return
	}
}

func (w *world) execute(p *process, d delivery, name string) {
	_ = w.database.settled(context.Background(), w.databaseNow(), d.id, "running")
	err := p.work(fleet.Delivery{TaskID: d.task, Attempt: d.attempt}, name)
	if p.dead {
		return
	}
	state := "completed"
	if err != nil {
		state = "discarded"
	}
	_ = w.database.settled(context.Background(), w.databaseNow(), d.id, state)
}
