// Package child is the process of one operation: it serves a single stream and ends with it.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// maxMessage is the bound that the parent has too.
const maxMessage = 64 << 20

// lastWords is how long the end of the stream may take to reach the parent.
const lastWords = 10 * time.Second

// Options is where a child serves and how it learns that it must end.
type Options struct {
	Server   pb.DHCTLServer
	Listener net.Listener
	// Parent is at its end when the parent is gone or has had enough.
	Parent io.Reader
	// Grace is how long an operation may take to stop.
	Grace time.Duration
	Log   *slog.Logger
}

// ErrStuck says that the operation did not stop in time; the process must be left at once.
var ErrStuck = errors.New("the operation did not stop")

// Serve returns when the one stream has ended, or when the operation was stopped because the
// parent is gone or the context ended.
func Serve(ctx context.Context, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	one := &single{done: make(chan struct{})}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.ChainStreamInterceptor(one.stream), grpc.WaitForHandlers(true))
	pb.RegisterDHCTLServer(server, o.Server)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	go func() { // ends with the process at the latest: reading cannot be interrupted
		_, _ = io.Copy(io.Discard, o.Parent)
		stop(errors.New("the parent is gone"))
	}()
	served := make(chan error, 1)
	go func() { served <- server.Serve(o.Listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-one.done:
		within(lastWords, server.GracefulStop)
		server.Stop()
		return nil
	case <-ctx.Done():
		o.Log.Warn("stopping", "reason", context.Cause(ctx).Error())
		// Stop ends the streams, which stops the operation, and waits for it.
		if !within(o.Grace, server.Stop) {
			return ErrStuck
		}
		return nil
	}
}

// within reports whether work ended in time.
func within(limit time.Duration, work func()) bool {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work()
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

// single lets one operation in, ever.
type single struct {
	taken atomic.Bool
	done  chan struct{}
}

func (s *single) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if !strings.HasPrefix(info.FullMethod, "/"+pb.DHCTL_ServiceDesc.ServiceName+"/") {
		return next(srv, stream) // health and reflection
	}
	if !s.taken.CompareAndSwap(false, true) {
		return status.Error(codes.ResourceExhausted, "this process has its operation")
	}
	defer close(s.done)
	return next(srv, stream)
}
