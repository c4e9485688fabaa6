package session

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/clock"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/web/respond"
)

// Cookie is the name of the cookie that holds the session's id. The prefix makes browsers refuse
// it unless it is secure, for the whole site and for this host alone.
const Cookie = "__Host-commander"

// Accounts keeps people and their sessions.
type Accounts interface {
	SignIn(ctx context.Context, who fleet.Identity, remote string) (string, store.User, error)
	PersonOf(ctx context.Context, secret string) (fleet.Person, error)
	SignOut(ctx context.Context, secret string) error
}

// Sealer closes the state of a sign-in that is under way, so that only Commander's own processes
// can make or read it.
type Sealer interface {
	Seal(table, column string, row uuid.UUID, value []byte) (sealed []byte, keyID string)
	Unseal(table, column string, row uuid.UUID, sealed []byte, keyID string) ([]byte, error)
}

// Sessions knows who is signed in and lets people in and out.
type Sessions struct {
	accounts Accounts
	issuer   *issuer
	sealer   Sealer
	clock    clock.Clock
	log      *slog.Logger
}

// New makes the sessions of an installation. The issuer is asked for the first time when somebody
// signs in, so that it may be away at the start.
func New(accounts Accounts, sealer Sealer, c clock.Clock, log *slog.Logger, config Config) (*Sessions, error) {
	provider, err := newIssuer(config)
	if err != nil {
		return nil, err
	}
	return &Sessions{accounts: accounts, issuer: provider, sealer: sealer, clock: c, log: log}, nil
}

type personKey struct{}

// With puts a person into a context, and the language that they have chosen.
func With(ctx context.Context, person fleet.Person) context.Context {
	if person.Language != "" {
		ctx = i18n.With(ctx, i18n.Negotiate(person.Language, ""))
	}
	return context.WithValue(ctx, personKey{}, person)
}

// Person is who is signed in; the zero Person outside of a session.
func Person(ctx context.Context) fleet.Person {
	person, _ := ctx.Value(personKey{}).(fleet.Person)
	return person
}

// Actor is on whose behalf a request acts.
func Actor(ctx context.Context) fleet.Actor { return Person(ctx).Actor }

// Of finds the person of a request by its cookie. It fails with Unauthenticated when there is no
// session or it is over. Live pages ask again before they render.
func (s *Sessions) Of(r *http.Request) (fleet.Person, error) {
	cookie, err := r.Cookie(Cookie)
	if err != nil || cookie.Value == "" {
		return fleet.Person{}, fault.New(fault.Unauthenticated, "fault.unauthenticated")
	}
	person, err := s.accounts.PersonOf(r.Context(), cookie.Value)
	if err != nil {
		return fleet.Person{}, err
	}
	origin := respond.OriginOf(r.Context())
	person.Actor.RequestID, person.Actor.RemoteAddress = origin.RequestID, origin.RemoteAddress
	return person, nil
}

// Again is Of for a page that is already open: ctx is that of the rendering.
func (s *Sessions) Again(ctx context.Context, r *http.Request) (fleet.Person, error) {
	return s.Of(r.WithContext(ctx))
}

// Viewer puts into the context of a rendering what the request that opened the page was read in:
// its person and their language.
func Viewer(ctx context.Context, r *http.Request, person fleet.Person) context.Context {
	return With(i18n.With(ctx, i18n.Of(r.Context())), person)
}

// put gives the browser a cookie of this host alone.
func put(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: seconds,
		Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// drop takes a cookie from the browser.
func drop(w http.ResponseWriter, name string) { put(w, name, "", -1) }
