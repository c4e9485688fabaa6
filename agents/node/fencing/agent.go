package fencing

import (
	"context"
	"errors"
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
		Label(context.Context, v1.FencingMode, time.Duration) error
		Unlabel(context.Context) error
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
	armed   bool
	labeled bool
	// asked says that the label may be there: an answer that never came leaves that open.
	asked bool
	last  Action
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
	if action != a.last {
		a.Log.Info("state", "action", action, "members", view.Members, "total", view.Total, "api", view.APIReached,
			"leaseLost", view.LeaseLost, "peersSayLost", view.PeersSayLost)
		a.last = action
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
	if err == nil {
		var renewed map[string]time.Time
		if renewed, err = a.Cluster.Renewals(ctx); err == nil {
			a.leases.Observe(renewed)
		}
	}
	if err != nil {
		a.leases.Failed()
		a.Log.Warn("the API server does not answer", "error", err)
	} else {
		view.APIReached = true
		a.Peers.Counted(len(members))
		var lost []string
		for _, m := range members {
			if a.leases.Stale(m.Name) && a.leases.OthersFresh(m.Name) {
				lost = append(lost, m.Name)
				view.LeaseLost = view.LeaseLost || m.Name == a.Node
			}
		}
		a.Peers.TellLost(lost)
	}
	view.PeersSayLost = a.Peers.SaidLost()
	view.Members, view.Total = a.Peers.Members(), a.Peers.Total()
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
	if a.labeled {
		return nil
	}
	// Not cut short by the agent's end: a request that was given up could still take effect after
	// the one that takes the label back.
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(TickOf(a.Timeout), leaveBound))
	defer cancel()
	a.asked = true
	if err := a.Cluster.Label(bounded, v1.FencingWatchdog, a.Timeout); err != nil {
		a.Log.Warn("the node is not labeled yet", "error", err)
		return nil
	}
	a.labeled = true
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
		a.labeled, a.asked = false, false
	}
	if err := a.Watchdog.Disarm(); err != nil {
		a.Log.Warn("still armed", "error", err)
		return nil
	}
	a.armed = false
	return nil
}

// stop ends the agent's watch over the node. It disarms even if the label cannot be taken back:
// the end of this pod must not reset a node that is well.
func (a *Agent) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaveBound)
	defer cancel()
	var err error
	if a.asked {
		err = a.Cluster.Unlabel(ctx)
	}
	if a.armed {
		err = errors.Join(err, a.Watchdog.Disarm())
		a.armed = false
	}
	return err
}
