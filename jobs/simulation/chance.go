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
	mu    sync.Mutex // protects asked
	asked map[string]uint64
}

func newChance(seed uint64) *chance { return &chance{seed: seed, asked: map[string]uint64{}} }

// of gives the source for the next answer to a question.
func (c *chance) of(who, what string) *rand.Rand {
	name := who + "/" + what
	c.mu.Lock()
	c.asked[name]++
	n := c.asked[name]
	c.mu.Unlock()
	return rand.New(rand.NewPCG(c.seed, sum(name)^n*0x9e3779b97f4a7c15))
}

func (c *chance) between(who, what string, least, most time.Duration) time.Duration {
	return least + time.Duration(c.of(who, what).Int64N(int64(most-least)))
}

// in reports whether something that happens once in n times happens now.
func (c *chance) in(who, what string, n int) bool { return c.of(who, what).IntN(n) == 0 }

// sum is FNV-1a, which is the same in every process.
func sum(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}
