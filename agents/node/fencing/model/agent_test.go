package model

import (
	"context"
	"time"

	v1 "commander/agents/node/api/v1"
	"commander/agents/node/fencing"
)

// cluster is the API server as the agent of a machine meets it.
type cluster struct{ m *machine }

func (c cluster) answers() bool {
	return !c.m.w.away && (c.m.agent == yes || c.m.agent == flap && c.m.looks%3 == 0)
}

func (c cluster) Members(context.Context) ([]fencing.Member, error) {
	if !c.answers() {
		return nil, errAway
	}
	var all []fencing.Member
	for _, m := range c.m.w.machines {
		if !m.gone {
			all = append(all, fencing.Member{Name: m.name, Counted: m.total})
		}
	}
	return all, nil
}

func (c cluster) Renewals(context.Context) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	for _, m := range c.m.w.machines {
		if !m.gone {
			all[m.name] = m.renewed
		}
	}
	return all, nil
}

func (c cluster) Label(_ context.Context, _ v1.FencingMode, _ time.Duration, total int) error {
	if !c.answers() {
		return errAway
	}
	c.m.labeled, c.m.total = true, total
	return nil
}

func (c cluster) Unlabel(context.Context) error {
	if !c.answers() {
		return errAway
	}
	c.m.labeled, c.m.total = false, 0
	return nil
}

func (c cluster) Vouch(context.Context) error {
	c.m.vouched = c.m.clock.Now()
	return nil
}

func (c cluster) InMaintenance() (bool, error) { return false, nil }

// peers are the others of the group as an agent hears of them, as memberlist tells: who cannot be
// heard is forgotten with what it said, and words go on through those that hear each other.
type peers struct {
	m     *machine
	total int
	at    int64
	told  map[string]bool
	words map[string]bool // by who said it: this machine is lost
}

// meet takes what those have that can be heard.
func (p *peers) meet() {
	for _, other := range p.m.w.machines {
		if !p.m.w.hear(p.m, other) || other == p.m {
			delete(p.words, other.name)
			continue
		}
		if other.peers.at > p.at {
			p.total, p.at = other.peers.total, other.peers.at
		}
	}
}

func (p *peers) Members() int {
	count := 0
	for _, other := range p.m.w.machines {
		if p.m.w.hear(p.m, other) {
			count++
		}
	}
	return count
}

func (p *peers) Total() int { return p.total }

func (p *peers) Counted(n int) {
	p.total, p.at = n, max(p.m.clock.Now().UnixMilli(), p.at+1)
}

// TellLost reaches who can be heard now. What was lost and is not any more is taken back.
func (p *peers) TellLost(lost []string) {
	before := p.told
	p.told = map[string]bool{}
	for _, name := range lost {
		p.told[name] = true
	}
	for _, other := range p.m.w.machines {
		if other == p.m || !p.m.w.hear(p.m, other) {
			continue
		}
		if p.told[other.name] {
			other.peers.words[p.m.name] = true
		} else if before[other.name] {
			other.peers.words[p.m.name] = false
		}
	}
}

func (p *peers) SaidLost() bool {
	if p.m.w.faults.deaf {
		return false
	}
	for _, lost := range p.words {
		if lost {
			return true
		}
	}
	return false
}
