package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkBound is how long one check may take; probes give up after about a second more.
const checkBound = 2 * time.Second

// Check asks something that the program depends on; nil means that it is well.
type Check func(context.Context) error

// Health answers probes: /healthz as soon as the program serves, /readyz when all checks pass,
// /metrics for Prometheus. Checks may be added while it serves.
type Health struct {
	registry *prometheus.Registry
	mu       sync.Mutex // protects checks
	checks   []named
}

type named struct {
	name  string
	check Check
}

// NewHealth makes the answers to probes; the registry may be nil, then there are no metrics.
func NewHealth(registry *prometheus.Registry) *Health { return &Health{registry: registry} }

// Add makes readiness depend on one more check.
func (h *Health) Add(name string, check Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks = append(h.checks, named{name, check})
}

// Handler serves the three addresses.
func (h *Health) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", h.ready)
	if h.registry != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(h.registry, promhttp.HandlerOpts{Registry: h.registry}))
	}
	return mux
}

// ready runs all checks side by side and writes a line for each; 503 if one does not pass.
func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	checks := h.checks[:len(h.checks):len(h.checks)]
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), checkBound)
	defer cancel()
	problems := make([]error, len(checks))
	var all sync.WaitGroup
	for i, c := range checks {
		all.Go(func() { problems[i] = c.check(ctx) })
	}
	all.Wait()
	status, lines := http.StatusOK, new(strings.Builder)
	for i, c := range checks {
		if problems[i] != nil {
			status = http.StatusServiceUnavailable
			fmt.Fprintf(lines, "[-] %s: %v\n", c.name, problems[i])
			continue
		}
		fmt.Fprintf(lines, "[+] %s\n", c.name)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprint(w, lines)
}
