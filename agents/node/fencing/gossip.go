package fencing

import (
	"encoding/json"

	"github.com/hashicorp/memberlist"
)

// word is a message on its way; a newer one of the same topic takes its place.
type word struct {
	topic string
	text  []byte
}

func (w *word) Name() string                          { return w.topic }
func (w *word) Invalidates(memberlist.Broadcast) bool { return false } // by name, see NamedBroadcast
func (w *word) Message() []byte                       { return w.text }
func (w *word) Finished()                             {}

// NodeMeta is part of memberlist's Delegate; members have nothing that never changes.
func (p *Peers) NodeMeta(int) []byte { return nil }

// NotifyMsg takes a message of another member; what cannot be read is of a later version.
func (p *Peers) NotifyMsg(text []byte) {
	var m message
	if json.Unmarshal(text, &m) != nil {
		return
	}
	switch {
	case m.Total != nil:
		p.take(*m.Total)
	case m.Leaves != "":
		p.mu.Lock()
		p.leaving[m.Leaves] = true
		p.mu.Unlock()
	case m.About != "" && m.By != "":
		p.takeClaim(m)
	}
}

// GetBroadcasts hands out what shall be told.
func (p *Peers) GetBroadcasts(overhead, limit int) [][]byte {
	return p.queue.GetBroadcasts(overhead, limit)
}

// LocalState is what a new member learns at once.
func (p *Peers) LocalState(bool) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.Marshal(p.total)
	if err != nil {
		panic(err) // of two numbers
	}
	return text
}

// MergeRemoteState takes what LocalState of another member gave.
func (p *Peers) MergeRemoteState(text []byte, _ bool) {
	var t total
	if json.Unmarshal(text, &t) == nil {
		p.take(t)
	}
}

// NotifyJoin is called when a member is seen alive.
func (p *Peers) NotifyJoin(n *memberlist.Node) { p.changed(n, true) }

// NotifyLeave is called when a member left or died.
func (p *Peers) NotifyLeave(n *memberlist.Node) { p.changed(n, false) }

// NotifyUpdate is called when a member's meta data change; there are none.
func (p *Peers) NotifyUpdate(*memberlist.Node) {}

func (p *Peers) changed(n *memberlist.Node, joined bool) {
	p.mu.Lock()
	if joined {
		p.alive[n.Name] = n.Addr.String()
	} else {
		delete(p.alive, n.Name)
	}
	p.mu.Unlock()
	if n.Name == p.name {
		return
	}
	p.mu.Lock()
	graceful := !joined && p.leaving[n.Name]
	delete(p.leaving, n.Name)
	p.mu.Unlock()
	if !joined {
		p.forget(n.Name)
	}
	if p.onChange != nil {
		p.onChange(Change{Peer{n.Name, n.Addr.String()}, joined, graceful})
	}
}
