package fencing

// View is what an agent sees at one moment.
type View struct {
	Armed       bool
	Maintenance bool // the Node is annotated as being worked on
	Members     int  // alive members of the group, this one included
	Total       int  // nodes of the group
	APIReached  bool // the API server answered this agent
	// OwnFresh means that the node's own Lease was renewed within StaleLease by the node's own clock,
	// by which kubelet writes it. It is known only if the API server was reached.
	OwnFresh bool
	// CanTell means that the API server has answered for long enough to know a stale Lease.
	CanTell bool
	// LeaseLost means that the node's own Lease is stale while another node's is fresh. It is
	// known only if the API server was reached.
	LeaseLost bool
	// PeersSayLost means that a peer which reached the API server found this node's Lease lost.
	PeersSayLost bool
}

// Action is what to do with the watchdog.
type Action string

// Actions. Feed and Fallback arm the watchdog if it is not.
const (
	Feed     Action = "feed"     // all is well
	Fallback Action = "fallback" // feed, but only the API server says that the node is not lost
	Starve   Action = "starve"   // the node is lost: let the watchdog end it
	Disarm   Action = "disarm"   // being worked on
	Idle     Action = "idle"     // being worked on, and disarmed already
)

// Judge decides by what is seen; it is pure.
func Judge(v View) Action {
	quorum := v.Members >= Quorum(v.Total)
	switch {
	case v.Maintenance && v.Armed:
		return Disarm
	case v.Maintenance:
		return Idle
	case v.Total <= 1:
		return Feed
	case v.APIReached && v.LeaseLost:
		return Starve
	case v.APIReached && (v.OwnFresh || v.CanTell) && quorum:
		return Feed
	case v.APIReached && (v.OwnFresh || v.CanTell):
		return Fallback
	case quorum && !v.PeersSayLost:
		return Feed
	default:
		return Starve
	}
}
