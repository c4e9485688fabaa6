package session

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"commander/views/paths"
	"commander/web/respond"
)

// cookieFor bounds how long a browser keeps the cookie; the session itself may end earlier.
const cookieFor = 7 * 24 * time.Hour

// Login sends the browser to the issuer. It fails with Unavailable while the issuer is away.
func (s *Sessions) Login(w http.ResponseWriter, r *http.Request) error {
	p := newPending(respond.LocalPath(r.URL.Query().Get("return")), s.clock.Now())
	address, err := s.issuer.address(r.Context(), p)
	if err != nil {
		return err
	}
	if err := s.putPending(w, p); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// Callback is where the issuer sends the browser back to. A proven identity gets a new session
// and the browser's earlier one ends; anything else leads back to the sign-in page.
func (s *Sessions) Callback(w http.ResponseWriter, r *http.Request) error {
	p, err := s.pendingOf(r)
	drop(w, pendingCookie)
	if err == nil {
		err = s.finish(w, r, p)
	}
	if errors.Is(err, errRefused) {
		s.log.Warn("sign-in refused", "request", respond.OriginOf(r.Context()).RequestID,
			"remote", respond.OriginOf(r.Context()).RemoteAddress, "error", err)
		return respond.Leave(w, r, paths.SignInAfter(paths.SignInFailed, p.Back))
	}
	return err
}

// finish holds the issuer's answer against what was asked and opens the session.
func (s *Sessions) finish(w http.ResponseWriter, r *http.Request, p pending) error {
	query := r.URL.Query()
	if !equal(query.Get("state"), p.State) {
		return fmt.Errorf("%w: the answer belongs to another one", errRefused)
	}
	if reason := query.Get("error"); reason != "" {
		return fmt.Errorf("%w: the issuer says %q", errRefused, reason)
	}
	who, err := s.issuer.identify(r.Context(), query.Get("code"), p)
	if err != nil {
		return err
	}
	secret, user, err := s.accounts.SignIn(r.Context(), who, respond.OriginOf(r.Context()).RemoteAddress)
	if err != nil {
		return err
	}
	if err := s.end(r); err != nil {
		return err
	}
	put(w, Cookie, secret, int(cookieFor/time.Second))
	s.log.Info("signed in", "request", respond.OriginOf(r.Context()).RequestID, "user", user.ID)
	back := p.Back
	if back == "" {
		back = paths.Start()
	}
	return respond.Leave(w, r, back)
}

// Logout ends the session and leads to the sign-in page.
func (s *Sessions) Logout(w http.ResponseWriter, r *http.Request) error {
	if err := s.end(r); err != nil {
		return err
	}
	drop(w, Cookie)
	return respond.Leave(w, r, paths.SignInAfter(paths.SignInSignedOut, ""))
}

// end voids the session that the browser has, if any.
func (s *Sessions) end(r *http.Request) error {
	cookie, err := r.Cookie(Cookie)
	if err != nil || cookie.Value == "" {
		return nil
	}
	return s.accounts.SignOut(r.Context(), cookie.Value)
}
