package simulation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/jobs/clustermanager"
	"commander/store"
)

// process is one that works or judges. It may die, stand still for a while, and have a wrong clock.
type process struct {
	w           *world
	name        string
	dead        bool
	frozenUntil time.Time
	// troubled is when something last kept it from going on.
	troubled time.Time
	skew     time.Duration
	ctx      context.Context
	cancel   context.CancelFunc
	managers map[*clustermanager.Manager]bool
}

func (w *world) start(name string) *process {
	p := &process{w: w, name: name, troubled: time.Now(), managers: map[*clustermanager.Manager]bool{}}
	p.ctx, p.cancel = context.WithCancel(w.ctx)
	return p
}

// Now is the time by the clock of the process.
func (p *process) Now() time.Time { return time.Now().Add(p.skew).UTC() }

// thaw returns when the process goes on.
func (p *process) thaw() {
	for wait := time.Until(p.frozenUntil); wait > 0 && !p.dead; wait = time.Until(p.frozenUntil) {
		time.Sleep(wait)
	}
}

func (p *process) freeze(d time.Duration) {
	p.frozenUntil = later(p.frozenUntil, time.Now().Add(d))
	p.troubled = p.frozenUntil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *process) kill() {
	p.dead = true
	p.cancel()
}

// rules are production's, over a connection of their own.
func (p *process) rules(name string) *fleet.Fleet { return p.rulesFor(name, fleet.Delivery{}) }

func (p *process) rulesFor(name string, d fleet.Delivery) *fleet.Fleet {
	c := &connection{w: p.w, p: p, name: name, delivery: d}
	return &fleet.Fleet{
		Store: store.Over(c, p.w.keys, c.begin), Queue: p.w.queue, Clock: p, Log: quiet,
		Settings: fleet.Settings{PublicURL: "https://commander.test", QuietLimit: quietLimit},
	}
}

var quiet = slog.New(slog.DiscardHandler)

// execution is an attempt that a process is at.
type execution struct {
	p     *process
	since time.Time
}

// work is production's worker at one delivery.
func (p *process) work(d fleet.Delivery, name string) error {
	name = p.name + "/" + name
	m := &clustermanager.Manager{
		Tasks: p.rulesFor(name, d), Installer: &installer{p: p, name: name, delivery: d}, Log: quiet, Worker: p.name, PublicURL: "https://commander.test",
		UUID: uuid.NewString(),
	}
	mine := &execution{p: p, since: time.Now()}
	p.w.locked(func() { p.managers[m], p.w.executing[d] = true, mine })
	err := m.Work(p.ctx, d)
	if err != nil && !p.dead && !errors.Is(err, errBroken) && !errors.Is(err, errGone) && !fault.Is(store.AsFault(err), fault.Unavailable) && p.ctx.Err() == nil {
		p.w.fail("%s gives an attempt up without a word: %v", name, err)
	}
	if err != nil && p.w.fault == rash && !p.dead {
		_ = p.rulesFor(name, d).HandBack(p.ctx, d, nil)
	}
	p.w.locked(func() {
		if delete(p.managers, m); p.w.executing[d] == mine {
			delete(p.w.executing, d)
		}
	})
	return err
}
