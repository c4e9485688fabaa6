package simulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"commander/fleet"
	"commander/jobs/clustermanager"
	"commander/store"
)

// cluster is what is really there: what engines have done to it.
type cluster struct {
	exists bool
	n      int // of the configuration that it was given last
	// drifted says that somebody changed it by hand since.
	drifted bool
	// lock is the engine's own, one a cluster.
	lock *operation
	// at is the operation that changes something right now.
	at *operation
}

// plan are the phases of an operation.
var plan = map[store.TaskKind][]string{
	store.TaskBootstrap: {"BaseInfra", "Masters", "Install"},
	store.TaskConverge:  {"BaseInfra", "Nodes"},
	store.TaskCheck:     {"Look"},
	store.TaskDestroy:   {"Resources", "Machines"},
	store.TaskAbort:     {"Machines"},
}

const critical = "Masters"

// installer is an engine as a worker sees it.
type installer struct {
	p        *process
	name     string
	delivery fleet.Delivery
}

// operation is an engine at work. It is a process of its own, which outlives its caller.
type operation struct {
	w        *world
	name     string
	cluster  *cluster
	op       clustermanager.Operation
	delivery fleet.Delivery
	n        int
	before   progress // what other tasks have done
	done     []string

	heard       time.Time // of the caller
	frozenUntil time.Time
	killed      bool
	afterStop   int           // phases begun since a person stopped it
	broken      chan struct{} // closed when its caller sees no more of it
	died        chan struct{} // closed when it is killed
	cut         bool          // says that the two still live
	said        chan message
	answers     chan bool
}

// message is what an engine tells its caller.
type message struct {
	progress *fleet.Progress
	end      *fleet.PhaseEnd
	result   *clustermanager.Result
}

var errBroken = errors.New("the connection to the engine broke")

// Run carries out an operation and keeps talking with it, as the client of dhctl does.
func (i *installer) Run(ctx context.Context, op clustermanager.Operation, hooks clustermanager.Hooks) (clustermanager.Result, error) {
	o, err := i.begin(op)
	if err != nil {
		return clustermanager.Result{State: op.State, Err: err.Error()}, nil
	}
	alive := time.NewTicker(beatEvery)
	defer alive.Stop()
	for {
		m, news := o.next(ctx, alive.C)
		i.p.thaw()
		switch {
		case ctx.Err() != nil:
			return clustermanager.Result{}, ctx.Err()
		case !news && (o.killed || o.cut):
			return clustermanager.Result{}, errBroken
		case !news:
			if hooks.Alive() == nil && !i.p.dead {
				o.heard = time.Now()
			}
		case m.result != nil:
			return *m.result, nil
		case m.progress != nil:
			hooks.Logs([]string{"in phase " + m.progress.Current})
			hooks.Progress(*m.progress)
		default:
			goOn, err := hooks.PhaseEnd(*m.end)
			if err != nil {
				return clustermanager.Result{}, err
			}
			if !i.p.dead {
				o.heard = time.Now()
				o.answers <- goOn
			}
		}
	}
}

// next waits for what the caller has to react to. Of several things at once, after the caller stood
// still, what the engine said comes first: a choice by chance would not repeat.
func (o *operation) next(ctx context.Context, alive <-chan time.Time) (m message, news bool) {
	select {
	case m = <-o.said:
		return m, true
	default:
	}
	select {
	case m = <-o.said:
		return m, true
	case <-ctx.Done():
	case <-o.broken:
	case <-alive:
	}
	return m, false
}

func (i *installer) begin(op clustermanager.Operation) (*operation, error) {
	w := i.p.w
	o := &operation{
		w: w, name: i.name + "/engine", cluster: w.clusters[op.ClusterID], op: op, delivery: i.delivery, heard: time.Now(),
		broken: make(chan struct{}), died: make(chan struct{}), said: make(chan message, 16), answers: make(chan bool, 1),
	}
	_, size, _ := strings.Cut(op.ClusterConfig, "size: ")
	var err error
	if o.n, err = strconv.Atoi(strings.TrimSpace(size)); err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	for _, of := range readProgress(op.State) {
		if of.task == o.task() {
			o.done = of.phases
		} else {
			o.before = append(o.before, of)
		}
	}
	w.locked(func() { w.operations = append(w.operations, o) })
	w.Go(o.work)
	return o, nil
}

// step waits as long as the operation stands still, and reports whether it may go on.
func (o *operation) step() bool {
	for wait := time.Until(o.frozenUntil); wait > 0; wait = time.Until(o.frozenUntil) {
		time.Sleep(wait)
	}
	return !o.killed
}

// unheard reports whether the caller has been silent for too long.
func (o *operation) unheard() bool {
	return time.Since(o.heard) > quietLimit/2
}

func (o *operation) work() {
	if other := o.cluster.lock; other != nil && other.frozenUntil.IsZero() {
		o.w.fail("%s begins while %s is at work and well", o.name, other.name)
	}
	if o.cluster.lock != nil && o.w.fault != unlocked {
		o.tell(message{result: &clustermanager.Result{State: o.op.State, Err: "another operation is at this cluster"}})
		return
	}
	o.cluster.lock = o
	result := o.run()
	if o.cluster.lock == o {
		o.cluster.lock = nil
	}
	if result != nil && !o.killed {
		o.w.tell("%s ends: stopped %v, unheard %v, change %q, error %q", o.name, result.Stopped, result.Unheard, result.ChangeID, result.Err)
		o.tell(message{result: result})
	}
}

func (o *operation) tell(m message) {
	select {
	case o.said <- m:
	default: // nobody reads any more
	}
}

// run returns nil when the engine was killed.
func (o *operation) run() *clustermanager.Result {
	destructive := o.op.Kind == store.TaskConverge && o.n%5 == 0
	if id := fmt.Sprintf("change-%d", o.n); destructive && o.op.ApprovedChange != id {
		return &clustermanager.Result{State: o.state(), ChangeID: id}
	} else if destructive && !o.w.approved[o.op.ClusterID+"/"+id] {
		o.w.fail("%s makes a change that nobody has approved", o.name)
	}
	phases := plan[o.op.Kind]
	o.tell(message{progress: o.announced(0, phases)}) // also when it goes on in the middle
	if o.op.Kind == store.TaskCheck && o.w.faulty() && o.w.in(o.name, "unreachable", 8) {
		time.Sleep(o.w.between(o.name, "unreachable for", time.Second, 40*time.Second))
		return &clustermanager.Result{State: o.state(), Err: "the cluster cannot be reached"}
	}
	for i, phase := range phases {
		if slices.Contains(o.done, phase) {
			continue
		}
		if !o.step() {
			return nil
		}
		if o.unheard() {
			return &clustermanager.Result{State: o.state(), Unheard: true}
		}
		o.tell(message{progress: o.announced(i, phases)})
		if !o.effect(phase) {
			return nil
		}
		o.done = append(o.done, phase)
		if i == len(phases)-1 {
			break
		}
		o.tell(message{end: &fleet.PhaseEnd{Completed: phase, Next: phases[i+1], Critical: phases[i+1] == critical, State: o.state()}})
		goOn, heard := o.answer()
		switch {
		case o.killed:
			return nil
		case !heard:
			return &clustermanager.Result{State: o.state(), Unheard: true}
		case !goOn:
			return &clustermanager.Result{State: o.state(), Stopped: true}
		}
		if o.w.faulty() && o.w.in(o.name, "fails", 25) {
			return &clustermanager.Result{State: o.state(), Err: "no machines left"}
		}
	}
	return o.success()
}

func (o *operation) announced(i int, phases []string) *fleet.Progress {
	p := &fleet.Progress{Fraction: float64(i) / float64(len(phases)), Current: phases[i]}
	for _, name := range phases {
		p.Plan = append(p.Plan, fleet.PlannedPhase{Name: name})
	}
	return p
}

// effect is what a phase does to the cluster; nobody else may do anything meanwhile.
func (o *operation) effect(phase string) bool {
	o.w.begins(o, phase)
	o.w.tell("%s: %s, phase %s", o.name, o.op.Kind, phase)
	time.Sleep(o.w.between(o.name, phase, time.Second, 40*time.Second))
	alive := o.step()
	if o.cluster.at == o {
		o.cluster.at = nil
	}
	return alive
}

// answer waits for the caller's word on the next phase, no longer than the caller may be silent.
func (o *operation) answer() (goOn, heard bool) {
	for {
		select {
		case goOn = <-o.answers:
			return goOn, o.step()
		default:
		}
		select {
		case goOn = <-o.answers:
			return goOn, o.step()
		case <-o.died:
			return false, false
		case <-time.After(quietLimit/2 + time.Second - time.Since(o.heard)):
			if !o.step() || time.Since(o.heard) > quietLimit/2 {
				return false, false
			}
		}
	}
}

func (o *operation) success() *clustermanager.Result {
	switch o.op.Kind {
	case store.TaskBootstrap, store.TaskConverge:
		o.cluster.exists, o.cluster.n, o.cluster.drifted = true, o.n, false
	case store.TaskDestroy, store.TaskAbort:
		o.cluster.exists = false
	}
	differs := o.op.Kind == store.TaskCheck && o.cluster.n != o.n
	o.w.locked(func() { o.w.succeeded[o.delivery], o.w.differed[o.delivery] = true, differs })
	return &clustermanager.Result{State: o.state(), OutOfSync: differs && o.w.fault != overlooks}
}

// cutOff breaks the line between an engine and its caller; neither learns what the other does then.
func (o *operation) cutOff() {
	if !o.cut {
		o.cut = true
		close(o.broken)
	}
}

func (o *operation) kill() {
	if !o.killed {
		o.w.tell("%s is killed", o.name)
		o.killed = true
		close(o.died)
		o.cutOff()
		if o.cluster.lock == o {
			o.cluster.lock = nil // the kernel takes it back
		}
		if o.cluster.at == o {
			o.cluster.at = nil
		}
	}
}
