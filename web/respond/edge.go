package respond

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/go-chi/chi/v5/middleware"

	"commander/internal/fault"
	"commander/views/i18n"
	"commander/views/layout"
)

// statuses give each kind of fault its HTTP status.
var statuses = map[fault.Kind]int{
	fault.Invalid:         http.StatusUnprocessableEntity,
	fault.NotFound:        http.StatusNotFound,
	fault.Conflict:        http.StatusConflict,
	fault.Forbidden:       http.StatusForbidden,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Internal:        http.StatusInternalServerError,
}

// Status is the HTTP status of an error.
func Status(err error) int {
	if status, known := statuses[fault.KindOf(err)]; known {
		return status
	}
	return http.StatusInternalServerError
}

// Edge is where errors of handlers end: each is logged once and told in the words of the catalog,
// never in its own.
type Edge struct {
	Log *slog.Logger
	// Frame is what an error page is drawn in for a request.
	Frame func(r *http.Request) layout.Frame
}

// Page makes a handler of a function that may fail. A page is answered with an error page, a
// fragment and whatever changes something with a notice above the page, which stays as it is.
func (e *Edge) Page(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The wrapper knows whether an answer has begun.
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		if err := e.run(handle, answer, r); err != nil {
			e.log(r, err)
			if answer.Status() != 0 {
				panic(http.ErrAbortHandler) // half an answer must not look like a whole one
			}
			e.tell(answer, r, err)
		}
	})
}

// run turns a panic into an error with its stack.
func (e *Edge) run(handle func(http.ResponseWriter, *http.Request) error, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		switch cause := recover(); {
		case cause == nil:
		case cause == http.ErrAbortHandler: //nolint:errorlint // net/http compares it in the same way
			panic(cause)
		default:
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return handle(w, r)
}

func (e *Edge) log(r *http.Request, err error) {
	level := slog.LevelInfo
	switch fault.KindOf(err) {
	case fault.Internal:
		level = slog.LevelError
	case fault.Unavailable:
		level = slog.LevelWarn
	}
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		level = slog.LevelDebug // the browser went away
	}
	e.Log.Log(r.Context(), level, "request failed", "request", OriginOf(r.Context()).RequestID,
		"method", r.Method, "path", r.URL.Path, "status", Status(err), "error", err)
}

// tell answers with what went wrong, also when that is that the time for the answer is over.
func (e *Edge) tell(w http.ResponseWriter, r *http.Request, err error) {
	r = r.WithContext(context.WithoutCancel(r.Context()))
	failure := layout.Failure{
		Status: Status(err), Kind: string(fault.KindOf(err)), Message: Message(err),
		RequestID: OriginOf(r.Context()).RequestID,
	}
	if page := PageOf(r); page != r.URL.RequestURI() {
		failure.Back = page
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if IsHTMX(r) && (WantsFragment(r) || !safe(r)) {
		w.Header().Set("HX-Reswap", "none")
		notice := layout.FailureNotice(failure)
		if HTML(w, r, failure.Status, notice, notice) == nil {
			return
		}
	}
	frame := e.Frame(r)
	frame.Title = i18n.M("failure." + failure.Kind + ".title")
	page := layout.Bare(frame, layout.FailureBody(failure))
	if broken := HTML(w, r, failure.Status, page, page); broken != nil {
		http.Error(w, http.StatusText(failure.Status), failure.Status)
	}
}

// Message is what people are told of an error.
func Message(err error) i18n.Message {
	var known *fault.Error
	if !errors.As(err, &known) || !i18n.Has(known.Key) {
		return i18n.M("fault." + string(fault.KindOf(err)))
	}
	return i18n.Message{Key: known.Key, Args: known.Args}
}

// Sentence is a message of the rules whose arguments may be messages as well.
func Sentence(m fault.Message) i18n.Message {
	out := i18n.Message{Key: m.Key, Args: slices.Clone(m.Args)}
	for i, arg := range out.Args {
		if inner, is := arg.(fault.Message); is {
			out.Args[i] = Sentence(inner)
		}
	}
	return out
}
