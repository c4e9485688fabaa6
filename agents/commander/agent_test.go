package commander_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"commander/agents/agentapi"
	"commander/agents/commander"
	"commander/agents/tunnel"
	"commander/internal/kubetest"
)

// The control plane's client keeps idle connections; all other goroutines have an owner.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("golang.org/x/net/http2.(*clientConnReadLoop).run"),
	)
}

const token = "agent-token-of-the-test"

// fakeCommander speaks the contract over TLS and keeps what an agent tells.
type fakeCommander struct {
	*httptest.Server

	mu      sync.Mutex // protects what follows
	changed chan struct{}
	config  agentapi.Config
	report  agentapi.Report
	reports int
	refuse  bool
	tunnels chan *tunnel.Session
}

func newCommander(t *testing.T) *fakeCommander {
	t.Helper()
	f := &fakeCommander{changed: make(chan struct{}), tunnels: make(chan *tunnel.Session, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /agent_api/c1"+agentapi.PathConfig, f.serveConfig)
	mux.HandleFunc("POST /agent_api/c1"+agentapi.PathReport, f.takeReport)
	mux.HandleFunc("GET /agent_api/c1"+agentapi.PathTunnel, f.takeTunnel)
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		refuse := f.refuse
		f.mu.Unlock()
		if refuse || r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "unknown token", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *fakeCommander) want(etag string, groups ...agentapi.ResourceGroup) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config = agentapi.Config{ETag: etag, ResourceGroups: groups, ReportIntervalSeconds: 1, Flags: map[string]string{"console": "1"}}
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeCommander) serveConfig(w http.ResponseWriter, r *http.Request) {
	for {
		f.mu.Lock()
		config, changed := f.config, f.changed
		f.mu.Unlock()
		if config.ETag != "" && config.ETag != agentapi.UnquoteETag(r.Header.Get("If-None-Match")) {
			_ = json.NewEncoder(w).Encode(config)
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

func (f *fakeCommander) takeReport(w http.ResponseWriter, r *http.Request) {
	var report agentapi.Report
	if err := json.NewDecoder(r.Body).Decode(&report); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.report = report
	f.reports++
	f.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (f *fakeCommander) takeTunnel(w http.ResponseWriter, r *http.Request) {
	up := websocket.Upgrader{Subprotocols: []string{agentapi.TunnelProtocol}}
	ws, err := up.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	f.tunnels <- tunnel.Server(ws, tunnel.Options{})
}

func (f *fakeCommander) last() agentapi.Report {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.report
}

// awaitReport waits for a report that has what the test wants.
func (f *fakeCommander) awaitReport(t *testing.T, what string, ok func(agentapi.Report) bool) agentapi.Report {
	t.Helper()
	wait(t, what, func() bool { return ok(f.last()) })
	return f.last()
}

func (f *fakeCommander) awaitApplied(t *testing.T, etag string) agentapi.Report {
	t.Helper()
	return f.awaitReport(t, "report of "+etag, func(r agentapi.Report) bool { return r.AppliedETag == etag })
}

// cluster is a place of its own in a real cluster.
type cluster struct {
	config    *rest.Config // the agent's; a test may wrap it
	client    kubernetes.Interface
	namespace string // for the objects of the test
	home      string // for the agent's
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	server := kubetest.Start(t)
	client, err := kubernetes.NewForConfig(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	return cluster{rest.CopyConfig(server.Config), client, server.Namespace(t), server.Namespace(t)}
}

// run starts an agent and gives what stops it; the end of the test does, too.
func (c cluster) run(t *testing.T, f *fakeCommander) (stop func()) {
	t.Helper()
	client, err := agentapi.NewClient(agentapi.ClientOptions{
		URL: f.URL + "/agent_api/c1", Version: "test",
		Token: func() (string, error) { return token, nil },
		CA:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- commander.Run(ctx, commander.Options{
			Commander: client, Cluster: c.config, Namespace: c.home, Version: "test",
			Log: slog.New(slog.NewJSONHandler(logs{t}, nil)), Registry: prometheus.NewRegistry(),
			ResyncEvery: 100 * time.Millisecond, RetryAfter: 20 * time.Millisecond,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("agent: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// logs fails a test whose agent lets its token out.
type logs struct{ t *testing.T }

func (l logs) Write(p []byte) (int, error) {
	if string(p) != "" && json.Valid(p) && !containsToken(p) {
		return len(p), nil
	}
	l.t.Errorf("log line %s: want JSON without the token", p)
	return len(p), nil
}

// wait asks again and again until the answer is yes.
func wait(t *testing.T, what string, ok func() bool) {
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
