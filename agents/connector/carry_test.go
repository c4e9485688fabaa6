package connector_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"commander/agents/agentapi"
	"commander/agents/connector"
	"commander/agents/tunnel"
)

func name(n string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %d", n, r.Method, r.URL.Path, len(body))
	})
}

func TestRequestsReachTheAgent(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	r.connect(t, name("first"))
	for range 3 {
		code, got := r.apiServer(t, http.MethodPost, "/api/v1/pods", strings.NewReader(strings.Repeat("x", 1_000_000)))
		if want := "first POST /api/v1/pods 1000000"; code != http.StatusOK || got != want {
			t.Errorf("got %d %q, want %q", code, got, want)
		}
	}
}

func TestUpgradesPass(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	r.connect(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
	}))
	conn, err := net.Dial("unix", filepath.Join(r.dir, connector.APIServerSocket))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "POST /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello\n")
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v and %v, want 101", resp, err)
	}
	if got, err := io.ReadAll(in); string(got) != "echo hello\n" || err != nil {
		t.Errorf("got %q and %v, want the echo", got, err)
	}
}

func TestWithoutAgentKubernetesStatus(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		code, body := r.apiServer(t, method, "/api", strings.NewReader(strings.Repeat("x", 100_000)))
		var got struct {
			Kind, Message, Reason string
			Code                  int
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatalf("%s: %v in %q", method, err, body)
		}
		if code != 503 || got.Code != 503 || got.Kind != "Status" || !strings.Contains(got.Message, "not connected") {
			t.Errorf("%s: got %d %s, want a Status that says that the agent is not connected", method, code, body)
		}
	}
}

func TestNewestAgentWins(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	first := r.connect(t, name("first"))
	r.connect(t, name("second"))
	<-first.session.Done()
	var goodbye *websocket.CloseError
	if err := first.session.Err(); !errors.As(err, &goodbye) || goodbye.Code != agentapi.CloseReplaced {
		t.Errorf("first agent: got %v, want close code %d", err, agentapi.CloseReplaced)
	}
	if _, got := r.apiServer(t, http.MethodGet, "/", nil); !strings.HasPrefix(got, "second") {
		t.Errorf("answered by %q, want the second agent", got)
	}
	if h, err := r.health(t); err != nil || !h.Connected || h.Cluster != "c1" || h.Since.IsZero() {
		t.Errorf("health: got %+v and %v", h, err)
	}
}

func TestAgentGone(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	a := r.connect(t, name("first"))
	_ = a.ws.NetConn().Close()
	wait(t, "disconnected", func() bool { h, err := r.health(t); return err == nil && !h.Connected })
	if code, _ := r.apiServer(t, http.MethodGet, "/", nil); code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", code)
	}
}

func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	resp, err := client(filepath.Join(r.dir, connector.TunnelSocket)).Get("http://connector/tunnel")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("got %d, want 400 for a request without the subprotocol", resp.StatusCode)
	}
}

func TestStopSaysComeBack(t *testing.T) {
	t.Parallel()
	r := start(t, shortDir(t))
	a := r.connect(t, name("first"))
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	<-a.session.Done()
	var goodbye *websocket.CloseError
	if err := a.session.Err(); !errors.As(err, &goodbye) || goodbye.Code != websocket.CloseServiceRestart {
		t.Errorf("agent: got %v, want close code 1012", err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, connector.TunnelSocket)); !os.IsNotExist(err) {
		t.Errorf("socket left behind: %v", err)
	}
}

var _ net.Listener = listener{(*tunnel.Session)(nil)}
