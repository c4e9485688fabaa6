package csi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	csipb "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
)

// stopBound is how long calls may go on after the server was told to stop.
const stopBound = 10 * time.Second

// Listen opens the socket of an endpoint such as unix:///csi/csi.sock, in place of one that an
// earlier process left.
func Listen(endpoint string) (net.Listener, error) {
	path, ok := strings.CutPrefix(endpoint, "unix://")
	if !ok || path == "" {
		return nil, fmt.Errorf("listen on %q: it must begin with unix://", endpoint)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove old socket: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", endpoint, err)
	}
	return listener, nil
}

// Serve answers calls on a listener until the context ends.
func Serve(listener net.Listener, log *slog.Logger, identity *Identity, controller *Controller, node *Node) func(context.Context) error {
	server := grpc.NewServer(grpc.UnaryInterceptor(logErrors(log)))
	csipb.RegisterIdentityServer(server, identity)
	csipb.RegisterControllerServer(server, controller)
	csipb.RegisterNodeServer(server, node)
	return func(ctx context.Context) error {
		served := make(chan error, 1)
		go func() { served <- server.Serve(listener) }()
		select {
		case err := <-served:
			return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
		case <-ctx.Done():
		}
		late := time.AfterFunc(stopBound, server.Stop)
		defer late.Stop()
		server.GracefulStop()
		return <-served
	}
}

// logErrors is the edge: what a call answered with is told once. Requests are left out, since they
// may carry secrets.
func logErrors(log *slog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		answer, err := handle(ctx, request)
		if err != nil {
			log.WarnContext(ctx, "call failed", "method", info.FullMethod, "error", err)
		}
		return answer, err
	}
}
