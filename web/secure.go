package web

import (
	"fmt"
	"net/http"
	"net/url"

	"commander/internal/fault"
	"commander/web/respond"
)

// policy is the Content-Security-Policy of every page: nothing from elsewhere, nothing inline,
// nobody may frame us.
const policy = "default-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; object-src 'none'"

// secured sets what tells browsers to be strict.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// sameOrigin refuses what another site makes a browser send: with the Lax cookie, all that there
// is of protection against forged requests. It needs no tokens in forms.
func sameOrigin(publicURL string, edge *respond.Edge, next http.Handler) (http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	if publicURL != "" {
		u, err := url.Parse(publicURL)
		if err != nil {
			return nil, fmt.Errorf("read the public address: %w", err)
		}
		// Behind a proxy that changes the Host, the browser's own origin is this one.
		if err := protection.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
			return nil, fmt.Errorf("trust the public address: %w", err)
		}
	}
	protection.SetDenyHandler(edge.Page(func(http.ResponseWriter, *http.Request) error {
		return fault.New(fault.Forbidden, "fault.other_site")
	}))
	return protection.Handler(next), nil
}
