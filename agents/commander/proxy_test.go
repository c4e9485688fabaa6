package commander

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
)

// upgrading is an API server that offers HTTP/2 and changes the protocol of a connection.
func upgrading(t *testing.T) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer own" {
			t.Errorf("authorization: got %q, want the agent's own", got)
		}
		if got := r.Header.Get("Impersonate-User"); got != "eve" {
			t.Errorf("impersonation: got %q, want eve", got)
		}
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("hijack over %s: %v", r.Proto, err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+r.Header.Get("Upgrade")+"\r\n\r\n")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

func TestProxyPassesUpgrades(t *testing.T) {
	t.Parallel()
	api := upgrading(t)
	p, err := newProxy(&rest.Config{
		Host: api.URL, BearerToken: "own", TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	front := httptest.NewServer(p)
	defer front.Close()
	for _, protocol := range []string{"SPDY/3.1", "websocket"} {
		address, err := url.Parse(front.URL)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "POST /exec HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: "+protocol+
			"\r\nAuthorization: Bearer foreign\r\nCookie: a=b\r\nImpersonate-User: eve\r\n\r\n")
		in := bufio.NewReader(conn)
		resp, err := http.ReadResponse(in, nil)
		if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%s: got %v and %v, want 101", protocol, resp, err)
		}
		_, _ = io.WriteString(conn, "hello\n")
		if got, err := in.ReadString('\n'); got != "echo hello\n" {
			t.Errorf("%s: got %q and %v, want the echo", protocol, got, err)
		}
		_ = conn.Close()
	}
}

func TestProxyWithoutAPIServerAnswersStatus(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	p, err := newProxy(&rest.Config{Host: gone.URL}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("got %d %s, want a Kubernetes Status with 503", w.Code, w.Body)
	}
}
