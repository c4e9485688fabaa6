package fencing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
)

// cluster, group: what the agent asks of the API server and of its peers.
type (
	cluster interface {
		Members(context.Context) ([]Member, error)
		Renewals(context.Context) (map[string]time.Time, error)
		Label(ctx context.Context, mode v1.FencingMode, timeout time.Duration, total int) error
		Unlabel(context.Context) error
		Vouch(context.Context) error
		InMaintenance() (bool, error)
	}
	group interface {
		Members() int
		Total() int
		Counted(int)
		TellLost([]string)
		SaidLost() bool
	}
)

// Agent feeds the watchdog of one node for as long as the node is not lost. It is used by one
// goroutine.
type Agent struct {
	Node     string
	Timeout  time.Duration // of the watchdog
	APIBound time.Duration // how long the API server may take; at most a tick
	Cluster  cluster
	Peers    group
	Watchdog Watchdog
	Clock    clock.Clock
	Log      *slog.Logger

	leases  *Leases
	lost    []string // who was lost at the last look that could tell
	counted int      // nodes of the group at the last good look
	floor   int      // the largest number of nodes that may be written on the node
	armed   bool
	labeled int // the number of nodes with which the label is known to be there; 0 without it
	// asked says that the label may be there: an answer that never came leaves that open.
	asked bool
	last  Action
	heard int // members at the last look
}

// Run looks at each tick until ctx ends, then takes back the label and disarms.
func (a *Agent) Run(ctx context.Context) error {
	tick := time.NewTicker(TickOf(a.Timeout))
	defer tick.Stop()
	for {
		if err := a.Tick(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return a.stop(context.WithoutCancel(ctx))
		case <-tick.C:
		}
	}
}

// Tick looks once and acts. It fails only if the watchdog cannot be armed or fed.
func (a *Agent) Tick(ctx context.Context) error {
	maintenance, err := a.Cluster.InMaintenance()
	if err != nil {
		return nil // never seen: not armed yet, and it must not be before that is known
	}
	view := View{Armed: a.armed, Maintenance: maintenance}
	if !maintenance {
		a.look(ctx, &view)
	}
	action := Judge(view)
	if action != a.last || view.Members != a.heard {
		a.Log.Info("state", "action", action, "members", view.Members, "total", view.Total, "api", view.APIReached,
			"leaseLost", view.LeaseLost, "peersSayLost", view.PeersSayLost)
		a.last, a.heard = action, view.Members
	}
	switch action {
	case Idle, Starve:
		if action == Starve {
			a.Log.Error("the node is lost: the watchdog is not fed")
		}
		return nil
	case Disarm:
		return a.disarm(ctx)
	case Fallback:
		a.Log.Warn("no quorum of the group: only the API server says that the node is not lost")
	}
	return a.feed(ctx)
}

// look fills in what the API server and the peers say.
func (a *Agent) look(ctx context.Context, view *View) {
	if a.leases == nil {
		a.leases = NewLeases(a.Clock)
	}
	ctx, cancel := context.WithTimeout(ctx, min(a.APIBound, TickOf(a.Timeout)))
	defer cancel()
	members, err := a.Cluster.Members(ctx)
	var renewed map[string]time.Time
	if err == nil {
		renewed, err = a.Cluster.Renewals(ctx)
	}
	if err != nil {
		a.leases.Failed()
		a.Log.Warn("the API server does not answer", "error", err)
	} else {
		a.leases.Observe(renewed)
		a.judgeOthers(members, view)
		// The same machine wrote it, by the same clock.
		age := a.Clock.Now().Sub(renewed[a.Node])
		view.OwnFresh = age > -StaleLease && age < StaleLease
	}
	a.Peers.TellLost(a.lost)
	// Only after it was told: who relies on it that this agent can tell may then rely on what it told.
	if view.CanTell {
		if err := a.Cluster.Vouch(ctx); err != nil {
			a.Log.Warn("it cannot be written down that this agent sees who is lost", "error", err)
		}
	}
	view.PeersSayLost = a.Peers.SaidLost()
	view.Members, view.Total = a.Peers.Members(), max(a.Peers.Total(), a.floor)
}

// judgeOthers takes what a good look found.
func (a *Agent) judgeOthers(members []Member, view *View) {
	view.APIReached, view.CanTell = true, a.leases.CanTell()
	a.counted = len(members)
	a.Peers.Counted(a.counted)
	var lost []string
	for _, m := range members {
		if m.Name == a.Node {
			a.floor = max(a.floor, m.Counted)
		}
		if a.leases.LostFor(m.Name) >= StaleLease {
			lost = append(lost, m.Name)
			view.LeaseLost = view.LeaseLost || m.Name == a.Node
		}
	}
	// Who cannot tell yet has nothing to take back.
	if view.CanTell {
		a.lost = lost
	}
}

// feed arms if that is still to be done; the label comes after, so that nobody relies on a
// watchdog that is not armed.
func (a *Agent) feed(ctx context.Context) error {
	if !a.armed {
		if err := a.Watchdog.Arm(); err != nil {
			return fmt.Errorf("arm: %w", err)
		}
		a.armed = true
	} else if err := a.Watchdog.Feed(); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	if a.labeled == a.counted || a.counted == 0 {
		return nil
	}
	// Not cut short by the agent's end: a request that was given up could still take effect after
	// the one that takes the label back.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(TickOf(a.Timeout), leaveBound))
	defer cancel()
	a.asked, a.floor = true, max(a.floor, a.counted)
	if err := a.Cluster.Label(bounded, v1.FencingWatchdog, a.Timeout, a.counted); err != nil {
		a.Log.Warn("the node is not labeled yet", "error", err)
		return nil
	}
	a.labeled, a.floor = a.counted, a.counted
	return nil
}

// disarm takes the label back first. If either fails the watchdog stays armed and is fed: the
// node is being worked on and must not be reset.
func (a *Agent) disarm(ctx context.Context) error {
	if err := a.Watchdog.Feed(); err != nil {
		return fmt.Errorf("feed: %w", err)
	}
	bounded, cancel := context.WithTimeout(ctx, TickOf(a.Timeout))
	defer cancel()
	if a.asked {
		if err := a.Cluster.Unlabel(bounded); err != nil {
			a.Log.Warn("still armed: the label cannot be taken back", "error", err)
			return nil
		}
		a.labeled, a.asked = 0, false
	}
	if err := a.Watchdog.Disarm(); err != nil {
		a.Log.Warn("still armed", "error", err)
		return nil
	}
	a.armed = false
	return nil
}

// stop ends the agent's watch over the node. If the label cannot be taken back the watchdog stays
// armed: with the label on it, the node's pods may be released, and then it has to be reset. The
// next agent of the node has the timeout to arm it anew.
func (a *Agent) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveBound)
	defer cancel()
	var err error
	if a.asked {
		if err = a.Cluster.Unlabel(ctx); err != nil {
			return fmt.Errorf("leave the watchdog armed: %w", err)
		}
	}
	if a.armed {
		err = a.Watchdog.Disarm()
		a.armed = false
	}
	return err
}
