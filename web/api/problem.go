package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"commander/internal/fault"
	"commander/views/i18n"
)

// problem is the body of every answer that is no success.
type problem struct {
	// Error is a word for programs.
	Error string `json:"error"`
	// Message is for people, in the language that the request accepts.
	Message string `json:"message"`
	// Details say what is wrong with single attributes.
	Details map[string]string `json:"details,omitempty"`
}

var codes = map[fault.Kind]int{
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.Forbidden:       http.StatusForbidden,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Internal:        http.StatusInternalServerError,
}

// badRequest is an error in the form of a request, before its meaning.
type badRequest struct {
	code int
	problem
}

func (b *badRequest) Error() string { return b.Message }

func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	var malformed *badRequest
	if errors.As(err, &malformed) {
		send(w, malformed.code, malformed.problem)
		return
	}
	kind := fault.KindOf(err)
	found := fault.New(fault.Internal, "fault.internal")
	if kind != fault.Internal {
		_ = errors.As(err, &found)
	} else if r.Context().Err() == nil {
		a.log.Error("serve the API", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	out := problem{Error: string(kind), Message: i18n.T(r.Context(), found.Key, found.Args...)}
	switch kind {
	case fault.Conflict: // programs tell conflicts apart: stale_revision, locked, …
		out.Error = found.Key[strings.LastIndexByte(found.Key, '.')+1:]
	case fault.Unauthenticated:
		w.Header().Set("WWW-Authenticate", `Token header="`+TokenHeader+`"`)
	case fault.Unavailable:
		w.Header().Set("Retry-After", "5")
	}
	for field, message := range found.Fields {
		if out.Details == nil {
			out.Details = map[string]string{}
		}
		out.Details[field] = i18n.T(r.Context(), message.Key, message.Args...)
	}
	send(w, codes[kind], out)
}

func send(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// A program that has gone cannot be told.
	_ = json.NewEncoder(w).Encode(body)
}
