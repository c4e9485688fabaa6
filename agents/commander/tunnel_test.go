package commander_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/agentapi"
	"commander/agents/tunnel"
)

// through is an HTTP client whose connections are streams of a tunnel.
func through(t *testing.T, s *tunnel.Session) *http.Client {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return s.Open(ctx, agentapi.TargetAPIServer)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (f *fakeCommander) awaitTunnel(t *testing.T) *tunnel.Session {
	t.Helper()
	s := <-f.tunnels
	t.Cleanup(func() { s.Close(websocket.CloseNormalClosure, "") })
	return s
}

func request(t *testing.T, method, path, body string, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://api-server"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func status(t *testing.T, c *http.Client, r *http.Request) (int, string) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestTunnelActsAsTheAgentOrWhomItImpersonates(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	c.run(t, f)
	client := through(t, f.awaitTunnel(t))
	path := "/api/v1/namespaces/" + c.namespace + "/configmaps"
	code, body := status(t, client, request(t, "POST", path, `{"metadata":{"name":"made"}}`,
		"Content-Type", "application/json", "Authorization", "Bearer nobody-knows-this"))
	if code != http.StatusCreated || c.read(t, "made") == nil {
		t.Errorf("create: got %d %s, want the agent's own rights", code, body)
	}
	code, body = status(t, client, request(t, "GET", path, "", "Impersonate-User", "eve"))
	if code != http.StatusForbidden || !strings.Contains(body, `\"eve\"`) {
		t.Errorf("list as eve: got %d %s, want 403 for eve", code, body)
	}
	// A person must not get rid of the impersonation by calling it a matter of the connection.
	code, body = status(t, client, request(t, "GET", path, "", "Impersonate-User", "eve", "Connection", "Impersonate-User"))
	if code != http.StatusForbidden {
		t.Errorf("list as eve who drops the header: got %d %s, want 403", code, body)
	}
}

func TestWatchComesThroughAtOnce(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	c.run(t, f)
	client := through(t, f.awaitTunnel(t))
	resp, err := client.Do(request(t, "GET", "/api/v1/namespaces/"+c.namespace+"/configmaps?watch=true&fieldSelector=metadata.name=seen", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	for _, want := range []string{"ADDED", "DELETED"} {
		if want == "ADDED" {
			code, body := status(t, client, request(t, "POST", "/api/v1/namespaces/"+c.namespace+"/configmaps",
				`{"metadata":{"name":"seen"}}`, "Content-Type", "application/json"))
			if code != http.StatusCreated {
				t.Fatalf("create: got %d %s", code, body)
			}
		} else if err := c.client.CoreV1().ConfigMaps(c.namespace).Delete(t.Context(), "seen", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		line, err := events.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var event struct{ Type string }
		if err := json.Unmarshal(line, &event); err != nil || event.Type != want {
			t.Errorf("got event %s and %v, want %s", line, err, want)
		}
	}
}

func TestTunnelComesBack(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	c.run(t, f)
	first := f.awaitTunnel(t)
	first.Close(websocket.CloseServiceRestart, "connector restarts")
	code, body := status(t, through(t, f.awaitTunnel(t)), request(t, "GET", "/version", ""))
	if code != http.StatusOK || !strings.Contains(body, "gitVersion") {
		t.Errorf("got %d %s, want the version", code, body)
	}
}

func TestUnknownTargetIsRefused(t *testing.T) {
	t.Parallel()
	c, f := newCluster(t), newCommander(t)
	c.run(t, f)
	stream, err := f.awaitTunnel(t).Open(t.Context(), "secrets-of-the-host")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := io.ReadAll(stream); err == nil || !strings.Contains(err.Error(), "no such target") {
		t.Errorf("got %v, want a refusal", err)
	}
}
