package fencing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"

	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
	"commander/internal/run"
)

// Options say which node is watched, and how.
type Options struct {
	Node             string
	Group            string
	Mode             v1.FencingMode
	Timeout          time.Duration // of the watchdog
	Watchdog         Watchdog
	APIBound         time.Duration
	APIEvery         time.Duration // pause between two tries to reach the group
	Gossip           Gossip
	MinEventInterval time.Duration
	Socket           string
	Client           kubernetes.Interface
	Clock            clock.Clock
	Log              *slog.Logger
}

// Run watches the node until ctx ends. It waits for the API server first, since only that knows
// the node's address and group; the watchdog is not armed before.
func Run(ctx context.Context, o Options) error {
	cluster := &Cluster{Client: o.Client, Node: o.Node, Group: o.Group}
	members, err := firstMembers(ctx, cluster, o)
	if err != nil {
		return err
	}
	hub := NewHub(o.MinEventInterval, o.Clock)
	peers, err := NewPeers(o.Gossip, o.Node, o.Group, memberOf(o.Node, members).Address, hub.Publish, o.Clock, o.Log)
	if err != nil {
		return err
	}
	peers.Counted(len(members))
	server := &Server{Node: o.Node, Alive: peers.Alive, Hub: hub, Clock: o.Clock}
	group := run.Group{}
	group.Add("join", func(ctx context.Context) error { return keepJoined(ctx, peers, cluster, o) })
	group.Add("socket", func(ctx context.Context) error { return server.Serve(ctx, o.Socket) })
	if o.Mode == v1.FencingWatchdog {
		agent := &Agent{
			Node: o.Node, Timeout: o.Timeout, APIBound: o.APIBound, Cluster: cluster, Peers: peers,
			Watchdog: o.Watchdog, Clock: o.Clock, Log: o.Log,
		}
		group.Add("node", cluster.Watch)
		group.Add("agent", agent.Run)
	} else {
		group.Add("labels", func(ctx context.Context) error { return labeled(ctx, cluster, o) })
	}
	// The group ends before this member leaves: the label goes and the watchdog is disarmed while
	// the others still count on the node.
	return errors.Join(group.Run(ctx), peers.Leave())
}

// firstMembers asks until the API server knows this node with an address.
func firstMembers(ctx context.Context, cluster *Cluster, o Options) ([]Member, error) {
	tick := time.NewTicker(o.APIEvery)
	defer tick.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, o.APIBound)
		members, err := cluster.Members(bounded)
		if self := memberOf(o.Node, members); err == nil && self.Address != "" {
			// Before the others are met: they must not be thought to have somebody who would tell.
			if err = cluster.Forswear(bounded, self.UID); err == nil {
				cancel()
				return members, nil
			}
		}
		cancel()
		o.Log.Warn("waiting for the node to be known in its group", "node", o.Node, "group", o.Group, "error", err)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}

func memberOf(node string, members []Member) Member {
	for _, m := range members {
		if m.Name == node {
			return m
		}
	}
	return Member{}
}

// keepJoined joins the group, and again whenever this member finds itself alone in a group of
// several: two halves of a group that started apart would never find each other.
func keepJoined(ctx context.Context, peers *Peers, cluster *Cluster, o Options) error {
	tick := time.NewTicker(o.APIEvery)
	defer tick.Stop()
	for {
		bounded, cancel := context.WithTimeout(ctx, o.APIBound)
		members, err := cluster.Members(bounded)
		cancel()
		if err == nil {
			peers.Counted(len(members))
			if peers.Members() < len(members) {
				if err := joinAbsent(peers, members, o); err != nil {
					o.Log.Debug("members cannot be reached", "error", err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func joinAbsent(peers *Peers, members []Member, o Options) error {
	alive := map[string]bool{}
	for _, p := range peers.Alive() {
		alive[p.Name] = true
	}
	var absent []string
	for _, m := range members {
		if !alive[m.Name] && m.Address != "" {
			absent = append(absent, net.JoinHostPort(m.Address, strconv.Itoa(o.Gossip.Port)))
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return peers.Join(absent)
}

// labeled keeps the labels of mode Notify until ctx ends.
func labeled(ctx context.Context, cluster *Cluster, o Options) error {
	if err := cluster.Label(ctx, o.Mode, o.Timeout, 0); err != nil {
		return err
	}
	<-ctx.Done()
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveBound)
	defer cancel()
	if err := cluster.Unlabel(bounded); err != nil {
		return fmt.Errorf("end watch: %w", err)
	}
	return nil
}
