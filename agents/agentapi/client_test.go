package agentapi_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"commander/agents/agentapi"
)

func serve(t *testing.T, h http.Handler) *agentapi.Client {
	t.Helper()
	srv := httptest.NewTLSServer(h)
	t.Cleanup(srv.Close)
	client, err := agentapi.NewClient(agentapi.ClientOptions{
		URL:     srv.URL + "/agent_api/c1/",
		Token:   func() (string, error) { return "secret", nil },
		CA:      pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}),
		Version: "v1",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestConfigSendsETagAndWait(t *testing.T) {
	t.Parallel()
	want := agentapi.Config{
		ETag: "e2", Revision: 7, ReportIntervalSeconds: 3, Flags: map[string]string{"console": "1"},
		ResourceGroups: []agentapi.ResourceGroup{{Name: "base", Controlled: true, Manifests: "kind: Namespace"}},
	}
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Path; got != "/agent_api/c1/config" {
			t.Errorf("path: got %q", got)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("authorization: got %q", got)
		}
		if got := r.Header.Get("User-Agent"); got != "commander-agent/v1" {
			t.Errorf("user agent: got %q", got)
		}
		if got := r.FormValue(agentapi.WaitParameter); got != "2" {
			t.Errorf("wait: got %q, want 2", got)
		}
		if agentapi.UnquoteETag(r.Header.Get("If-None-Match")) == want.ETag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_ = json.NewEncoder(w).Encode(want)
	}))
	got, changed, err := client.Config(t.Context(), "e1", 2*time.Second)
	if err != nil || !changed {
		t.Fatalf("changed %t, error %v; want a new configuration", changed, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if _, changed, err = client.Config(t.Context(), "e2", 2*time.Second); err != nil || changed {
		t.Fatalf("changed %t, error %v; want nothing new", changed, err)
	}
}

func TestReportArrivesWhole(t *testing.T) {
	t.Parallel()
	want := agentapi.Report{
		AgentVersion: "v1", KubernetesVersion: "v1.37.2", AppliedETag: "e1",
		Objects: []agentapi.ObjectResult{{
			ResourceGroup: "base", Group: "apps", Version: "v1", Kind: "Deployment",
			Namespace: "d", Name: "n", State: agentapi.ObjectFailed, Error: "no quota",
		}},
		Totals: &agentapi.Totals{CPUCores: 2.5, Nodes: 1},
		Nodes:  []agentapi.Node{{Name: "m-0", Ready: true, CreatedAt: time.Unix(1700000000, 0).UTC()}},
	}
	var got agentapi.Report
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Errorf("decode report: %v", err)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	if err := client.Report(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	if got.Configured("e1") {
		t.Error("a failed object counts as configured")
	}
}

func TestRefusalIsRecognised(t *testing.T) {
	t.Parallel()
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "token expired", http.StatusUnauthorized)
	}))
	_, _, configErr := client.Config(t.Context(), "", 0)
	_, tunnelErr := client.DialTunnel(t.Context())
	for name, err := range map[string]error{
		"config": configErr, "report": client.Report(t.Context(), agentapi.Report{}), "tunnel": tunnelErr,
	} {
		if !agentapi.Refused(err) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "token expired") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: message %q: want the reason and no secret", name, err)
		}
	}
}

func TestDialTunnelAgreesOnProtocol(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{agentapi.TunnelProtocol, "something.else"} {
		client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			up := websocket.Upgrader{Subprotocols: []string{protocol}}
			ws, err := up.Upgrade(w, r, nil)
			if err != nil {
				t.Errorf("upgrade: %v", err)
				return
			}
			_ = ws.Close()
		}))
		ws, err := client.DialTunnel(t.Context())
		if ok := err == nil; ok != (protocol == agentapi.TunnelProtocol) {
			t.Errorf("protocol %s: got error %v", protocol, err)
		}
		if err == nil {
			_ = ws.Close()
		}
	}
}

func TestAddressMustBeHTTPS(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://c/agent_api/1", "c/agent_api/1", "https://", "https://u:p@c/", "https://c/?x=1"} {
		_, err := agentapi.NewClient(agentapi.ClientOptions{URL: address, Token: func() (string, error) { return "", errors.New("unused") }})
		if err == nil {
			t.Errorf("%s: accepted", address)
		}
	}
}

func TestETagQuoting(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{`"a"`: "a", `W/"a"`: "a", "": "", `a`: "a"} {
		if got := agentapi.UnquoteETag(header); got != want {
			t.Errorf("UnquoteETag(%s): got %q, want %q", header, got, want)
		}
	}
	if got := agentapi.QuoteETag("a"); got != `"a"` {
		t.Errorf("QuoteETag: got %s", got)
	}
}
