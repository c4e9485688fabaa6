package kubeproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/google/uuid"
)

// Dialer opens a connection on which a cluster's API server speaks plain HTTP/1.1.
type Dialer func(ctx context.Context, cluster uuid.UUID) (net.Conn, error)

// apiServerSocket is the file that a cluster's connector listens on, in the cluster's folder.
const apiServerSocket = "api-server.sock"

// Sockets dials the connectors of this machine: each has a folder named after its cluster.
func Sockets(folder string) Dialer {
	return func(ctx context.Context, cluster uuid.UUID) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(folder, cluster.String(), apiServerSocket))
	}
}

// errDial marks errors after which nothing has reached the cluster.
var errDial = errors.New("dial the cluster")

// transport keeps connections by cluster: the host of each request is the cluster's id.
func transport(dial Dialer) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errDial, err)
			}
			cluster, err := uuid.Parse(host)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", errDial, err)
			}
			conn, err := dial(ctx, cluster)
			if err != nil {
				return nil, fmt.Errorf("%w %s: %w", errDial, cluster, err)
			}
			return conn, nil
		},
		DisableCompression:  true, // what the caller asked for passes as it is
		MaxIdleConnsPerHost: 8,
		MaxIdleConns:        256,
		IdleConnTimeout:     time.Minute,
	}
}
