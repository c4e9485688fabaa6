package commander

import (
	"github.com/prometheus/client_golang/prometheus"

	"commander/agents/agentapi"
)

// metrics are what Prometheus may ask an agent.
type metrics struct {
	objects  *prometheus.GaugeVec
	applied  prometheus.Gauge
	reported prometheus.Gauge
	tunnel   prometheus.Gauge
	failures *prometheus.CounterVec
}

func newMetrics(registry *prometheus.Registry) *metrics {
	m := &metrics{
		objects: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "commander_agent_objects", Help: "Objects of the configuration by the state of the last sync.",
		}, []string{"state"}),
		applied: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "commander_agent_last_sync_timestamp_seconds", Help: "When the cluster was last compared with the configuration.",
		}),
		reported: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "commander_agent_last_report_timestamp_seconds", Help: "When Commander last took a report.",
		}),
		tunnel: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "commander_agent_tunnel_open", Help: "1 while the tunnel to Commander is open.",
		}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "commander_agent_failures_total", Help: "Failed tries by what was tried: configuration, report, tunnel or sync.",
		}, []string{"what"}),
	}
	if registry != nil {
		registry.MustRegister(m.objects, m.applied, m.reported, m.tunnel, m.failures)
	}
	return m
}

func (m *metrics) synced(objects []agentapi.ObjectResult) {
	m.applied.SetToCurrentTime()
	for _, state := range []agentapi.ObjectState{
		agentapi.ObjectApplied, agentapi.ObjectPresent, agentapi.ObjectFailed, agentapi.ObjectOrphan,
	} {
		m.objects.WithLabelValues(string(state)).Set(float64(count(objects, state)))
	}
}
