package earlyoom

import "github.com/prometheus/client_golang/prometheus"

// Metrics are what Prometheus learns of a node.
type Metrics struct {
	unavailable prometheus.Gauge
	pressure    prometheus.Gauge
	verdicts    *prometheus.CounterVec
	killSeconds prometheus.Histogram
}

// NewMetrics makes them known to a registry.
func NewMetrics(r prometheus.Registerer) *Metrics {
	m := &Metrics{
		unavailable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "early_oom_psi_unavailable", Help: "1 if the kernel does not measure pressure, so that nothing is watched.",
		}),
		pressure: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "early_oom_memory_pressure_percent", Help: "Share of the last ten seconds in which all tasks of the node waited for memory.",
		}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "early_oom_verdicts_total", Help: "Samples by what they meant: calm, contained, cooling, helpless, act.",
		}, []string{"verdict"}),
		killSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "early_oom_kill_seconds", Help: "From the sample that found the node short of memory until the victim's processes were gone.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}),
	}
	for _, v := range []Verdict{Calm, Contained, Cooling, Helpless, Act} {
		m.verdicts.WithLabelValues(string(v))
	}
	r.MustRegister(m.unavailable, m.pressure, m.verdicts, m.killSeconds)
	return m
}
