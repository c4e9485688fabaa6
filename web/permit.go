package web

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/paths"
	"commander/web/console"
	"commander/web/respond"
	"commander/web/session"
)

// gate lets requests through to what their person may do.
type gate struct {
	fleet    *fleet.Fleet
	sessions *session.Sessions
	console  *console.Console
}

// permitted wraps a handler so that it runs only for who has the permission: in the workspace
// that the route's address names, or in the one that its cluster or task is in.
func (g *gate) permitted(p fleet.Permission, handle handler) handler {
	if p == fleet.Public {
		return handle
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		person, err := g.sessions.Of(r)
		if fault.Is(err, fault.Unauthenticated) {
			return signInFirst(w, r)
		}
		if err != nil {
			return err
		}
		r = r.WithContext(session.With(r.Context(), person))
		if p == fleet.SignedIn {
			return handle(w, r)
		}
		if !person.Actor.HasRole() {
			return g.console.NoAccess(w, r)
		}
		if err := g.allowed(r, person.Actor, p); err != nil {
			return err
		}
		return handle(w, r)
	}
}

// allowed checks the permission where the route's address points to. Addresses that point to no
// workspace are for everybody who has a role somewhere.
func (g *gate) allowed(r *http.Request, who fleet.Actor, p fleet.Permission) error {
	pattern := chi.RouteContext(r.Context()).RoutePattern()
	var workspace uuid.UUID
	switch {
	case strings.Contains(pattern, "{slug}"):
		found, err := g.fleet.Workspace(r.Context(), who, chi.URLParam(r, "slug"))
		if err != nil {
			return err
		}
		workspace = found.ID
	case strings.Contains(pattern, "{id}"):
		id, err := uuid.Parse(chi.URLParam(r, "id"))
		if err != nil {
			return fault.New(fault.NotFound, "fault.not_found")
		}
		if strings.HasPrefix(pattern, paths.RouteMove) {
			workspace, err := g.fleet.WorkspaceOfMove(r.Context(), id)
			if err != nil {
				return err
			}
			return fleet.Allowed(who, p, workspace)
		}
		cluster, task := &id, (*uuid.UUID)(nil)
		if strings.HasPrefix(pattern, paths.RouteTask) {
			cluster, task = nil, &id
		}
		if workspace, err = g.fleet.WorkspaceOf(r.Context(), cluster, task); err != nil {
			return err
		}
	default:
		return nil
	}
	return fleet.Allowed(who, p, workspace)
}

// signInFirst leads to the sign-in page and from there back. What is no page leads back to the
// page that it was sent from.
func signInFirst(w http.ResponseWriter, r *http.Request) error {
	back := respond.PageOf(r)
	if back == paths.Start() {
		back = ""
	}
	if _, err := r.Cookie(session.Cookie); err == nil {
		return respond.Leave(w, r, paths.SignInAfter(paths.SignInExpired, back))
	}
	return respond.Leave(w, r, paths.SignIn(back))
}
