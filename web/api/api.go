// Package api is the REST API for programs of others. Its types are its own: they are stable,
// while pages and tables change. openapi.yaml describes it and is served beside it.
package api

import (
	"context"
	_ "embed" // for openapi.yaml
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

//go:embed openapi.yaml
var openAPI []byte

// TokenHeader carries the token of a workspace.
const TokenHeader = "X-Auth-Token"

type api struct {
	fleet *fleet.Fleet
	log   *slog.Logger
}

// New serves paths.RouteAPI and what is below. log takes what is a fault of ours.
func New(f *fleet.Fleet, log *slog.Logger) http.Handler { return routes(&api{fleet: f, log: log}) }

func routes(a *api) chi.Router {
	root := chi.NewRouter()
	root.Use(noStore, spoken)
	root.NotFound(a.handler(func(http.ResponseWriter, *http.Request) error {
		return fault.New(fault.NotFound, "fault.not_found")
	}))
	root.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusMethodNotAllowed, problem{Error: "method_not_allowed", Message: "This address does not take this method."})
	})
	root.Get(paths.RouteAPI+"/openapi.yaml", describe)
	root.Group(func(r chi.Router) {
		r.Use(a.known)
		r.Get(paths.RouteAPI+"/cluster_templates", a.handler(a.listTemplates))
		r.Get(paths.RouteAPI+"/cluster_templates/{id}", a.handler(a.showTemplate))
		r.Post(paths.RouteAPI+"/cluster_templates", a.handler(a.createTemplate))
		r.Post(paths.RouteAPI+"/cluster_templates/import", a.handler(a.importTemplate))
		r.Put(paths.RouteAPI+"/cluster_templates/{id}", a.handler(a.changeTemplate))
		r.Delete(paths.RouteAPI+"/cluster_templates/{id}", a.handler(a.archiveTemplate))
		r.Post(paths.RouteAPI+"/cluster_templates/{id}/restore", a.handler(a.restoreTemplate))
		r.Get(paths.RouteAPI+"/cluster_templates/{id}/export", a.handler(a.exportTemplate))
		r.Get(paths.RouteAPI+"/cluster_templates/{id}/versions", a.handler(a.listVersions))
		r.Get(paths.RouteAPI+"/cluster_templates/{id}/versions/{number}", a.handler(a.showVersion))
		r.Put(paths.RouteAPI+"/cluster_templates/{id}/versions/{number}", a.handler(a.changeVersion))
		r.Post(paths.RouteAPI+"/cluster_templates/{id}/versions/{number}/use", a.handler(a.useVersion))
		r.Get(paths.RouteAPI+"/clusters", a.handler(a.listClusters))
		r.Post(paths.RouteAPI+"/clusters", a.handler(a.createCluster))
		r.Get(paths.RouteAPI+"/clusters/{id}", a.handler(a.showCluster))
		r.Put(paths.RouteAPI+"/clusters/{id}", a.handler(a.changeCluster))
		r.Patch(paths.RouteAPI+"/clusters/{id}", a.handler(a.markCluster))
		r.Delete(paths.RouteAPI+"/clusters/{id}", a.handler(a.deleteCluster))
		r.Get(paths.RouteAPI+"/clusters/{id}/kubeconfig", a.handler(a.kubeconfig))
		r.Get(paths.RouteAPI+"/catalogs", a.handler(a.listCatalogs))
		r.Post(paths.RouteAPI+"/catalogs", a.handler(a.importCatalog))
		r.Get(paths.RouteAPI+"/catalogs/{id}", a.handler(a.showCatalog))
		r.Put(paths.RouteAPI+"/catalogs/{id}", a.handler(a.changeCatalog))
		r.Post(paths.RouteAPI+"/catalogs/{id}/archive", a.handler(a.archiveCatalog))
		r.Post(paths.RouteAPI+"/catalogs/{id}/restore", a.handler(a.restoreCatalog))
		r.Get(paths.RouteAPI+"/records", a.handler(a.listRecords))
		r.Post(paths.RouteAPI+"/records", a.handler(a.createRecord))
		r.Get(paths.RouteAPI+"/records/{id}", a.handler(a.showRecord))
		r.Put(paths.RouteAPI+"/records/{id}", a.handler(a.changeRecord))
		r.Delete(paths.RouteAPI+"/records/{id}", a.handler(a.deleteRecord))
		r.Post(paths.RouteAPI+"/records/{id}/archive", a.handler(a.archiveRecord))
		r.Post(paths.RouteAPI+"/records/{id}/restore", a.handler(a.restoreRecord))
		r.Get(paths.RouteAPI+"/registries", a.handler(a.listRegistries))
		r.Post(paths.RouteAPI+"/registries", a.handler(a.createRegistry))
		r.Get(paths.RouteAPI+"/registries/{id}", a.handler(a.showRegistry))
		r.Put(paths.RouteAPI+"/registries/{id}", a.handler(a.changeRegistry))
		r.Delete(paths.RouteAPI+"/registries/{id}", a.handler(a.deleteRegistry))
		a.life(r)
	})
	return root
}

// caller is the token that a request comes with, and the workspace it is for.
type caller struct {
	actor     fleet.Actor
	workspace store.Workspace
}

type callerKey struct{}

func callerOf(ctx context.Context) caller { return ctx.Value(callerKey{}).(caller) }

// known lets only requests with a valid token through.
func (a *api) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, workspace, err := a.fleet.TokenActor(r.Context(), r.Header.Get(TokenHeader))
		if err != nil {
			a.fail(w, r, err)
			return
		}
		origin := respond.OriginOf(r.Context())
		actor.RemoteAddress, actor.RequestID = origin.RemoteAddress, origin.RequestID
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{actor, workspace})))
	})
}

// handler answers with what a function did, or with why it could not.
func (a *api) handler(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := caught(serve, w, r); err != nil {
			a.fail(w, r, err)
		}
	}
}

// caught turns a panic into an error, so that a program gets an answer and the log the reason.
// Handlers answer as the last thing they do, so nothing was sent before.
func caught(serve func(http.ResponseWriter, *http.Request) error, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		switch reason := recover(); reason {
		case nil:
		case http.ErrAbortHandler:
			panic(reason)
		default:
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return serve(w, r)
}

// idOf reads the id in a path. What is no id is as unknown as any other.
func idOf(r *http.Request) (uuid.UUID, error) {
	id, err := uuid.Parse(chi.URLParam(r, "id"))
	if err != nil {
		return id, fault.Wrap(fault.NotFound, err, "fault.not_found")
	}
	return id, nil
}

func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// spoken chooses the language of messages by what the program accepts.
func spoken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(i18n.With(r.Context(), i18n.Negotiate("", r.Header.Get("Accept-Language")))))
	})
}

func describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/yaml")
	_, _ = w.Write(openAPI)
}
