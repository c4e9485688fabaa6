package main

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"commander/agents/agentapi"
	agent "commander/agents/commander"
	"commander/agents/connector"
	"commander/internal/kubetest"
)

// unix is an HTTP transport to a socket.
func unix(path string) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}}
}

// front is what Commander's web role does for agents: it checks the token, hands out a
// configuration, and passes the upgrade of the tunnel on to the connector.
func front(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	tunnels := &httputil.ReverseProxy{
		Transport: unix(filepath.Join(dir, connector.TunnelSocket)),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL = &url.URL{Scheme: "http", Host: "connector", Path: "/tunnel"}
			r.Out.Header.Del("Authorization")
		},
	}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer right":
			http.Error(w, "unknown token", http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, agentapi.PathTunnel):
			tunnels.ServeHTTP(w, r)
		case strings.HasSuffix(r.URL.Path, agentapi.PathConfig):
			_ = json.NewEncoder(w).Encode(agentapi.Config{ETag: "e1"})
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(srv.Close)
	return srv
}

// files writes what the agent's flags name.
func files(t *testing.T, srv *httptest.Server, cluster *kubetest.Server, token string) options {
	t.Helper()
	dir := t.TempDir()
	o := options{
		CommanderURL: srv.URL + "/agent_api/c1", TokenFile: filepath.Join(dir, "token"),
		CAFile: filepath.Join(dir, "ca.pem"), Kubeconfig: filepath.Join(dir, "kubeconfig"),
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	for path, content := range map[string][]byte{o.TokenFile: []byte(token + "\n"), o.CAFile: ca} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := api.NewConfig()
	c.Clusters["c"] = &api.Cluster{
		Server: cluster.Config.Host, CertificateAuthority: cluster.Config.CAFile,
		CertificateAuthorityData: cluster.Config.CAData, InsecureSkipTLSVerify: cluster.Config.Insecure,
	}
	c.AuthInfos["u"] = &api.AuthInfo{Token: cluster.Config.BearerToken}
	c.Contexts["x"] = &api.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"
	if err := clientcmd.WriteToFile(*c, o.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	return o
}

// background runs something until the test, or the returned function, ends it.
func background(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// The whole way of a request: connector's socket, WebSocket through Commander's front, agent, and
// a real API server.
func TestRequestsTravelFromConnectorToAPIServer(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	parent, err := os.MkdirTemp("", "ampg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	dir := filepath.Join(parent, "c1")
	log := slog.New(slog.DiscardHandler)
	background(t, func(ctx context.Context) error {
		return connector.Run(ctx, connector.Options{Cluster: "c1", Dir: dir, Log: log})
	})
	settings, err := files(t, front(t, dir), cluster, "right").settings(log)
	if err != nil {
		t.Fatal(err)
	}
	settings.Namespace = cluster.Namespace(t)
	stop := background(t, func(ctx context.Context) error { return agent.Run(ctx, settings) })

	transport := unix(filepath.Join(dir, connector.APIServerSocket))
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	get := func(path string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api-server"+path, nil)
		if err != nil {
			return nil, err
		}
		return client.Do(r)
	}
	code := func(path string) int {
		resp, err := get(path)
		if err != nil {
			return 0
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	await(t, "an answer of the API server", func() bool { return code("/version") == http.StatusOK })
	watch, err := get("/api/v1/namespaces?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Body.Close()
	if line, err := bufio.NewReader(watch.Body).ReadString('\n'); !strings.Contains(line, `"ADDED"`) {
		t.Errorf("watch: got %q and %v, want an event", line, err)
	}
	stop()
	await(t, "503 without an agent", func() bool { return code("/version") == http.StatusServiceUnavailable })
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(time.Minute)
	for !ok() {
		select {
		case <-ticker.C:
		case <-limit:
			t.Fatalf("no %s within a minute", what)
		}
	}
}

func TestMistakesAreNamedAtStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options options
		want    string
	}{
		"plain http":    {options{CommanderURL: "http://c/agent_api/1"}, "want https://"},
		"no CA file":    {options{CommanderURL: "https://c/agent_api/1", CAFile: "/does/not/exist"}, "read CA"},
		"no kubeconfig": {options{CommanderURL: "https://c/agent_api/1", Kubeconfig: "/does/not/exist"}, "access to the API server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := c.options.settings(slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}
