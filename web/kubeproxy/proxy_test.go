package kubeproxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"commander/agents/connector"
	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
)

// clusterID is the cluster of these tests.
var clusterID = uuid.MustParse("6f2d8a4e-7d53-4a0e-9a53-1f1f3a0b6c11")

// rights is who the token "good" belongs to, as long as err is nil.
type rights struct {
	mu    sync.Mutex
	actor fleet.Actor
	role  store.Role
	err   error
}

func (r *rights) KubeActor(_ context.Context, cluster uuid.UUID, secret string) (fleet.Actor, store.Role, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && (cluster != clusterID || secret != "good") {
		return fleet.Actor{}, "", fault.New(fault.Unauthenticated, "fault.token")
	}
	return r.actor, r.role, r.err
}

func (r *rights) become(role store.Role, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.role, r.err = role, err
}

var ann = fleet.Actor{Type: fleet.ActorUser, ID: uuid.MustParse("11111111-2222-4333-8444-555555555555"), Name: "ann@example.com"}

type bench struct {
	*httptest.Server
	rights *rights
	tick   chan time.Time // with room for one, which an ended request leaves
	stop   chan struct{}
}

// start puts the proxy before an API server that a handler plays; nil has nobody listen.
func start(t *testing.T, apiServer http.Handler) *bench {
	t.Helper()
	folder, err := os.MkdirTemp("", "kp") // short: t.TempDir may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if apiServer != nil {
		if err := os.Mkdir(filepath.Join(folder, clusterID.String()), 0o700); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", filepath.Join(folder, clusterID.String(), connector.APIServerSocket))
		if err != nil {
			t.Fatal(err)
		}
		behind := &httptest.Server{Listener: listener, Config: &http.Server{Handler: apiServer}} //nolint:gosec // of a test
		behind.Start()
		t.Cleanup(behind.Close)
	}
	b := &bench{rights: &rights{actor: ann, role: store.RoleFull}, tick: make(chan time.Time, 1), stop: make(chan struct{})}
	p := newProxy(Options{Fleet: b.rights, Dial: Sockets(folder), Stop: b.stop})
	p.tick = func() (<-chan time.Time, func()) { return b.tick, func() {} }
	b.Server = httptest.NewUnstartedServer(p)
	b.EnableHTTP2 = true
	b.StartTLS()
	t.Cleanup(func() {
		b.Close()
		p.reverse.Transport.(*http.Transport).CloseIdleConnections()
	})
	return b
}

func (b *bench) request(t *testing.T, method, path string, header http.Header) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.URL+"/kubernetes/"+clusterID.String()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	return r
}

func good() http.Header { return http.Header{"Authorization": {"Bearer good"}} }

func TestOnlyTheHeadersOfTheProxyNameTheCaller(t *testing.T) {
	t.Parallel()
	var got http.Header
	var gotURI, gotHost string
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, gotURI, gotHost = r.Header.Clone(), r.RequestURI, r.Host
		w.Header().Set("Set-Cookie", "session=stolen")
		w.Header().Set("Clear-Site-Data", `"cookies"`)
	}))
	sent := http.Header{
		"Authorization": {"bearer good"}, "Proxy-Authorization": {"Basic eA=="}, "Cookie": {"commander_session=x"}, "X-Auth-Token": {"y"},
		"Impersonate-User": {"system:admin"}, "Impersonate-Group": {"system:masters"}, "Impersonate-Uid": {"0"},
		"Impersonate-Extra-Scopes": {"all"}, "impersonate-extra-a%2fb": {"c"}, "X-Remote-User": {"root"}, "X-Remote-Group": {"system:masters"},
		"X-Forwarded-For": {"1.2.3.4"}, "Accept": {"application/json"}, "User-Agent": {"kubectl"},
		"Sec-Websocket-Protocol": {"base64url.bearer.authorization.k8s.io.c3RvbGVu, v5.channel.k8s.io", "BASE64URL.bearer.authorization.k8s.io.eA"},
	}
	answer, err := b.Client().Do(b.request(t, http.MethodGet, "/api/v1//namespaces/a%2Fb/pods/../x?watch=1&a=%20", sent))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.ProtoMajor != 2 {
		t.Errorf("protocol: got %s, want HTTP/2 on the outside", answer.Proto)
	}
	want := http.Header{
		"Impersonate-User": {"commander:user:ann@example.com"}, "Impersonate-Uid": {ann.ID.String()}, "Impersonate-Group": {"commander:full"},
		"Accept": {"application/json"}, "User-Agent": {"kubectl"}, "Sec-Websocket-Protocol": {"v5.channel.k8s.io"},
		"Accept-Encoding": {"gzip"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if want := "/api/v1//namespaces/a%2Fb/pods/../x?watch=1&a=%20"; gotURI != want {
		t.Errorf("address: got %s, want %s", gotURI, want)
	}
	if gotHost != clusterID.String() {
		t.Errorf("host: got %s, want the cluster's id", gotHost)
	}
	if answer.Header.Get("Set-Cookie") != "" || answer.Header.Get("Clear-Site-Data") != "" || !strings.HasPrefix(answer.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("answer: got %v, want nothing that acts on Commander's pages", answer.Header)
	}
}

func TestConnectionHeaderCannotTakeTheIdentityAway(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	b := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Clone() }))
	conn := b.dial(t)
	fmt.Fprintf(conn, "GET /kubernetes/%s/version HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n"+
		"iMPERSONATE-gROUP: system:masters\r\nConnection: close, Impersonate-User, Impersonate-Group\r\n\r\n", clusterID)
	h := <-got
	if h.Get("Impersonate-User") != "commander:user:ann@example.com" || !cmp.Equal(h.Values("Impersonate-Group"), []string{"commander:full"}) {
		t.Errorf("headers: got %v", h)
	}
}

func TestNamesAreNeverThoseOfTheSystem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"system:admin": "commander:user:system:admin", "a\r\nImpersonate-Group: x": "commander:user:aImpersonate-Group: x", "Иван": "commander:user:Иван",
	} {
		if got := userName(fleet.Actor{Type: fleet.ActorUser, Name: name}); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	if got := userName(fleet.Actor{Type: fleet.ActorToken, Name: "ci"}); got != "commander:token:ci" {
		t.Errorf("token: got %q", got)
	}
}

func TestRefusalsAreKubernetesStatuses(t *testing.T) {
	t.Parallel()
	reached := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the API server was reached") })
	for _, c := range []struct {
		name   string
		change func(*http.Request, *bench)
		code   int
		reason string
	}{
		{"no token", func(r *http.Request, _ *bench) { r.Header = http.Header{} }, 401, "Unauthorized"},
		{"a cookie", func(r *http.Request, _ *bench) { r.Header = http.Header{"Cookie": {"commander_session=good"}} }, 401, "Unauthorized"},
		{"basic", func(r *http.Request, _ *bench) { r.Header.Set("Authorization", "Basic good") }, 401, "Unauthorized"},
		{"unknown token", func(r *http.Request, _ *bench) { r.Header.Set("Authorization", "Bearer bad") }, 401, "Unauthorized"},
		{"another cluster", func(r *http.Request, _ *bench) { r.URL.Path = "/kubernetes/" + uuid.NewString() + "/api" }, 401, "Unauthorized"},
		{"no cluster", func(r *http.Request, _ *bench) { r.URL.Path = "/kubernetes/x/api" }, 404, "NotFound"},
		{"no role", func(_ *http.Request, b *bench) { b.rights.become("", fault.New(fault.Forbidden, "x")) }, 403, "Forbidden"},
		{"no database", func(_ *http.Request, b *bench) { b.rights.become("", fault.New(fault.Unavailable, "x")) }, 503, "ServiceUnavailable"},
		{"a bug", func(_ *http.Request, b *bench) { b.rights.become("", errors.New("secret detail")) }, 500, "InternalError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := start(t, reached)
			r := b.request(t, http.MethodGet, "/api", good())
			c.change(r, b)
			wantStatus(t, b, r, c.code, c.reason)
		})
	}
}

func TestBrokenWaysAreTold(t *testing.T) {
	t.Parallel()
	b := start(t, nil)
	wantStatus(t, b, b.request(t, http.MethodGet, "/api", good()), 503, "ServiceUnavailable")
	b = start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}))
	wantStatus(t, b, b.request(t, http.MethodPost, "/api", good()), 502, "InternalError")
}

func wantStatus(t *testing.T, b *bench, r *http.Request, code int, reason string) {
	t.Helper()
	answer, err := b.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var got status
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != code || got.Code != code || got.Reason != reason || got.Kind != "Status" || got.Status != "Failure" || got.Message == "" {
		t.Errorf("got %d %+v, want %d %s", answer.StatusCode, got, code, reason)
	}
	if strings.Contains(got.Message, "secret") {
		t.Errorf("message %q tells what is not for the caller", got.Message)
	}
}

func (b *bench) dial(t *testing.T) net.Conn {
	t.Helper()
	config := b.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	conn, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// upgrade opens an echo through the proxy and proves that it echoes.
func (b *bench) upgrade(t *testing.T) *bufio.Reader {
	t.Helper()
	conn := b.dial(t)
	fmt.Fprintf(conn, "POST /kubernetes/%s/api/v1/namespaces/a/pods/b/exec HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n"+
		"Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n\r\n", clusterID)
	reader := bufio.NewReader(conn)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusSwitchingProtocols || answer.Header.Get("Upgrade") != "SPDY/3.1" {
		t.Fatalf("upgrade: got %d %v", answer.StatusCode, answer.Header)
	}
	for _, line := range []string{"first\n", "second\n"} {
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		if got, err := reader.ReadString('\n'); err != nil || got != line {
			t.Fatalf("echo: got %q, error %v, want %q", got, err, line)
		}
	}
	return reader
}

func echo(w http.ResponseWriter, r *http.Request) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", r.Header.Get("Upgrade"))
	_, _ = io.Copy(conn, buffered)
}

func TestUpgradePassesAndEndsWithTheRight(t *testing.T) {
	t.Parallel()
	for name, withdraw := range map[string]func(*bench){
		"revoked": func(b *bench) {
			b.rights.become("", fault.New(fault.Unauthenticated, "fault.token"))
			b.tick <- time.Time{}
		},
		"another role": func(b *bench) { b.rights.become(store.RoleReadOnly, nil); b.tick <- time.Time{} },
		"stop":         func(b *bench) { close(b.stop) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, http.HandlerFunc(echo))
			stream := b.upgrade(t)
			b.tick <- time.Time{} // still good
			withdraw(b)
			if rest, err := io.ReadAll(stream); len(rest) > 0 {
				t.Errorf("after the end: got %q, error %v", rest, err)
			}
		})
	}
}

func TestWatchIsNotHeldBackAndEndsWithTheRight(t *testing.T) {
	t.Parallel()
	next := make(chan string)
	gone := make(chan struct{})
	b := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for {
			select {
			case event := <-next:
				_, _ = io.WriteString(w, event)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	answers := make(chan *http.Response, 1)
	go func() {
		answer, err := b.Client().Do(b.request(t, http.MethodGet, "/api/v1/pods?watch=1", good()))
		if err != nil {
			t.Error(err)
		}
		answers <- answer
	}()
	next <- "one\n"
	answer := <-answers
	defer answer.Body.Close()
	reader := bufio.NewReader(answer.Body)
	for _, want := range []string{"one\n", "two\n"} {
		if want == "two\n" {
			next <- want
		}
		if got, err := reader.ReadString('\n'); err != nil || got != want {
			t.Fatalf("event: got %q, error %v, want %q", got, err, want)
		}
	}
	b.rights.become("", fault.New(fault.Unauthenticated, "fault.token"))
	b.tick <- time.Time{}
	if _, err := reader.ReadString('\n'); err == nil {
		t.Error("the watch goes on without its right")
	}
	<-gone
}

func TestKubeconfigNamesTheProxy(t *testing.T) {
	t.Parallel()
	got, err := Kubeconfig("https://commander.example/", "PEM", fleet.KubeToken{Secret: "cmdk_x", Cluster: store.Cluster{ID: clusterID, Name: "prod"}})
	if err != nil {
		t.Fatal(err)
	}
	want := `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: UEVN
    server: https://commander.example/kubernetes/6f2d8a4e-7d53-4a0e-9a53-1f1f3a0b6c11
  name: prod
contexts:
- context:
    cluster: prod
    user: commander
  name: prod
current-context: prod
kind: Config
users:
- name: commander
  user:
    token: cmdk_x
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("kubeconfig (-want +got):\n%s", diff)
	}
}
