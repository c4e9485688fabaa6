package simulation

import (
	"math/rand/v2"
	"sync"
	"time"
)

// chance draws what a seed decides. Each question has a name and is counted by itself, so that one
// more question of one actor changes nothing for the others.
type chance struct {
	seed  uint64
	mu    sync.Mutex        // protects asked
	asked map[uint64]uint64 // how often, by the sum of who asks what
}

func newChance(seed uint64) *chance { return &chance{seed: seed, asked: map[uint64]uint64{}} }

// draw is the source of the next answer to a question.
type draw struct{ rand.PCG }

func (c *chance) of(who, what string) *draw {
	q := sum(sum(offset, who), what)
	c.mu.Lock()
	c.asked[q]++
	n := c.asked[q]
	c.mu.Unlock()
	d := new(draw)
	d.Seed(c.seed, q^n*0x9e3779b97f4a7c15)
	return d
}

// below is one of the numbers from 0 to n-1.
func (d *draw) below(n int) int { return int(d.Uint64() % uint64(n)) }

func (d *draw) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Uint64()%uint64(most-least))
}

// in reports whether something that happens once in n times happens now.
func (d *draw) in(n int) bool { return d.below(n) == 0 }

func (c *chance) between(who, what string, least, most time.Duration) time.Duration {
	return c.of(who, what).between(least, most)
}

func (c *chance) in(who, what string, n int) bool { return c.of(who, what).in(n) }

const offset = 14695981039346656037

// sum goes on with FNV-1a, which is the same in every process.
func sum(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h * 1099511628211 // so that where one text ends matters
}
