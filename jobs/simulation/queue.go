package simulation

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"commander/fleet"
)

// queue is River as the rules see it: a job appears when the transaction around it is committed.
type queue struct{}

func (queue) InsertTx(_ context.Context, tx pgx.Tx, args river.JobArgs, _ *river.InsertOpts) (*rivertype.JobInsertResult, error) {
	r := tx.(transaction).rows
	id := int64(len(r.jobs) + 1)
	if carried, is := args.(interface{ Of() fleet.Delivery }); is {
		d := carried.Of()
		r.jobs = append(r.jobs, delivery{id: id, task: d.TaskID, attempt: d.Attempt, state: "available"})
	}
	return &rivertype.JobInsertResult{Job: &rivertype.JobRow{ID: id}}, nil
}

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
		p := w.workers[w.of(name, "worker").IntN(len(w.workers))]
		if p.dead || p.frozenUntil.After(time.Now()) || w.faulty() && w.databaseAway() {
			continue
		}
		if w.faulty() && w.in(name, "delivered twice", 15) {
			twin := d
			w.Go(func() { w.execute(w.workers[w.of(name, "second worker").IntN(len(w.workers))], twin, name+"'") })
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
