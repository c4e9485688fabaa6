// Package dhctl runs operations on clusters for Commander: it takes documents and the state of
// an earlier attempt, works in phases through the engine of the cluster's kind, and hands the
// state back at every phase end.
package dhctl

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// Server answers the service DHCTL. It is meant to live in a process of its own that ends with
// the one operation it runs.
type Server struct {
	pb.UnimplementedDHCTLServer

	// Engines by kind of cluster: the cloud provider's name, or Static.
	Engines map[string]Engine
	// Connect opens the Kubernetes API of a cluster.
	Connect Connect
	// AgentImage is that of commander-agent, for clusters that were not made here; empty where an engine
	// runs the agents of such clusters.
	AgentImage string
	// CacheDir is where operations keep their state while they run.
	CacheDir string
	// LockDir is shared by all servers of a machine: it holds one lock a cluster.
	LockDir string
	// LockWait is how long an operation waits for a predecessor to let go of the cluster.
	LockWait time.Duration
	// Silence is how long a caller may say nothing before its operation is stopped; zero means
	// for ever.
	Silence time.Duration
	Log     *slog.Logger
}

// ended is the gRPC status of a conversation that was cut short.
func ended(ctx context.Context) error {
	return status.Error(codes.Canceled, context.Cause(ctx).Error())
}
