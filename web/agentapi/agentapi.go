// Package agentapi is Commander's side of the contract with the agents of managed clusters
// (package agents/agentapi, whose comment is the protocol).
package agentapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	contract "commander/agents/agentapi"
	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
)

// Fleet is what agents may ask of the rules.
type Fleet interface {
	AgentCluster(ctx context.Context, clusterID uuid.UUID, secret string) (store.Cluster, error)
	AgentConfiguration(ctx context.Context, clusterID uuid.UUID) (fleet.AgentConfiguration, error)
	TakeReport(ctx context.Context, clusterID uuid.UUID, r fleet.AgentReport) error
}

// Options of an API. Fleet and Dial are needed.
type Options struct {
	Fleet Fleet
	Dial  Dialer
	Log   *slog.Logger
	// Stop ends long polls and tunnels when it is closed, so that a server that stops need not
	// wait for them. Nil never does.
	Stop <-chan struct{}
}

// API serves paths.RouteAgent and what is below. It must hear what changes: connect Heard.
type API struct {
	Options
	mux   *http.ServeMux
	relay http.Handler
	after func(time.Duration) <-chan time.Time
	tick  func() (times <-chan time.Time, stop func())

	mu      sync.Mutex // protects waiting
	waiting map[string]map[chan struct{}]struct{}
}

// New makes the API.
func New(o Options) *API {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	a := &API{
		Options: o, mux: http.NewServeMux(), after: time.After, tick: checks,
		waiting: map[string]map[chan struct{}]struct{}{},
	}
	a.relay = newRelay(o)
	a.mux.HandleFunc("GET "+paths.RouteAgent+contract.PathConfig, a.known(a.config))
	a.mux.HandleFunc("POST "+paths.RouteAgent+contract.PathReport, a.known(a.report))
	a.mux.HandleFunc("GET "+paths.RouteAgent+contract.PathTunnel, a.known(a.tunnel))
	return a
}

func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// caller is the agent that a request comes from.
type caller struct {
	cluster store.Cluster
	secret  string
}

// known lets only agents with a valid token for the cluster in the path through.
func (a *API) known(next func(http.ResponseWriter, *http.Request, caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, err := uuid.Parse(r.PathValue("id"))
		if err != nil {
			http.Error(w, "there is no such cluster", http.StatusNotFound)
			return
		}
		scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			a.refuse(w, r, fault.New(fault.Unauthenticated, "fault.token"))
			return
		}
		cluster, err := a.Fleet.AgentCluster(r.Context(), id, secret)
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		next(w, r, caller{cluster, secret})
	}
}

// refuse answers with one line for whoever reads the agent's log.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.NotFound:
		w.Header().Set("WWW-Authenticate", `Bearer realm="commander agents"`)
		http.Error(w, "the token is not valid for this cluster", http.StatusUnauthorized)
	case fault.Forbidden:
		http.Error(w, "the token is for another cluster", http.StatusForbidden)
	case fault.Unavailable:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "the database of Commander cannot be reached", http.StatusServiceUnavailable)
	default:
		if r.Context().Err() == nil {
			a.Log.Error("serve an agent", "path", r.URL.Path, "error", err)
		}
		http.Error(w, "an unexpected error happened in Commander", http.StatusInternalServerError)
	}
}
