// Package kubelet answers the API server of a lab cluster in the place of the kubelets of all its
// nodes: logs, exec, attach and port-forward of pods. Nothing of it reaches the host: a pod is
// played, so a built-in shell and a built-in web server stand for what would run in it.
//
// It listens on a unix socket where the API server asks, by HTTP CONNECT, for a connection to the
// address of a node. Inside that connection both sides show certificates of the cluster.
package kubelet

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"
)

// Port is where kubelets are reached.
const Port = 10250

// Network holds the addresses of all nodes. It is set aside for tests of network devices
// (RFC 2544), so it is routed nowhere and collides with nobody's subnets.
var Network = netip.MustParsePrefix("198.18.0.0/15")

// Server stands for the kubelets of one cluster.
type Server struct {
	Socket string            // path of the unix socket
	CA     *x509.Certificate // of the cluster
	Key    *ecdsa.PrivateKey // of the CA
	Client string            // name in the certificate of the only client
	Log    *slog.Logger
}

// Run serves until ctx ends, and returns when all connections are closed.
func (s *Server) Run(ctx context.Context) error {
	if err := os.Remove(s.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	listener, err := net.Listen("unix", s.Socket)
	if err != nil {
		return fmt.Errorf("listen for the API server: %w", err)
	}
	config, err := s.tlsConfig()
	if err != nil {
		_ = listener.Close()
		return err
	}
	inner := newTunnels()
	kubelet := &http.Server{
		Handler: routes(), TLSConfig: config, ReadHeaderTimeout: headerLimit,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(s.Log.Handler(), slog.LevelDebug), // broken connections are the client's to tell
	}
	gate := &http.Server{Handler: inner.gate(), ReadHeaderTimeout: headerLimit}
	var both sync.WaitGroup
	both.Go(func() { _ = kubelet.ServeTLS(inner, "", "") })
	both.Go(func() { _ = gate.Serve(listener) })
	<-ctx.Done()
	_ = gate.Close()
	_ = kubelet.Close()
	inner.closeAll()
	both.Wait()
	return nil
}

// headerLimit is how long a client may take to say what it wants.
const headerLimit = 10 * time.Second

// tunnels is a listener of the connections that come through the gate.
type tunnels struct {
	fresh chan net.Conn
	done  chan struct{}

	mu     sync.Mutex // protects open and closed
	open   map[*tunnel]struct{}
	closed bool
}

// tunnel is a connection to one node.
type tunnel struct {
	net.Conn
	node netip.Addr
	of   *tunnels
}

func newTunnels() *tunnels {
	return &tunnels{fresh: make(chan net.Conn), done: make(chan struct{}), open: map[*tunnel]struct{}{}}
}

// gate lets connections to kubelets of nodes in. Everything else that the API server may want to
// reach inside the cluster, such as a webhook's service, is not there: pods are played.
func (t *tunnels) gate() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT is served here", http.StatusMethodNotAllowed)
			return
		}
		target, err := netip.ParseAddrPort(r.RequestURI)
		if err != nil || !Network.Contains(target.Addr()) || target.Port() != Port {
			http.Error(w, "pods of a lab are played: nothing listens at "+strconv.Quote(r.RequestURI), http.StatusBadGateway)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
			_ = conn.Close()
			return
		}
		t.enter(&tunnel{conn, target.Addr(), t})
	})
}

func (t *tunnels) enter(c *tunnel) {
	t.mu.Lock()
	if !t.closed {
		t.open[c] = struct{}{}
	}
	closed := t.closed
	t.mu.Unlock()
	if closed {
		_ = c.Conn.Close()
		return
	}
	select {
	case t.fresh <- c:
	case <-t.done:
		_ = c.Close()
	}
}

// closeAll ends all connections, also those that were taken over for streams.
func (t *tunnels) closeAll() {
	t.mu.Lock()
	t.closed = true
	open := make([]*tunnel, 0, len(t.open))
	for c := range t.open {
		open = append(open, c)
	}
	t.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

func (c *tunnel) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Accept implements net.Listener.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.fresh:
		return c, nil
	case <-t.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *tunnels) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.done:
	default:
		close(t.done)
	}
	return nil
}

// Addr implements net.Listener.
func (t *tunnels) Addr() net.Addr { return &net.UnixAddr{Name: "kubelets", Net: "unix"} }
