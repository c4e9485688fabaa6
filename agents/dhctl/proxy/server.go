package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	"commander/agents/dhctl"
	pb "commander/agents/dhctl/dhctlpb"
)

// Server is the whole parent: the proxy and the services it answers itself.
type Server struct {
	Proxy
	Validation *dhctl.Validation
	// Parallel bounds operations, and apart from them validations, that run at a time.
	Parallel int
	// Shutdown is how long running operations may go on after the server was told to end.
	Shutdown time.Duration
}

// Serve answers calls until the context ends, and then until all children have ended.
func (s *Server) Serve(ctx context.Context, at Listener) error {
	s.limit = make(limiter, s.Parallel)
	validations := make(limiter, s.Parallel)
	var counts dhctl.Status
	w := watch{log: s.Log, began: counts.Began}
	server := grpc.NewServer(
		grpc.Creds(at.Credentials),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.ChainUnaryInterceptor(w.unary, validations.unary),
		grpc.ChainStreamInterceptor(w.stream),
		grpc.WaitForHandlers(true),
		// A ping after half the time and its answer in the other half.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: s.Silence / 2, Timeout: s.Silence / 2}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	)
	server.RegisterService(s.desc(), nil)
	pb.RegisterValidationServer(server, s.Validation)
	pb.RegisterStatusServer(server, &counts)
	healthy := health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, healthy)
	reflection.Register(server)

	served := make(chan error, 1)
	go func() { served <- server.Serve(at) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		healthy.Shutdown()
		s.stop(server)
		err = <-served
	}
	s.all.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

// stop lets running calls end by themselves for a while and then ends them.
func (s *Server) stop(server *grpc.Server) {
	gentle := make(chan struct{})
	go func() {
		defer close(gentle)
		server.GracefulStop()
	}()
	patience := time.NewTimer(s.Shutdown)
	defer patience.Stop()
	select {
	case <-gentle:
	case <-patience.C:
		server.Stop()
		<-gentle
	}
}
