package web

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"commander/store"
	"commander/views/paths"
	"commander/web/respond"
)

func TestForwardedAddressesCountOnlyFromProxies(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, c := range []struct{ name, peer, forwarded, want string }{
		{"no proxy", "192.0.2.1:55", "", "192.0.2.1"},
		{"a stranger's claim", "192.0.2.1:55", "203.0.113.9", "192.0.2.1"},
		{"a proxy's word", "10.1.1.1:55", "203.0.113.9", "203.0.113.9"},
		{"two proxies", "10.1.1.1:55", "203.0.113.9, 10.2.2.2", "203.0.113.9"},
		{"a claim before the proxy's word", "10.1.1.1:55", "1.2.3.4, 203.0.113.9", "203.0.113.9"},
		{"nonsense", "10.1.1.1:55", "unknown", "10.1.1.1"},
		{"a proxy that asks for itself", "10.1.1.1:55", "", "10.1.1.1"},
		{"IPv6", "[2001:db8::1]:55", "", "2001:db8::1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = c.peer
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			require.Equal(t, c.want, remote(r, proxies))
		})
	}
}

func TestRequestsAreCountedByRouteAndLoggedWithoutQuery(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	s.deps.Log, s.deps.Metrics = slog.New(slog.NewTextHandler(&log, nil)), registry
	handler, err := New(s.deps)
	require.NoError(t, err)
	for _, path := range []string{paths.Cluster(anyID()) + "?token=secret", paths.Cluster(anyID()), "/nowhere"} {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
	}
	require.NotContains(t, log.String(), "secret")
	require.Contains(t, log.String(), "part=browser")
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP commander_web_requests_total Requests by part of the server, route and HTTP status.
# TYPE commander_web_requests_total counter
commander_web_requests_total{code="303",method="GET",part="browser",route="/clusters/{id}"} 2
commander_web_requests_total{code="404",method="GET",part="browser",route="none"} 1
`), "commander_web_requests_total"))
}

func TestPartsSeeWholePathsAndNoCookies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	echo := func(part string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, part+" "+r.URL.EscapedPath()+" "+r.Header.Get("Cookie")+respond.OriginOf(r.Context()).RequestID[:0])
		})
	}
	s.deps.API, s.deps.Agent, s.deps.Kubernetes, s.deps.Metrics = echo("api"), echo("agent"), echo("kubernetes"), nil
	handler, err := New(s.deps)
	require.NoError(t, err)
	s.handler = handler
	b := s.as("ann", store.RoleFull)
	for path, want := range map[string]string{
		"/api/v1/clusters":                      "api /api/v1/clusters ",
		"/agent_api/1/report":                   "agent /agent_api/1/report ",
		"/kubernetes/1/api/v1/a//b/proxy/x%2Fy": "kubernetes /kubernetes/1/api/v1/a//b/proxy/x%2Fy ",
	} {
		require.Equal(t, want, b.get(path).text)
	}
	require.Equal(t, http.StatusNotFound, b.get("/assets/missing.css").StatusCode, "a part that is not there")
}
