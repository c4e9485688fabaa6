// Package console holds the pages of the product, one file an action: each handler reads the
// request, asks the fleet, and answers with a page, a part of one, or a redirection.
package console

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
	"commander/web/assets"
	"commander/web/session"
)

// Assets tells the addresses of the browser's files.
type Assets interface {
	URL(name string) string
}

// Console answers for the pages.
type Console struct {
	Fleet    *fleet.Fleet
	Sessions *session.Sessions
	Assets   Assets
	// PageSize is how many rows a list shows at once; zero means DefaultPageSize.
	PageSize int
}

// DefaultPageSize is what a list shows at once unless told otherwise.
const DefaultPageSize = 50

var _ Assets = (*assets.Set)(nil)

// size is how many rows a list shows at once.
func (c *Console) size() int {
	if c.PageSize > 0 {
		return c.PageSize
	}
	return DefaultPageSize
}

// actor is on whose behalf a request acts.
func actor(r *http.Request) fleet.Actor { return session.Actor(r.Context()) }

// id reads the id in a request's address. What is no id is as unknown as an id that does not exist.
func id(r *http.Request) (uuid.UUID, error) { return parseID(chi.URLParam(r, "id")) }

func parseID(text string) (uuid.UUID, error) {
	parsed, err := uuid.Parse(text)
	if err != nil {
		return uuid.Nil, fault.New(fault.NotFound, "fault.not_found")
	}
	return parsed, nil
}

// workspace is the one in a request's address.
func (c *Console) workspace(r *http.Request) (store.Workspace, error) {
	return c.Fleet.Workspace(r.Context(), actor(r), chi.URLParam(r, "slug"))
}

// parseForm reads the fields of a posted form.
func parseForm(r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable is the fault of a form that could not be read; one that is too large says so.
func unreadable(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return fault.Wrap(fault.Invalid, err, "fault.too_large", large.Limit>>20)
	}
	return fault.Wrap(fault.Invalid, err, "fault.form")
}

// moment is a time that may be missing, as views have it.
func moment(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// kubernetesVersion writes a version without the letter that Kubernetes puts before it.
func kubernetesVersion(v string) string { return strings.TrimPrefix(v, "v") }

// first is the number of the first row of a query's page, from 0.
func (c *Console) first(q paths.Query) int { return (max(q.Page, 1) - 1) * c.size() }
