package agentapi

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	contract "commander/agents/agentapi"
	"commander/agents/connector"
	"commander/agents/tunnel"
	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/store"
)

// bench is a fleet with one cluster, the API before it, and the cluster's agent.
type bench struct {
	*fleettest.Bench
	api     *API
	server  *httptest.Server
	cluster store.Cluster
	task    store.Task
	token   string
	folder  string
	// over ends a long poll, asked is how long it meant to wait.
	over  chan time.Time
	asked chan time.Duration
	tick  chan time.Time // with room for one, which an ended request leaves
	stop  chan struct{}
}

func start(t *testing.T) *bench {
	t.Helper()
	folder, err := os.MkdirTemp("", "ag") // short: t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	b := &bench{
		Bench: fleettest.New(t), folder: folder, over: make(chan time.Time), asked: make(chan time.Duration, 100),
		tick: make(chan time.Time, 1), stop: make(chan struct{}),
	}
	b.cluster, b.task = b.Create(t, "first", nil)
	work, err := b.Claim(t.Context(), fleet.Delivery{TaskID: b.task.ID, Attempt: b.task.Attempt}, "test")
	if err != nil {
		t.Fatal(err)
	}
	b.token = work.AgentToken
	b.api = New(Options{Fleet: b.Fleet, Dial: Sockets(folder), Stop: b.stop})
	b.api.after = func(d time.Duration) <-chan time.Time {
		b.asked <- d
		return b.over
	}
	b.api.tick = func() (<-chan time.Time, func()) { return b.tick, func() {} }
	b.server = httptest.NewTLSServer(b.api)
	t.Cleanup(b.server.Close)
	return b
}

func (b *bench) agent(t *testing.T, token string) *contract.Client {
	t.Helper()
	client, err := contract.NewClient(contract.ClientOptions{
		URL:     b.server.URL + "/agent_api/" + b.cluster.ID.String(),
		Token:   func() (string, error) { return token, nil },
		CA:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw}),
		Version: "v1",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestConfigurationIsSentWhenItChanges(t *testing.T) {
	t.Parallel()
	b := start(t)
	agent := b.agent(t, b.token)
	first, changed, err := agent.Config(t.Context(), "", 10*time.Second)
	if err != nil || !changed {
		t.Fatalf("changed %t, error %v", changed, err)
	}
	if got := first.ResourceGroups[0]; got.Name != fleet.AccessGroup || !got.Controlled || !strings.Contains(got.Manifests, "d8:commander:read-only") {
		t.Errorf("first group: got %+v", got)
	}
	<-b.asked

	type answer struct {
		config  contract.Config
		changed bool
		err     error
	}
	answers := make(chan answer, 1)
	ask := func(etag string) {
		go func() {
			config, changed, err := agent.Config(t.Context(), etag, 10*time.Second)
			answers <- answer{config, changed, err}
		}()
		if got := <-b.asked; got != 10*time.Second {
			t.Errorf("wait: got %v, want what the agent asked for", got)
		}
	}
	ask(first.ETag)
	b.api.Heard(store.Everything) // nothing has changed
	b.over <- time.Time{}
	if got := <-answers; got.err != nil || got.changed {
		t.Fatalf("nothing changed, but got %+v", got)
	}

	ask(first.ETag)
	change, _, err := b.ChangeCluster(t.Context(), b.Admin, b.cluster.ID, fleet.ClusterChange{
		Revision: b.cluster.Revision, Name: b.cluster.Name, TemplateVersionID: b.Lab.ID,
		Values: store.Values{"adminPassword": "correct horse"}, // which is in a Secret of the preset
	})
	if err != nil {
		t.Fatal(err)
	}
	b.api.Heard("cluster:of-somebody-else", store.ClusterTopic(b.cluster.ID))
	got := <-answers
	if got.err != nil || !got.changed || got.config.ETag == first.ETag || got.config.Revision != int64(change.Revision) {
		t.Fatalf("after the change: got %+v", got)
	}
	ask(got.config.ETag)
	close(b.stop)
	if got := <-answers; got.err != nil || got.changed {
		t.Fatalf("at the stop: got %+v", got)
	}
	if len(b.api.waiting) > 0 {
		t.Errorf("waiters stay: %v", b.api.waiting)
	}
}

func TestOnlyTheClustersOwnTokenIsAccepted(t *testing.T) {
	t.Parallel()
	b := start(t)
	other, task := b.Create(t, "other", nil)
	work, err := b.Claim(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: task.Attempt}, "test")
	if err != nil {
		t.Fatal(err)
	}
	if other.ID == b.cluster.ID {
		t.Fatal("want two clusters")
	}
	for name, token := range map[string]string{"none": "", "unknown": "cmda_x", "of another cluster": work.AgentToken, "not an agent's": "cmdr_x"} {
		agent := b.agent(t, token)
		_, _, configErr := agent.Config(t.Context(), "", 0)
		_, tunnelErr := agent.DialTunnel(t.Context())
		for path, err := range map[string]error{"config": configErr, "report": agent.Report(t.Context(), contract.Report{}), "tunnel": tunnelErr} {
			if !contract.Refused(err) {
				t.Errorf("token %s, %s: got %v, want a refusal", name, path, err)
			}
		}
	}
}

func TestReportIsTaken(t *testing.T) {
	t.Parallel()
	b := start(t)
	agent := b.agent(t, b.token)
	config, _, err := agent.Config(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	report := contract.Report{
		AgentVersion: "v1", KubernetesVersion: "v1.37.2", AppliedETag: config.ETag,
		Totals: &contract.Totals{CPUCores: 2, MemoryGiB: 4, RootDiskGiB: 20, PVCGiB: 1, Nodes: 1},
		Nodes:  []contract.Node{{Name: "m-0", NodeGroup: "master", Ready: true, Version: "v1.37.2", CreatedAt: time.Unix(1_700_000_000, 0).UTC()}},
		Objects: []contract.ObjectResult{
			{ResourceGroup: fleet.AccessGroup, Kind: "ClusterRoleBinding", Name: "a", State: contract.ObjectApplied},
			{ResourceGroup: "x", Kind: "Pod", Name: "b", State: contract.ObjectFailed, Error: "bad\x00 é"},
		},
	}
	for _, c := range []struct {
		etag  string
		state store.SyncState
	}{{config.ETag, store.SyncNotConfigured}, {"older", store.SyncApplying}} {
		report.AppliedETag = c.etag
		if err := agent.Report(t.Context(), report); err != nil {
			t.Fatal(err)
		}
		got, err := b.Store.AgentReport(t.Context(), b.cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		if got.SyncState != c.state || got.NodeCount != 1 || got.Nodes[0].Group != "master" || got.RootDiskGib != 20 || got.KubernetesVersion != "v1.37.2" {
			t.Errorf("got %+v, want state %s", got, c.state)
		}
		if text := got.Objects[1].Error; text != "bad é" {
			t.Errorf("error text: got %d bytes %q…", len(text), text[:20])
		}
	}
}

func TestReportsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	b := start(t)
	for _, c := range []struct {
		name, kind, body string
		want             int
	}{
		{"a form", "application/x-www-form-urlencoded", "a=b", http.StatusUnsupportedMediaType},
		{"no JSON", "application/json", "{", http.StatusBadRequest},
		{"too large", "application/json", `{"agentVersion":"` + strings.Repeat("x", contract.MaxReportBytes) + `"}`, http.StatusRequestEntityTooLarge},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.server.URL+"/agent_api/"+b.cluster.ID.String()+"/report", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+b.token)
		r.Header.Set("Content-Type", c.kind)
		answer, err := b.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("%s: got %d, want %d", c.name, answer.StatusCode, c.want)
		}
	}
}

// connect runs the cluster's connector and returns its folder.
func (b *bench) connect(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(b.folder, b.cluster.ID.String())
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() {
		ran <- connector.Run(ctx, connector.Options{Cluster: b.cluster.ID.String(), Dir: folder, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("unix", filepath.Join(folder, connector.APIServerSocket))
		if err == nil {
			_ = conn.Close()
			return folder
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal(err)
		}
	}
}

func TestTunnelLeadsToTheConnectorAndEndsWithTheToken(t *testing.T) {
	t.Parallel()
	b := start(t)
	agent := b.agent(t, b.token)
	if _, err := agent.DialTunnel(t.Context()); err == nil || contract.Refused(err) || !strings.Contains(err.Error(), "503") {
		t.Fatalf("without a connector: got %v, want 503", err)
	}
	folder := b.connect(t)
	ws, err := agent.DialTunnel(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session := tunnel.Client(ws, tunnel.Options{})
	defer session.Close(websocket.CloseNormalClosure, "")
	served := make(chan error, 1)
	go func() {
		for { // another try may be on its way when the first is served
			stream, err := session.Accept(t.Context())
			if err == nil {
				err = stream.Close()
			}
			select {
			case served <- err:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(folder, connector.APIServerSocket))
	}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api-server/", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The agent may know of its tunnel a moment before the connector uses it.
	retry := time.NewTicker(5 * time.Millisecond)
	defer retry.Stop()
	for arrived := false; !arrived; {
		if answer, err := client.Do(r); err == nil { // the stream ends without an answer
			_ = answer.Body.Close()
		}
		select {
		case err := <-served:
			if err != nil {
				t.Fatalf("no stream arrived at the agent: %v", err)
			}
			arrived = true
		case <-retry.C:
		}
	}
	b.tick <- time.Time{}
	if _, err := b.Store.RevokeAgentTokens(t.Context(), b.cluster.ID); err != nil {
		t.Fatal(err)
	}
	b.tick <- time.Time{}
	<-session.Done()
}

func TestAnUnknownClusterIsNotAPath(t *testing.T) {
	t.Parallel()
	b := start(t)
	answer := httptest.NewRecorder()
	b.api.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/agent_api/x/config", nil))
	if answer.Code != http.StatusNotFound || json.Valid(answer.Body.Bytes()) {
		t.Errorf("got %d %q", answer.Code, answer.Body)
	}
}
