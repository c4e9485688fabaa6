// Package telemetry is how a program is watched: a JSON log, a registry of metrics and a server
// that says whether the program lives, whether it is ready, and how it is doing.
package telemetry

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Logger writes one JSON object a line, from a level on: debug, info, warn or error.
func Logger(w io.Writer, level, program string) (*slog.Logger, error) {
	var lowest slog.Level
	if err := lowest.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("read log level: %w", err)
	}
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: lowest})).With("program", program), nil
}

// Registry is a registry that already holds the metrics of the process and of Go's runtime.
func Registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return r
}
