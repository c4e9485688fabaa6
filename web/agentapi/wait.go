package agentapi

import "commander/store"

// Heard wakes the agents that wait for a change of a cluster among the topics; store.Everything
// wakes all. It never waits itself.
func (a *API) Heard(topics ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, topic := range topics {
		if topic == store.Everything {
			for _, waiters := range a.waiting {
				wake(waiters)
			}
			return
		}
		wake(a.waiting[topic])
	}
}

func wake(waiters map[chan struct{}]struct{}) {
	for w := range waiters {
		select {
		case w <- struct{}{}:
		default: // it is awake already, or will be
		}
	}
}

// wait returns a channel that hears of a topic from now on; the caller must call leave.
func (a *API) wait(topic string) (news <-chan struct{}, leave func()) {
	w := make(chan struct{}, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting[topic] == nil {
		a.waiting[topic] = map[chan struct{}]struct{}{}
	}
	a.waiting[topic][w] = struct{}{}
	return w, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting[topic], w)
		if len(a.waiting[topic]) == 0 {
			delete(a.waiting, topic)
		}
	}
}
