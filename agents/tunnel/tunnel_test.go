package tunnel_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"commander/agents/tunnel"
)

// Every test closes what it opened, so no goroutine of a session may be left at the end.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sockets gives both ends of a real WebSocket.
func sockets(t testing.TB) (dialed, accepted *websocket.Conn) {
	t.Helper()
	got := make(chan *websocket.Conn, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		up := websocket.Upgrader{ReadBufferSize: tunnel.BufferSize, WriteBufferSize: tunnel.BufferSize}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			t.Errorf("upgrade: %v", err)
		}
		got <- ws
	}))
	defer srv.Close()
	dialed, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	accepted = <-got
	t.Cleanup(func() { _ = dialed.Close(); _ = accepted.Close() })
	return dialed, accepted
}

// pair gives both ends of a session: the one that dialed and the one that accepted.
func pair(t *testing.T, o tunnel.Options) (client, server *tunnel.Session) {
	t.Helper()
	dialed, accepted := sockets(t)
	client, server = tunnel.Client(dialed, o), tunnel.Server(accepted, o)
	t.Cleanup(func() {
		client.Close(websocket.CloseNormalClosure, "")
		server.Close(websocket.CloseNormalClosure, "")
	})
	return client, server
}

// streamPair gives both ends of one stream.
func streamPair(t *testing.T, from, to *tunnel.Session) (opened, accepted *tunnel.Stream) {
	t.Helper()
	ctx := limit(t)
	opened, err := from.Open(ctx, "echo")
	if err != nil {
		t.Fatal(err)
	}
	accepted, err = to.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := accepted.Target(); got != "echo" {
		t.Fatalf("target: got %q, want echo", got)
	}
	t.Cleanup(func() { _ = opened.Close(); _ = accepted.Close() })
	return opened, accepted
}

// limit is a context that turns a hang into a failure.
func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func waitDone(t *testing.T, s *tunnel.Session) error {
	t.Helper()
	select {
	case <-s.Done():
		return s.Err()
	case <-limit(t).Done():
		t.Fatal("the session did not end")
		return nil
	}
}

var _ net.Conn = (*tunnel.Stream)(nil)
