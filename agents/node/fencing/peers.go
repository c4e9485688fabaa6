package fencing

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
	"golang.org/x/sync/errgroup"

	"commander/internal/clock"
)

// Gossip is how the members of a group find out about each other.
type Gossip struct {
	Port                int           `flag:"memberlist-port" env:"MEMBERLIST_PORT" default:"8500" help:"TCP and UDP port of the group's members"`
	ProbeInterval       time.Duration `flag:"probe-interval" env:"PROBE_INTERVAL" default:"200ms" help:"pause between two probes"`
	ProbeTimeout        time.Duration `flag:"probe-timeout" env:"PROBE_TIMEOUT" default:"100ms" help:"how long a probed member may take"`
	SuspicionMult       int           `flag:"suspicion-mult" env:"SUSPICION_MULT" default:"2" help:"how long a member stays suspected, as a multiple"`
	IndirectChecks      int           `flag:"indirect-checks" env:"INDIRECT_CHECKS" default:"3" help:"members that are asked to probe for another"`
	GossipInterval      time.Duration `flag:"gossip-interval" env:"GOSSIP_INTERVAL" default:"100ms" help:"pause between two rounds of gossip"`
	RetransmitMult      int           `flag:"retransmit-mult" env:"RETRANSMIT_MULT" default:"4" help:"how often a message is passed on, as a multiple"`
	GossipToTheDeadTime time.Duration `flag:"gossip-to-the-dead-time" env:"GOSSIP_TO_THE_DEAD_TIME" default:"2s" help:"how long a dead member is still told what happens"`
}

// Peer is a member of the group.
type Peer struct{ Name, Address string }

// Change is a member that came or went.
type Change struct {
	Peer
	Joined   bool
	Graceful bool // it said that it goes
}

// reclaim is how soon a member may come back under its name with another address.
const reclaim = 10 * time.Second

// leaveBound is how long it may take to tell the others that this member goes.
const leaveBound = 3 * time.Second

// leaveAtOnce is how many members are told at the same time.
const leaveAtOnce = 32

// Peers is this node's place among the members of its group.
type Peers struct {
	name     string
	list     *memberlist.Memberlist
	queue    *memberlist.TransmitLimitedQueue
	onChange func(Change)
	clock    clock.Clock

	mu      sync.Mutex // protects all below
	total   total
	seq     uint64
	told    map[string]bool             // nodes that this member has told to be lost
	claims  map[string]map[string]claim // by the lost node and by who claims it
	leaving map[string]bool             // members that said that they go
	// alive are the members with their addresses, as the gossip told: the nodes that it hands out
	// are its own to change.
	alive map[string]string
}

// total is how many nodes the group has; the newest claim wins.
type total struct {
	Nodes int   `json:"nodes"`
	At    int64 `json:"at"` // Unix milliseconds by the clock of who counted
}

// claim is the newest word of a member on whether a node is lost.
type claim struct {
	seq  uint64
	lost bool
}

// message is what members tell each other: a count, a word on a Lease, or a farewell.
type message struct {
	Total  *total `json:"total,omitempty"`
	Leaves string `json:"leaves,omitempty"` // who goes
	About  string `json:"about,omitempty"`  // a node whose Lease was looked at
	Lost   bool   `json:"lost,omitempty"`   // it is stale
	By     string `json:"by,omitempty"`     // who looked
	Seq    uint64 `json:"seq,omitempty"`    // counts up, so that old words are known as such
}

// NewPeers starts to listen at an address. Packets of other groups are dropped. onChange is called
// from the goroutines of the gossip and must return at once.
func NewPeers(g Gossip, name, group, address string, onChange func(Change), c clock.Clock, log *slog.Logger) (*Peers, error) {
	p := &Peers{name: name, onChange: onChange, clock: c, told: map[string]bool{}, alive: map[string]string{}, leaving: map[string]bool{}, claims: map[string]map[string]claim{}, seq: uint64(c.Now().UnixMilli())}
	config := memberlist.DefaultLANConfig()
	config.Name, config.Label = name, group
	config.BindAddr, config.AdvertiseAddr, config.BindPort, config.AdvertisePort = address, address, g.Port, g.Port
	config.ProbeInterval, config.ProbeTimeout, config.IndirectChecks = g.ProbeInterval, g.ProbeTimeout, g.IndirectChecks
	config.SuspicionMult, config.RetransmitMult = g.SuspicionMult, g.RetransmitMult
	config.GossipInterval, config.GossipToTheDeadTime = g.GossipInterval, g.GossipToTheDeadTime
	config.DeadNodeReclaimTime, config.TCPTimeout = reclaim, leaveBound
	config.Delegate, config.Events = p, p
	config.Logger = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	p.queue = &memberlist.TransmitLimitedQueue{NumNodes: p.Members, RetransmitMult: g.RetransmitMult}
	list, err := memberlist.Create(config)
	if err != nil {
		return nil, fmt.Errorf("start gossip: %w", err)
	}
	p.mu.Lock()
	p.list = list
	p.mu.Unlock()
	return p, nil
}

// Address is where others reach this member, with the port.
func (p *Peers) Address() string { return p.list.LocalNode().Address() }

// Join asks members to take this one in; one of them suffices.
func (p *Peers) Join(addresses []string) error {
	if _, err := p.list.Join(addresses); err != nil {
		return fmt.Errorf("join group: %w", err)
	}
	return nil
}

// Members counts who is alive, this one included.
func (p *Peers) Members() int {
	p.mu.Lock()
	list := p.list
	p.mu.Unlock()
	if list == nil {
		return 1 // still being made
	}
	return list.NumMembers()
}

// Alive lists who is, this one included.
func (p *Peers) Alive() []Peer {
	p.mu.Lock()
	all := make([]Peer, 0, len(p.alive))
	for name, address := range p.alive {
		all = append(all, Peer{name, address})
	}
	p.mu.Unlock()
	slices.SortFunc(all, func(a, b Peer) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Total is how many nodes the group has by the newest count that was heard of.
func (p *Peers) Total() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total.Nodes
}

// Counted tells the group how many nodes it has. A later count is always a newer one, also if a
// clock of the group is ahead.
func (p *Peers) Counted(nodes int) {
	p.mu.Lock()
	at := max(p.clock.Now().UnixMilli(), p.total.At+1)
	p.mu.Unlock()
	p.take(total{nodes, at})
}

// TellLost tells the group which nodes have lost their Lease, and of those told before that they
// have not any more. It is repeated at each look, for members that missed a word.
func (p *Peers) TellLost(lost []string) {
	p.mu.Lock()
	words := map[string]bool{}
	for name := range p.told {
		words[name] = false
	}
	clear(p.told)
	for _, name := range lost {
		words[name], p.told[name] = true, true
	}
	p.seq++
	seq := p.seq
	p.mu.Unlock()
	for name, is := range words {
		p.tell("lost:"+name+":"+p.name, message{About: name, Lost: is, By: p.name, Seq: seq})
	}
}

// SaidLost says whether the newest word of any living member is that this node lost its Lease.
func (p *Peers) SaidLost() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.claims[p.name] {
		if c.lost {
			return true
		}
	}
	return false
}

// Leave tells the others that this member goes, so that nobody takes it for dead, and stops.
// memberlist does not say in its events which of the two it was, so every member is told first.
func (p *Peers) Leave() error {
	text, err := json.Marshal(message{Leaves: p.name})
	if err != nil {
		return fmt.Errorf("leave group: %w", err)
	}
	var telling errgroup.Group
	telling.SetLimit(leaveAtOnce)
	for _, m := range p.list.Members() {
		if m.Name != p.name {
			telling.Go(func() error { return p.list.SendReliable(m, text) })
		}
	}
	_ = telling.Wait() // who cannot be told will find out
	err = p.list.Leave(leaveBound)
	if stop := p.list.Shutdown(); err == nil {
		err = stop
	}
	if err != nil {
		return fmt.Errorf("leave group: %w", err)
	}
	return nil
}

func (p *Peers) take(t total) {
	p.mu.Lock()
	newer := t.At > p.total.At
	if newer {
		p.total = t
	}
	p.mu.Unlock()
	if newer {
		p.tell("total", message{Total: &t})
	}
}

func (p *Peers) takeClaim(m message) {
	if m.By == p.name {
		return
	}
	p.mu.Lock()
	if p.claims[m.About] == nil {
		p.claims[m.About] = map[string]claim{}
	}
	newer := m.Seq > p.claims[m.About][m.By].seq
	if newer {
		p.claims[m.About][m.By] = claim{m.Seq, m.Lost}
	}
	p.mu.Unlock()
	if newer {
		p.tell("lost:"+m.About+":"+m.By, m)
	}
}

// forget drops the word of a member that can no longer take it back.
func (p *Peers) forget(member string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, by := range p.claims {
		if c, known := by[member]; known {
			by[member] = claim{c.seq, false} // the number stays: old words may still be on their way
		}
	}
}

func (p *Peers) tell(topic string, m message) {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // of numbers and strings only
	}
	p.queue.QueueBroadcast(&word{topic, text})
}
