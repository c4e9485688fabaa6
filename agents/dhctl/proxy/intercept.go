package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// limited says whether a call is work, not a question about the server itself.
func limited(method string) bool {
	return strings.HasPrefix(method, "/"+pb.Validation_ServiceDesc.ServiceName+"/")
}

// watch logs calls, counts them, and turns a panic into an Internal error.
type watch struct {
	log   *slog.Logger
	began func(method string) (ended func())
}

func (w watch) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (answer any, err error) {
	defer w.began(info.FullMethod)()
	defer w.recover(info.FullMethod, &err)
	return next(ctx, req)
}

func (w watch) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
	defer w.began(info.FullMethod)()
	start := time.Now()
	defer func() {
		w.log.Info("call ended", "method", info.FullMethod, "code", status.Code(err).String(), "took", time.Since(start).String())
	}()
	defer w.recover(info.FullMethod, &err)
	return next(srv, stream)
}

func (w watch) recover(method string, err *error) {
	if p := recover(); p != nil {
		w.log.Error("call panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = status.Error(codes.Internal, "the server panicked; its log says where")
	}
}
