package agentapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	contract "commander/agents/agentapi"
	"commander/web/lease"
)

// Dialer opens a connection to the connector of a cluster, which speaks HTTP/1.1 and takes the
// tunnel's WebSocket on contract.PathTunnel.
type Dialer func(ctx context.Context, cluster uuid.UUID) (net.Conn, error)

// tunnelSocket is the file that a cluster's connector listens on, in the cluster's folder.
const tunnelSocket = "tunnel.sock"

// Sockets dials the connectors of this machine: each has a folder named after its cluster.
func Sockets(folder string) Dialer {
	return func(ctx context.Context, cluster uuid.UUID) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(folder, cluster.String(), tunnelSocket))
	}
}

var errDial = errors.New("dial the connector")

// checks are the times at which the token of an open tunnel is looked up again.
func checks() (<-chan time.Time, func()) {
	t := time.NewTicker(lease.Every)
	return t.C, t.Stop
}

type clusterKey struct{}

// tunnel hands the agent's WebSocket over to the cluster's connector, as long as the token is valid.
func (a *API) tunnel(w http.ResponseWriter, r *http.Request, c caller) {
	tick, stop := a.tick()
	defer stop()
	ctx, release := lease.Hold(r.Context(), tick, a.Stop, func(ctx context.Context) error {
		_, err := a.Fleet.AgentCluster(ctx, c.cluster.ID, c.secret)
		return err
	})
	defer release()
	a.relay.ServeHTTP(w, r.WithContext(context.WithValue(ctx, clusterKey{}, c.cluster.ID)))
}

// newRelay makes the way to the connectors. Each tunnel has a connection of its own, so that none
// is kept for the next.
func newRelay(o Options) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			cluster := r.In.Context().Value(clusterKey{}).(uuid.UUID)
			r.Out.URL = &url.URL{Scheme: "http", Host: cluster.String(), Path: contract.PathTunnel}
			r.Out.Host = ""
			for _, name := range []string{"Authorization", "Cookie", "Origin"} {
				r.Out.Header.Del(name) // the connector trusts whoever opens its socket
			}
		},
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				host, _, err := net.SplitHostPort(address)
				if err != nil {
					return nil, fmt.Errorf("%w: %w", errDial, err)
				}
				cluster, err := uuid.Parse(host)
				if err != nil {
					return nil, fmt.Errorf("%w: %w", errDial, err)
				}
				conn, err := o.Dial(ctx, cluster)
				if err != nil {
					return nil, fmt.Errorf("%w of cluster %s: %w", errDial, cluster, err)
				}
				return conn, nil
			},
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				o.Log.Info("hand a tunnel over", "cluster", r.Context().Value(clusterKey{}), "error", err)
			}
			w.Header().Set("Retry-After", "2")
			http.Error(w, "the connector of this cluster is not there yet", http.StatusServiceUnavailable)
		},
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
}
