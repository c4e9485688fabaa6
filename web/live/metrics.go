package live

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	pages   prometheus.Gauge
	renders prometheus.Counter
	drops   *prometheus.CounterVec
}

// Why a page was closed by us, as the metric of drops says it.
const (
	dropSlow     = "slow"
	dropSilent   = "silent"
	dropError    = "error"
	dropOverload = "overload"
	dropSignOut  = "sign_out"
)

func newMetrics(r prometheus.Registerer) metrics {
	m := metrics{
		pages:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "commander_live_pages", Help: "Open pages that are kept current."}),
		renders: prometheus.NewCounter(prometheus.CounterOpts{Name: "commander_live_renders_total", Help: "Topics rendered for a page."}),
		drops: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "commander_live_drops_total", Help: "Pages that the server closed, by reason.",
		}, []string{"reason"}),
	}
	if r != nil {
		r.MustRegister(m.pages, m.renders, m.drops)
	}
	return m
}
