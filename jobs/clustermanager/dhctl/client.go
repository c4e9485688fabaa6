// Package dhctl is the cluster manager's side of the conversation with the engine: it asks for
// an operation and follows it to its end, phase by phase.
package dhctl

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"

	pb "commander/agents/dhctl/dhctlpb"
)

// maxMessage bounds one message: a state of many machines is far smaller.
const maxMessage = 64 << 20

// Client talks to one dhctl server.
type Client struct {
	// Validation judges documents; see the contract.
	Validation pb.ValidationClient
	// Status tells about the server, and what people read for the names of phases.
	Status pb.StatusClient

	conn  *grpc.ClientConn
	dhctl pb.DHCTLClient
}

// Dial connects to a server and waits until it serves or the context ends. Addresses are
// "unix:<path>" without credentials, and "<host>:<port>" with those of mutual TLS.
func Dial(ctx context.Context, address string, tls credentials.TransportCredentials) (*Client, error) {
	if tls == nil {
		tls = insecure.NewCredentials() // for unix sockets, which are their owner's alone
	}
	conn, err := grpc.NewClient(address,
		grpc.WithTransportCredentials(tls),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 20 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("dial dhctl server: %w", err)
	}
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err == nil && answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		err = fmt.Errorf("it is %s", answer.GetStatus())
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("wait for dhctl server: %w", err)
	}
	return &Client{
		Validation: pb.NewValidationClient(conn), Status: pb.NewStatusClient(conn),
		conn: conn, dhctl: pb.NewDHCTLClient(conn),
	}, nil
}

// Close ends the connection, and with it the operations that are followed through it.
func (c *Client) Close() error { return c.conn.Close() }
