package run

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// drainBound is how long a server lets open requests finish. Long polls, watches and WebSockets
// never finish by themselves and are cut when it is over.
const drainBound = 10 * time.Second

// Serve is an actor that serves HTTP on a listener until its context ends, with TLS if the
// server has a TLS configuration. Requests do not end with the context: they are let finish, and
// those that outlast drainBound are cut. Hijacked connections are their owners' to end.
func Serve(server *http.Server, listener net.Listener) func(context.Context) error {
	return func(ctx context.Context) error {
		if server.ReadHeaderTimeout == 0 {
			server.ReadHeaderTimeout = 10 * time.Second
		}
		served := make(chan error, 1)
		go func() {
			if server.TLSConfig != nil {
				served <- server.ServeTLS(listener, "", "")
				return
			}
			served <- server.Serve(listener)
		}()
		select {
		case err := <-served:
			return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
		case <-ctx.Done():
		}
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainBound)
		defer cancel()
		if err := server.Shutdown(drain); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("stop serving on %s: %w", listener.Addr(), err)
		}
		if err := server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("close server on %s: %w", listener.Addr(), err)
		}
		<-served
		return nil
	}
}
