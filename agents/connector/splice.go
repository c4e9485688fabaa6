package connector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"commander/agents/agentapi"
	"commander/agents/tunnel"
)

// serveTarget carries each connection on the listener to the agent.
func (c *Connector) serveTarget(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var carried sync.WaitGroup
	defer carried.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("accept: %w", err)
		}
		carried.Go(func() { c.carry(ctx, conn.(*net.UnixConn)) })
	}
}

// openLimit is how long a connection waits for room on the wire of the tunnel.
const openLimit = 10 * time.Second

func (c *Connector) carry(ctx context.Context, conn *net.UnixConn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	session := c.current()
	if session == nil {
		unavailable(conn, "the agent of this cluster is not connected")
		return
	}
	opening, cancel := context.WithTimeout(ctx, openLimit)
	defer cancel()
	stream, err := session.Open(opening, agentapi.TargetAPIServer)
	if err != nil {
		reason := "the agent of this cluster does not take connections"
		if errors.Is(err, tunnel.ErrTooManyStreams) {
			reason = "the tunnel to this cluster carries as many connections as it may"
		}
		unavailable(conn, reason)
		return
	}
	splice(conn, stream)
}

// splice copies both ways until both directions have ended, or one broke. It closes both.
func splice(conn *net.UnixConn, stream *tunnel.Stream) {
	defer stream.Close()
	defer conn.Close()
	var out sync.WaitGroup
	out.Go(func() {
		if _, err := io.Copy(stream, conn); err != nil {
			stream.Reset("connection broke")
			_ = conn.Close()
			return
		}
		_ = stream.CloseWrite()
	})
	if _, err := io.Copy(conn, stream); err != nil {
		stream.Reset("connection broke")
		_ = conn.Close()
	} else {
		_ = conn.CloseWrite()
	}
	out.Wait()
}
