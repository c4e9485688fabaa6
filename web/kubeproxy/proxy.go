// Package kubeproxy lets a person's kubectl reach the API server of a managed cluster, through
// the tunnel of the cluster's agent.
//
// Who calls is told by the bearer token of a kubeconfig alone: cookies mean nothing here, so no
// page of another site can act for a person. The agent at the other end acts as an administrator
// and obeys Impersonate-* headers; therefore every such header of the caller is dropped and the
// ones set here name who the token belongs to and the group of their role (fleet.KubeGroup). The
// path below /kubernetes/<cluster> is passed on as it came.
package kubeproxy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
	"commander/web/lease"
)

// Actors tells who the token of a kubeconfig acts as on its cluster (fleet.KubeActor).
type Actors interface {
	KubeActor(ctx context.Context, clusterID uuid.UUID, secret string) (fleet.Actor, store.Role, error)
}

// Options of the proxy. Fleet and Dial are needed.
type Options struct {
	Fleet Actors
	Dial  Dialer
	Log   *slog.Logger
	// Stop ends open streams when it is closed, so that a server that stops need not wait for
	// them. Nil never does.
	Stop <-chan struct{}
}

type proxy struct {
	Options
	reverse *httputil.ReverseProxy
	// tick makes the times at which the right to an open request is checked.
	tick func() (times <-chan time.Time, stop func())
}

// New serves paths.RouteKubernetes and everything below.
func New(o Options) http.Handler { return newProxy(o) }

func newProxy(o Options) *proxy {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &proxy{Options: o, tick: func() (<-chan time.Time, func()) {
		t := time.NewTicker(lease.Every)
		return t.C, t.Stop
	}}
	p.reverse = &httputil.ReverseProxy{
		Rewrite:        rewrite,
		Transport:      transport(o.Dial),
		FlushInterval:  -1, // a watch's event must not wait for a buffer to fill
		ModifyResponse: harmless,
		ErrorHandler:   p.unreachable,
		ErrorLog:       slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return p
}

// call is what ServeHTTP found out of a request.
type call struct {
	cluster uuid.UUID
	raw     string // the escaped path for the API server
	actor   fleet.Actor
	role    store.Role
}

type callKey struct{}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cluster, raw, ok := split(r.URL.EscapedPath())
	if !ok {
		refuse(w, http.StatusNotFound, "there is no such cluster")
		return
	}
	secret, ok := bearer(r)
	if !ok {
		refuse(w, http.StatusUnauthorized, "a token is needed: download a kubeconfig from Commander")
		return
	}
	actor, role, err := p.Fleet.KubeActor(r.Context(), cluster, secret)
	if err != nil {
		p.refuseActor(w, r, err)
		return
	}
	// Watches and logs may last for hours; servers limit the time for other requests.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})

	tick, stop := p.tick()
	defer stop()
	ctx, release := lease.Hold(r.Context(), tick, p.Stop, func(ctx context.Context) error {
		_, now, err := p.Fleet.KubeActor(ctx, cluster, secret)
		if err == nil && now != role {
			err = fault.New(fault.Forbidden, "fault.forbidden")
		}
		return err
	})
	defer release()
	ctx = context.WithValue(ctx, callKey{}, call{cluster: cluster, raw: raw, actor: actor, role: role})
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// split takes the cluster's id off the front of an escaped path and returns the rest, which is
// not cleaned: the API server has paths in which a double slash means something.
func split(escaped string) (cluster uuid.UUID, rest string, ok bool) {
	rest, ok = strings.CutPrefix(escaped, paths.Kubernetes(""))
	if !ok {
		return cluster, "", false
	}
	id, rest, _ := strings.Cut(rest, "/")
	cluster, err := uuid.Parse(id)
	return cluster, "/" + rest, err == nil && len(id) == len(uuid.Nil.String())
}

func bearer(r *http.Request) (string, bool) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	secret = strings.TrimSpace(secret)
	return secret, ok && strings.EqualFold(scheme, "Bearer") && secret != ""
}

func (p *proxy) refuseActor(w http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.Unauthenticated:
		refuse(w, http.StatusUnauthorized, "the token is not valid for this cluster any more: download a new kubeconfig from Commander")
	case fault.Forbidden, fault.NotFound:
		refuse(w, http.StatusForbidden, "your role in Commander does not reach this cluster")
	case fault.Unavailable:
		refuse(w, http.StatusServiceUnavailable, "Commander's database cannot be reached")
	default:
		if r.Context().Err() == nil {
			p.Log.Error("look up the token of a kubeconfig", "error", err)
		}
		refuse(w, http.StatusInternalServerError, "an unexpected error happened in Commander")
	}
}

// unreachable answers when the way to the cluster is broken.
func (p *proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	c, _ := r.Context().Value(callKey{}).(call)
	switch cause := context.Cause(r.Context()); {
	case errors.Is(cause, lease.ErrWithdrawn):
		refuse(w, http.StatusUnauthorized, "the token is not valid for this cluster any more: download a new kubeconfig from Commander")
	case errors.Is(cause, lease.ErrStopping):
		refuse(w, http.StatusServiceUnavailable, "Commander restarts")
	case r.Context().Err() != nil: // nobody is there to be told
	case errors.Is(err, errDial):
		refuse(w, http.StatusServiceUnavailable, "the agent of this cluster is not connected to Commander")
	default:
		p.Log.Warn("reach a cluster", "cluster", c.cluster, "error", err)
		refuse(w, http.StatusBadGateway, "the connection to the cluster broke before it answered")
	}
}
