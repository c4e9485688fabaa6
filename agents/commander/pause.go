package commander

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause grows from try to try. Its length is random between a half and the whole, so that the
// agents of many clusters do not come back together after an outage of Commander.
type pause struct {
	first, most time.Duration
	next        time.Duration
}

func (p *pause) reset() { p.next = 0 }

// grow gives the length of the next pause.
func (p *pause) grow() time.Duration {
	if p.next == 0 {
		p.next = p.first
	}
	length := min(p.next, p.most)
	p.next = min(2*p.next, p.most)
	return jitter(length)
}

func jitter(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1)
}

// rested waits and says whether the context still lives.
func rested(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
