package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"commander/agents/lab"
)

// problem makes an error for whoever asked.
func problem(code lab.Code, format string, args ...any) error {
	return &lab.Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// statuses of answers that are not streamed.
var statuses = map[lab.Code]int{
	lab.Invalid: http.StatusBadRequest, lab.NotFound: http.StatusNotFound,
	lab.Conflict: http.StatusConflict, lab.Internal: http.StatusInternalServerError,
}

// maxBody bounds a request, in bytes; hundreds of nodes with labels fit.
const maxBody = 4 << 20

// routes is the whole API: what changes something streams lines, what looks answers at once.
func (d *Daemon) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", answer(func(*http.Request) (any, error) { return struct{}{}, nil }))
	mux.HandleFunc("GET /clusters", answer(func(*http.Request) (any, error) { return d.list(), nil }))
	mux.HandleFunc("GET /clusters/{id}", answer(func(r *http.Request) (any, error) {
		return d.state(r.Context(), r.PathValue("id"))
	}))
	mux.HandleFunc("GET /clusters/{id}/kubeconfig", answer(func(r *http.Request) (any, error) {
		return d.kubeconfig(r.Context(), r.PathValue("id"))
	}))
	mux.HandleFunc("PUT /clusters/{id}/control-plane", stream(d, d.ensureControlPlane))
	mux.HandleFunc("PUT /clusters/{id}/nodes", stream(d, d.ensureNodes))
	mux.HandleFunc("PUT /clusters/{id}/agent", stream(d, d.ensureAgent))
	mux.HandleFunc("DELETE /clusters/{id}/agent", stream(d, func(ctx context.Context, id string, _ struct{}, _ func(string)) error {
		return d.stopAgent(ctx, id)
	}))
	mux.HandleFunc("PUT /guests/{id}/agent", stream(d, d.ensureGuestAgent))
	mux.HandleFunc("DELETE /guests/{id}/agent", stream(d, func(ctx context.Context, id string, _ struct{}, _ func(string)) error {
		return d.stopGuestAgent(ctx, id)
	}))
	mux.HandleFunc("DELETE /clusters/{id}", stream(d, func(ctx context.Context, id string, _ struct{}, say func(string)) error {
		return d.deleteCluster(ctx, id, say)
	}))
	return mux
}

func (d *Daemon) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	ids := slices.Sorted(maps.Keys(d.clusters))
	if ids == nil {
		ids = []string{}
	}
	return ids
}

func (d *Daemon) kubeconfig(ctx context.Context, id string) ([]byte, error) {
	c, err := d.running(ctx, id)
	if err != nil {
		return nil, err
	}
	defer c.giveBack()
	return c.plane.AdminKubeconfig()
}

// answer answers with one JSON document.
func answer(look func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		found, err := look(r)
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			p := asProblem(err)
			w.WriteHeader(statuses[p.Code])
			found = p
		}
		_ = json.NewEncoder(w).Encode(found) // a client that went away needs no answer
	}
}

// stream answers with lines while an operation works; the last one tells how it ended.
func stream[T any](d *Daemon, work func(ctx context.Context, id string, want T, say func(string)) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		id := r.PathValue("id")
		lines := make(chan lab.Line)
		ended := make(chan struct{})
		go func() { // the only writer; ends when the work has
			defer close(ended)
			for line := range lines {
				line.Time = time.Now()
				if json.NewEncoder(w).Encode(line) == nil {
					_ = http.NewResponseController(w).Flush()
				}
			}
		}()
		say := func(line string) { lines <- lab.Line{Message: line} }
		err := func() error {
			var want T
			if r.Method == http.MethodPut {
				if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&want); err != nil {
					return problem(lab.Invalid, "read request: %v", err)
				}
			}
			if err := uuid.Validate(id); err != nil || len(id) != 36 {
				return problem(lab.Invalid, "%q is no id of a cluster", id)
			}
			return work(r.Context(), id, want, say)
		}()
		last := lab.Line{Done: err == nil}
		if err != nil {
			last.Problem = asProblem(err)
			if last.Problem.Code == lab.Internal && r.Context().Err() == nil {
				d.Log.Error("operation failed", "cluster", id, "request", r.Method+" "+r.URL.Path, "error", err)
			}
		}
		lines <- last
		close(lines)
		<-ended
	}
}

func asProblem(err error) *lab.Problem {
	var p *lab.Problem
	if errors.As(err, &p) {
		return p
	}
	return &lab.Problem{Code: lab.Internal, Message: err.Error()}
}
