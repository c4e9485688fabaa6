package connector

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"commander/agents/tunnel"
	"commander/internal/run"
)

// Options say which cluster a connector serves and where.
type Options struct {
	Cluster string // UUID, for people
	Dir     string
	Log     *slog.Logger
	Tunnel  tunnel.Options
}

// Connector is a running connector.
type Connector struct {
	options Options
	owned   sync.WaitGroup // handlers of tunnels and spliced connections

	mu      sync.Mutex // protects what follows
	session *tunnel.Session
	since   time.Time // when session came or went
	closing bool
}

// Run serves until the context ends; then it tells the agent to come back later (1012) and waits
// for all connections to end. It fails at once if another connector holds the directory.
func Run(ctx context.Context, o Options) error {
	lock, err := claim(o.Dir)
	if err != nil {
		return fmt.Errorf("claim directory: %w", err)
	}
	defer lock.Close()
	tunnels, err := listen(o.Dir, TunnelSocket)
	if err != nil {
		return fmt.Errorf("open %s: %w", TunnelSocket, err)
	}
	defer tunnels.Close()
	apiServer, err := listen(o.Dir, APIServerSocket)
	if err != nil {
		return fmt.Errorf("open %s: %w", APIServerSocket, err)
	}
	defer apiServer.Close()
	c := &Connector{options: o, since: time.Now()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", c.health)
	mux.HandleFunc("GET /tunnel", c.takeTunnel)
	var group run.Group
	group.Add("tunnel", run.Serve(&http.Server{Handler: mux}, tunnels))
	group.Add("api-server", func(ctx context.Context) error { return c.serveTarget(ctx, apiServer) })
	group.Add("goodbye", func(ctx context.Context) error {
		<-ctx.Done()
		c.close()
		return nil
	})
	o.Log.Info("connector listens", "cluster", o.Cluster, "dir", o.Dir)
	err = group.Run(ctx)
	c.owned.Wait()
	return err
}

// close ends the tunnel for good; tunnels that arrive later are turned away.
func (c *Connector) close() {
	c.mu.Lock()
	session := c.session
	c.session, c.closing = nil, true
	c.mu.Unlock()
	if session != nil {
		session.Close(websocket.CloseServiceRestart, "connector restarts")
	}
}

// current is the session of the connected agent, or nil.
func (c *Connector) current() *tunnel.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}
