package drain

import (
	"context"
	"sync"
)

// tasks are the drains under way, at most one a node. They live in memory: after a restart the
// annotations ask for them again.
type tasks struct {
	mu  sync.Mutex // protects all
	all map[string]*task
}

type task struct {
	cancel context.CancelFunc
	done   chan struct{} // closed after err was written
	err    error
}

// start begins a drain in the background and calls ended after it, unless one is under way.
func (t *tasks) start(ctx context.Context, node string, drain func(context.Context) error, ended func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[node] != nil {
		return
	}
	if t.all == nil {
		t.all = map[string]*task{}
	}
	ctx, cancel := context.WithCancel(ctx)
	k := &task{cancel: cancel, done: make(chan struct{})}
	t.all[node] = k
	go func() {
		defer cancel()
		k.err = drain(ctx)
		close(k.done)
		ended()
	}()
}

// result takes the outcome of a drain that has ended; over is false while it is under way.
func (t *tasks) result(node string) (known, over bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.all[node]
	if k == nil {
		return false, false, nil
	}
	select {
	case <-k.done:
		delete(t.all, node)
		return true, true, k.err
	default:
		return true, false, nil
	}
}

// stop ends a drain and waits for it; false if none was under way.
func (t *tasks) stop(node string) bool {
	t.mu.Lock()
	k := t.all[node]
	delete(t.all, node)
	t.mu.Unlock()
	if k == nil {
		return false
	}
	select {
	case <-k.done:
		return false
	default:
	}
	k.cancel()
	<-k.done
	return true
}

// wait ends all drains and waits for them.
func (t *tasks) wait() {
	t.mu.Lock()
	var nodes []string
	for node := range t.all {
		nodes = append(nodes, node)
	}
	t.mu.Unlock()
	for _, node := range nodes {
		t.stop(node)
	}
}
