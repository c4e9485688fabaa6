package process

import (
	"context"
	"sync"
	"time"
)

// A process that dies is started again after firstDelay, then after twice as long each time up
// to maxDelay; one that ran for steady counts as healthy again.
const (
	firstDelay = 100 * time.Millisecond
	maxDelay   = 30 * time.Second
	steady     = time.Minute
)

// kept is one process with the goroutine that starts it again.
type kept struct {
	keeper *Keeper
	name   string
	plan   Plan

	quit chan struct{} // closed to tell the goroutine to let go of the process
	done chan struct{} // closed when the goroutine has ended

	mu       sync.Mutex // protects what follows
	current  *handle    // nil between a death and the next start
	print    string     // fingerprint of the current process
	restarts int
	asked    bool // the current process was told to end, so its end needs no delay
}

func newKept(k *Keeper, name string, plan Plan, h *handle, print string) *kept {
	p := &kept{keeper: k, name: name, plan: plan, quit: make(chan struct{}), done: make(chan struct{}), current: h, print: print}
	go p.watch(h)
	return p
}

// watch starts the process again whenever it ends, until it is told to quit.
func (p *kept) watch(h *handle) {
	defer close(p.done)
	delay := firstDelay
	for {
		began := time.Now()
		select {
		case <-p.quit:
			return
		case <-h.ended:
		}
		h.reap()
		p.mu.Lock()
		asked := p.asked
		p.current, p.asked = nil, false
		p.mu.Unlock()
		if !asked {
			p.keeper.log.Warn("process ended", "process", p.name, "pid", h.id.PID, "how", h.how())
		}
		if time.Since(began) > steady || asked {
			delay = firstDelay
		}
		next := p.again(&delay)
		if next == nil {
			return
		}
		h = next
	}
}

// again starts the process, as often as it takes; nil means that it was told to quit.
func (p *kept) again(delay *time.Duration) *handle {
	for {
		timer := time.NewTimer(*delay)
		select {
		case <-p.quit:
			timer.Stop()
			return nil
		case <-timer.C:
		}
		*delay = min(2**delay, maxDelay)
		h, print, err := p.keeper.start(p.name, p.plan)
		if err != nil {
			p.keeper.log.Warn("process not started", "process", p.name, "error", err, "retry_after", *delay)
			continue
		}
		p.mu.Lock()
		p.current, p.print = h, print
		p.restarts++
		p.mu.Unlock()
		return h
	}
}

// runs tells whether the process is alive and was started by this fingerprint.
func (p *kept) runs(print string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current != nil && p.print == print && p.current.id.Alive()
}

// leave ends the goroutine and keeps the process running.
func (p *kept) leave() {
	close(p.quit)
	<-p.done
	if p.current != nil { // the goroutine has ended: nobody else changes it
		p.current.close()
	}
}

// stop ends the goroutine, then the process.
func (p *kept) stop(ctx context.Context) {
	close(p.quit)
	<-p.done
	if p.current != nil {
		p.current.stop(ctx.Done())
		p.current.reap()
	}
}

// restart ends the process and leaves starting it to the goroutine.
func (p *kept) restart() {
	p.mu.Lock()
	h := p.current
	p.asked = h != nil
	p.mu.Unlock()
	if h != nil {
		h.stop(nil)
	}
}

func (p *kept) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{Restarts: p.restarts}
	if p.current != nil {
		s.PID = p.current.id.PID
	}
	return s
}
