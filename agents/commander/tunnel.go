package commander

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"commander/agents/agentapi"
	"commander/agents/tunnel"
)

const (
	// steadyAfter is how long a tunnel must have lived for its end to count as a new trouble.
	steadyAfter = time.Minute
	// streamIdle is how long a stream may wait for its next request.
	streamIdle = 3 * time.Minute
	// handlersLimit is how long requests may take to notice that their tunnel has ended.
	handlersLimit = 5 * time.Second
)

// keepTunnel holds a tunnel to Commander open.
func (a *agent) keepTunnel(ctx context.Context, api http.Handler) error {
	again := pause{first: a.RetryAfter, most: mostPause}
	for ctx.Err() == nil {
		wait := a.tunnelOnce(ctx, api, &again)
		if !rested(ctx, wait) {
			break
		}
	}
	return ctx.Err()
}

// tunnelOnce holds one tunnel until it ends, and gives the pause until the next.
func (a *agent) tunnelOnce(ctx context.Context, api http.Handler, again *pause) time.Duration {
	ws, err := a.Commander.DialTunnel(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return 0
		}
		return a.trouble("tunnel", err, again)
	}
	begun := time.Now()
	a.metrics.tunnel.Set(1)
	a.Log.Info("tunnel open")
	err = serveStreams(ctx, tunnel.Client(ws, a.Options.Tunnel), api, a.Log)
	a.metrics.tunnel.Set(0)
	if ctx.Err() != nil {
		return 0
	}
	if time.Since(begun) > steadyAfter {
		again.reset()
	}
	wait := again.grow()
	if goodbye := (*websocket.CloseError)(nil); errors.As(err, &goodbye) && goodbye.Code == agentapi.CloseReplaced {
		// Another agent serves this cluster. Coming back at once would only push it away.
		wait = jitter(refusedPause)
	}
	a.Log.Warn("tunnel ended", "reason", err.Error(), "retry_in", wait.Round(time.Millisecond).String())
	return wait
}

// serveStreams answers the streams of a session until it ends, and says why it did.
func serveStreams(ctx context.Context, session *tunnel.Session, api http.Handler, log *slog.Logger) error {
	stop := context.AfterFunc(ctx, func() { session.Close(websocket.CloseNormalClosure, "agent stops") })
	defer stop()
	server := &http.Server{
		Handler:           api,
		ReadHeaderTimeout: 30 * time.Second,
		IdleTimeout:       streamIdle,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	_ = server.Serve(streams{session}) // it ends with the session
	session.Close(websocket.CloseNormalClosure, "agent stops")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlersLimit)
	defer cancel()
	_ = server.Shutdown(drain)
	_ = server.Close()
	return session.Err()
}

// streams is a session as a listener for streams to the API server.
type streams struct{ session *tunnel.Session }

func (s streams) Accept() (net.Conn, error) {
	for {
		stream, err := s.session.Accept(context.Background()) // ends with the session
		if err != nil {
			return nil, err
		}
		if stream.Target() == agentapi.TargetAPIServer {
			return stream, nil
		}
		stream.Reset("no such target")
	}
}

func (s streams) Addr() net.Addr { return tunnel.Addr{Target: agentapi.TargetAPIServer} }

func (s streams) Close() error { return nil }
