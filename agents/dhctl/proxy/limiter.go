package proxy

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// How long a call waits for a place before it is turned away: an operation is better tried
// elsewhere soon, a validation is over soon.
const (
	streamWait = time.Second
	unaryWait  = time.Minute
)

// limiter has a place for each call that may run at a time.
type limiter chan struct{}

// enter takes a place and returns how to give it back.
func (l limiter) enter(ctx context.Context, wait time.Duration) (leave func(), err error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case l <- struct{}{}:
		return func() { <-l }, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	case <-timer.C:
		return nil, status.Error(codes.ResourceExhausted, "as many calls as allowed are running")
	}
}

func (l limiter) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if !limited(info.FullMethod) {
		return next(ctx, req)
	}
	leave, err := l.enter(ctx, unaryWait)
	if err != nil {
		return nil, err
	}
	defer leave()
	return next(ctx, req)
}
