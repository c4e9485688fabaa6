package agentapi_test

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"commander/agents/agentapi"
)

// connectProxy is an HTTP proxy that counts the connections it makes.
func connectProxy(t *testing.T) (*url.URL, *atomic.Int32) {
	t.Helper()
	var made atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		far, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", r.Host)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(w, "want CONNECT to a living host", http.StatusBadGateway)
			return
		}
		defer far.Close()
		made.Add(1)
		near, rest, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer near.Close()
		_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
		var both sync.WaitGroup
		both.Go(func() { _, _ = io.Copy(far, rest); _ = far.Close() })
		_, _ = io.Copy(near, far)
		_ = near.Close()
		both.Wait()
	}))
	t.Cleanup(srv.Close)
	address, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return address, &made
}

func TestEverythingGoesThroughTheProxy(t *testing.T) {
	t.Parallel()
	commander := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/agent_api/c1"+agentapi.PathTunnel {
			_ = json.NewEncoder(w).Encode(agentapi.Config{ETag: "e1"})
			return
		}
		up := websocket.Upgrader{Subprotocols: []string{agentapi.TunnelProtocol}}
		if ws, err := up.Upgrade(w, r, nil); err == nil {
			_ = ws.Close()
		}
	}))
	defer commander.Close()
	proxy, made := connectProxy(t)
	client, err := agentapi.NewClient(agentapi.ClientOptions{
		URL: commander.URL + "/agent_api/c1", Proxy: http.ProxyURL(proxy),
		Token: func() (string, error) { return "secret", nil },
		CA:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: commander.Certificate().Raw}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, _, err := client.Config(t.Context(), "", 0); err != nil {
		t.Errorf("configuration: %v", err)
	}
	ws, err := client.DialTunnel(t.Context())
	if err != nil {
		t.Fatalf("tunnel: %v", err)
	}
	_ = ws.Close()
	if got := made.Load(); got != 2 {
		t.Errorf("connections through the proxy: got %d, want 2", got)
	}
}
