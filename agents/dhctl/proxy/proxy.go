// Package proxy is the part of the dhctl server that callers talk to. It answers questions
// itself and gives every operation a process of its own, to which it passes the stream unread.
package proxy

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "commander/agents/dhctl/dhctlpb"
)

// Proxy starts a child process for each stream of the service DHCTL.
type Proxy struct {
	// Command makes the child's command line: it must serve DHCTL and health on the unix
	// socket, keep its files in dir, and end when its standard input does.
	Command func(dir, socket string) *exec.Cmd
	// Dir holds a folder for each child. Its path must be short: sockets are in it.
	Dir string
	// Grace is how long a child that was told to end may take before it is killed.
	Grace time.Duration
	// Silence is how long a caller may say nothing, or its connection be dead. Children stop by
	// themselves then; one that has not after a further Grace is ended.
	Silence time.Duration
	Log     *slog.Logger

	limit limiter
	all   sync.WaitGroup // children and the goroutines that feed them
}

// desc is the service DHCTL with every stream handled by the proxy.
func (p *Proxy) desc() *grpc.ServiceDesc {
	d := &grpc.ServiceDesc{
		ServiceName: pb.DHCTL_ServiceDesc.ServiceName,
		HandlerType: (*any)(nil),
		Metadata:    pb.DHCTL_ServiceDesc.Metadata,
	}
	for _, s := range pb.DHCTL_ServiceDesc.Streams {
		s.Handler = p.handle
		d.Streams = append(d.Streams, s)
	}
	return d
}

// handle runs one operation. It returns when the child has ended, so that whoever sees the end
// of the call never meets the child again.
func (p *Proxy) handle(_ any, down grpc.ServerStream) error {
	ctx, cancel := context.WithCancel(down.Context())
	defer cancel()
	release, err := p.limit.enter(ctx, streamWait)
	if err != nil {
		return err
	}
	defer release()
	p.all.Add(1)
	defer p.all.Done()
	method, _ := grpc.MethodFromServerStream(down)
	c, err := p.start(ctx)
	if err != nil {
		p.Log.Error("child did not start", "method", method, "error", err)
		return status.Error(codes.Unavailable, "the operation's process did not start: "+err.Error())
	}
	defer c.end()
	return p.forward(ctx, down, c, method)
}

// forward passes frames both ways until the child ends the stream.
func (p *Proxy) forward(ctx context.Context, down grpc.ServerStream, c *child, method string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, withoutReserved(md))
	}
	up, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, grpc.ForceCodecV2(newCodec()))
	if err != nil {
		return err
	}
	deaf := time.AfterFunc(p.Silence+p.Grace, cancel)
	defer deaf.Stop()
	p.all.Go(func() { feed(down, up, func() { deaf.Reset(p.Silence + p.Grace) }) })
	for {
		var f frame
		if err := up.RecvMsg(&f); err != nil {
			down.SetTrailer(up.Trailer())
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := down.SendMsg(&f); err != nil {
			return err
		}
	}
}

// feed passes what the caller says until it says no more. It ends with the call at the latest,
// because receiving does.
func feed(down grpc.ServerStream, up grpc.ClientStream, heard func()) {
	for {
		var f frame
		if err := down.RecvMsg(&f); err != nil {
			if errors.Is(err, io.EOF) {
				_ = up.CloseSend() // the reader of up sees what became of it
			}
			return
		}
		heard()
		if err := up.SendMsg(&f); err != nil {
			return
		}
	}
}

// withoutReserved drops what gRPC sets by itself on each hop.
func withoutReserved(md metadata.MD) metadata.MD {
	out := metadata.MD{}
	for key, values := range md {
		if !strings.HasPrefix(key, ":") && !strings.HasPrefix(key, "grpc-") && key != "content-type" && key != "user-agent" {
			out[key] = values
		}
	}
	return out
}
