// Package web serves HTTP: the pages for browsers, the REST API, the interface of agents, the way
// to the API servers of clusters, and the sockets of live pages. Each has a mux of its own, so that
// what one accepts (a cookie, a token, a long body) never reaches another.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/paths"
	"commander/web/console"
	"commander/web/respond"
	"commander/web/session"
)

// Deps are the parts that the server is made of. Each handler sees whole paths, nothing is
// stripped; a part that is nil is answered with 404.
type Deps struct {
	Fleet    *fleet.Fleet
	Sessions *session.Sessions
	Console  *console.Console
	// Assets serves the browser's files below paths.RouteAssets.
	Assets http.Handler

	API        http.Handler // below paths.RouteAPI
	Agent      http.Handler // below paths.RouteAgent
	Kubernetes http.Handler // below paths.RouteKubernetes
	Live       http.Handler // at paths.RouteLive; it asks who it is by itself (session.Sessions.Again)

	Log *slog.Logger
	// Metrics takes what is counted; nil counts in vain.
	Metrics prometheus.Registerer
	// Proxies are the networks whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	// Patience is how long a page or an answer of the API may take to be made; zero is 20 seconds.
	Patience time.Duration
}

// Bounds of requests that are answered at once. The router of the pages bounds their bodies.
var (
	pageBounds = bounds{read: 30 * time.Second, answer: 20 * time.Second, write: time.Minute}
	apiBounds  = bounds{body: 4 << 20, read: 30 * time.Second, answer: 20 * time.Second, write: time.Minute}
)

// reportBody bounds what an agent may send at once.
const reportBody = 16 << 20

type server struct {
	Deps
	edge *respond.Edge
	gate *gate
}

// New makes the handler of the whole server. It fails when the public address makes no sense.
func New(d Deps) (http.Handler, error) {
	s := &server{
		Deps: d,
		edge: &respond.Edge{Log: d.Log, Frame: d.Console.Frame},
		gate: &gate{fleet: d.Fleet, sessions: d.Sessions, console: d.Console},
	}
	pageBounds, apiBounds := pageBounds, apiBounds
	if d.Patience > 0 {
		pageBounds.answer, apiBounds.answer = d.Patience, d.Patience
	}
	m := newMetrics(d.Metrics)
	mux := s.browser()
	pages, err := sameOrigin(d.Fleet.PublicURL, s.edge, bounded(pageBounds, mux))
	if err != nil {
		return nil, err
	}
	// The socket of a page is opened by a page, so it is under the browser's rules, except that it lasts.
	sockets := unbounded(mux)

	watch := func(part, route string, next http.Handler) http.Handler {
		return m.watched(part, d.Log, func(*http.Request) string { return route }, next)
	}
	parts := []struct {
		prefix string
		serve  http.Handler
	}{
		{strings.TrimSuffix(paths.RouteAssets, "*"), watch("assets", paths.RouteAssets, orNothing(d.Assets))},
		{paths.RouteAPI + "/", watch("api", paths.RouteAPI, bounded(apiBounds, cookieless(d.API)))},
		{prefixOf(paths.RouteAgent), watch("agent", paths.RouteAgent, unbounded(limited(reportBody, cookieless(d.Agent))))},
		{prefixOf(paths.RouteKubernetes), watch("kubernetes", paths.RouteKubernetes, unbounded(cookieless(d.Kubernetes)))},
		{paths.RouteLive, watch("live", paths.RouteLive, secured(sockets))},
	}
	rest := named(m.watched("browser", d.Log, pattern, secured(pages)))
	return origin(d.Proxies, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// No ServeMux: it would redirect paths that are not clean, which kubectl may well ask for.
		for _, p := range parts {
			if r.URL.Path == p.prefix || strings.HasSuffix(p.prefix, "/") && strings.HasPrefix(r.URL.Path, p.prefix) {
				p.serve.ServeHTTP(w, r)
				return
			}
		}
		rest.ServeHTTP(w, r)
	})), nil
}

// prefixOf is a route up to its first name.
func prefixOf(route string) string { return route[:strings.IndexByte(route, '{')] }

// orNothing stands in for a part that this process does not have.
func orNothing(h http.Handler) http.Handler {
	if h == nil {
		return http.NotFoundHandler()
	}
	return h
}

// cookieless keeps the cookies of browsers from parts that know programs by their tokens.
func cookieless(h http.Handler) http.Handler {
	h = orNothing(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Cookie")
		h.ServeHTTP(w, r)
	})
}

func limited(bytes int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, bytes)
		next.ServeHTTP(w, r)
	})
}

// named gives a request the routing context that the router fills in, so that whoever stands
// around the router can read the route afterwards.
func named(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, chi.NewRouteContext())))
	})
}

// pattern is the route that the router found.
func pattern(r *http.Request) string {
	if found := chi.RouteContext(r.Context()).RoutePattern(); found != "" {
		return found
	}
	return "none"
}

// live hands the socket of a page to the hub.
func (s *server) live(w http.ResponseWriter, r *http.Request) error {
	if s.Live == nil {
		return notFound(w, r)
	}
	s.Live.ServeHTTP(w, r)
	return nil
}

func notFound(http.ResponseWriter, *http.Request) error {
	return fault.New(fault.NotFound, "fault.not_found")
}
