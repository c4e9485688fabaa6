package connector_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"commander/agents/agentapi"
	"commander/agents/connector"
	"commander/agents/tunnel"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running is a connector in a directory of its own.
type running struct {
	dir  string
	stop func() error // stops it and gives the error of Run
}

func start(t *testing.T, dir string) running {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- connector.Run(ctx, connector.Options{Cluster: "c1", Dir: dir, Log: slog.New(slog.DiscardHandler)})
	}()
	stopped := false
	r := running{dir: dir, stop: func() error {
		stopped = true
		cancel()
		return <-done
	}}
	t.Cleanup(func() {
		if !stopped {
			if err := r.stop(); err != nil {
				t.Errorf("connector: %v", err)
			}
		}
	})
	wait(t, "listening", func() bool { _, err := r.health(t); return err == nil })
	return r
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ampg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "c1")
}

func client(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		},
	}}
}

func (r running) health(t *testing.T) (connector.Health, error) {
	t.Helper()
	resp, err := client(filepath.Join(r.dir, connector.TunnelSocket)).Get("http://connector/healthz")
	if err != nil {
		return connector.Health{}, err
	}
	defer resp.Body.Close()
	var h connector.Health
	return h, json.NewDecoder(resp.Body).Decode(&h)
}

func (r running) apiServer(t *testing.T, method, path string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://api-server"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client(filepath.Join(r.dir, connector.APIServerSocket)).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// agent is the other end of a tunnel: it serves the streams with a handler.
type agent struct {
	ws      *websocket.Conn
	session *tunnel.Session
}

func (r running) connect(t *testing.T, h http.Handler) agent {
	t.Helper()
	dialer := websocket.Dialer{
		Subprotocols: []string{agentapi.TunnelProtocol},
		NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(r.dir, connector.TunnelSocket))
		},
	}
	ws, resp, err := dialer.DialContext(t.Context(), "ws://connector/tunnel", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	a := agent{ws, tunnel.Client(ws, tunnel.Options{})}
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener{a.session}) }()
	t.Cleanup(func() {
		a.session.Close(websocket.CloseNormalClosure, "")
		_ = server.Close()
		<-served
	})
	wait(t, "connected", func() bool { h, err := r.health(t); return err == nil && h.Connected })
	return a
}

type listener struct{ *tunnel.Session }

func (l listener) Accept() (net.Conn, error) { return l.Session.Accept(context.Background()) }
func (l listener) Addr() net.Addr            { return tunnel.Addr{} }
func (l listener) Close() error              { return nil }

// wait asks again and again until the answer is yes.
func wait(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("not %s after a minute", what)
		}
	}
}
