package web

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"commander/views/i18n"
	"commander/web/respond"
)

// origin notes where each request comes from and the language its browser asks for, and gives it
// a name that the log and failures share.
func origin(proxies []netip.Prefix, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.ToLower(rand.Text())[:16]
		w.Header().Set("X-Request-Id", id)
		ctx := respond.WithOrigin(r.Context(), respond.Origin{RequestID: id, RemoteAddress: remote(r, proxies)})
		ctx = i18n.With(ctx, i18n.Negotiate("", r.Header.Get("Accept-Language")))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// remote is the address of whoever asks. What a request says of itself counts only as far as
// trusted proxies have passed it on: the last address in X-Forwarded-For that is none of them.
func remote(r *http.Request, proxies []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr // a unix socket has no port
	}
	if !trusted(host, proxies) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop := strings.TrimSpace(hops[i])
		if _, err := netip.ParseAddr(hop); err != nil {
			return host // whoever wrote this is no proxy of ours
		}
		if host = hop; !trusted(hop, proxies) {
			return host
		}
	}
	return host
}

func trusted(host string, proxies []netip.Prefix) bool {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, p := range proxies {
		if p.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}

// bounds limit a request whose answer is soon made: the size of its body unless that is 0, and how long reading it,
// making the answer and writing it may take. What is not made in time is answered as a database
// that is away: one that is frozen takes questions and never answers.
type bounds struct {
	body                int64
	read, answer, write time.Duration
}

// bounded holds requests to their bounds.
func bounded(b bounds, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setDeadlines(w, time.Now().Add(b.read), time.Now().Add(b.write))
		if b.body > 0 {
			r.Body = http.MaxBytesReader(w, r.Body, b.body)
		}
		ctx, cancel := context.WithTimeout(r.Context(), b.answer)
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// unbounded is for requests that live as long as their client wants: long polls, watches and
// WebSockets. It lifts what an earlier request has left on the connection.
func unbounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setDeadlines(w, time.Time{}, time.Time{})
		next.ServeHTTP(w, r)
	})
}

func setDeadlines(w http.ResponseWriter, read, write time.Time) {
	connection := http.NewResponseController(w)
	// A writer without deadlines is one of a test, and has no connection to hold up.
	_ = connection.SetReadDeadline(read)
	_ = connection.SetWriteDeadline(write)
}
