package fencing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	"commander/agents/node/fencing/fencingpb"
	"commander/internal/clock"
)

// Server answers programs on the node that ask who is alive.
type Server struct {
	fencingpb.UnimplementedFencingServer
	Node  string
	Alive func() []Peer
	Hub   *Hub
	Clock clock.Clock
}

// GetAll lists who is alive.
func (s *Server) GetAll(context.Context, *fencingpb.Empty) (*fencingpb.AllNodes, error) {
	all := &fencingpb.AllNodes{}
	for _, p := range s.Alive() {
		all.Nodes = append(all.Nodes, s.node(p))
	}
	return all, nil
}

// StreamEvents sends changes until the caller goes.
func (s *Server) StreamEvents(_ *fencingpb.Empty, stream grpc.ServerStreamingServer[fencingpb.Event]) error {
	l := s.Hub.listen()
	defer s.Hub.leave(l)
	if err := stream.SendHeader(nil); err != nil { // tells the caller that from now on nothing is missed
		return err
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		changes, again := s.Hub.due(l)
		for _, c := range changes {
			if err := stream.Send(s.event(c)); err != nil {
				return err
			}
		}
		if again > 0 {
			timer.Reset(again)
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-l.wake:
		case <-timer.C:
		}
	}
}

func (s *Server) event(c Change) *fencingpb.Event {
	kind := fencingpb.EventType_LEFT
	if c.Joined {
		kind = fencingpb.EventType_JOIN
	}
	return &fencingpb.Event{Node: s.node(c.Peer), Time: timestamppb.New(s.Clock.Now()), Type: kind, SourceName: &s.Node}
}

func (s *Server) node(p Peer) *fencingpb.Node {
	n := &fencingpb.Node{Name: p.Name, Addresses: map[string]string{"InternalIP": p.Address}}
	if gone := s.Hub.Gone(p.Name); !gone.IsZero() {
		n.PrevDisconnectTime = timestamppb.New(gone)
	}
	return n
}

// Serve listens on a unix socket until ctx ends. What an earlier process left at the path is
// removed.
func (s *Server) Serve(ctx context.Context, socket string) error {
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return fmt.Errorf("listen for programs of the node: %w", err)
	}
	server := grpc.NewServer()
	fencingpb.RegisterFencingServer(server, s)
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	if err := server.Serve(listener); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve programs of the node: %w", err)
	}
	return nil
}
