package web

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5/middleware"
	"github.com/prometheus/client_golang/prometheus"

	"commander/web/respond"
)

// metrics are what is counted of requests.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "commander_web_requests_total", Help: "Requests by part of the server, route and HTTP status.",
		}, []string{"part", "method", "route", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "commander_web_request_seconds", Help: "How long answers took. Long polls and WebSockets last as long as their clients want.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"part", "route"}),
	}
	if registry != nil {
		registry.MustRegister(m.requests, m.seconds)
	}
	return m
}

// watched counts and logs the requests of a part. route names what was asked for with few
// different words, after the answer; the address itself is logged without its query, which may
// hold secrets.
func (m *metrics) watched(part string, log *slog.Logger, route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		answer := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		defer func() {
			took := time.Since(start)
			code := answer.Status()
			if code == 0 {
				code = http.StatusOK // nothing was written, or the connection was taken over
			}
			m.requests.WithLabelValues(part, methodOf(r), route(r), strconv.Itoa(code)).Inc()
			m.seconds.WithLabelValues(part, route(r)).Observe(took.Seconds())
			origin := respond.OriginOf(r.Context())
			log.Info("request", "request", origin.RequestID, "remote", origin.RemoteAddress, "part", part,
				"method", r.Method, "path", r.URL.Path, "code", code, "bytes", answer.BytesWritten(), "seconds", took.Seconds())
		}()
		next.ServeHTTP(answer, r)
	})
}

// methodOf keeps what clients invent out of the metrics.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		return r.Method
	}
	return "other"
}
