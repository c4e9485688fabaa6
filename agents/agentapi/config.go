package agentapi

import "time"

// Config is what Commander wants a cluster to hold.
type Config struct {
	// ETag names this exact content, unquoted. Equal content may be sent under the same ETag
	// only; the agent treats it as opaque.
	ETag string `json:"etag"`
	// Revision is the revision of the cluster in Commander, for people and logs.
	Revision int64 `json:"revision"`
	// ResourceGroups are applied in order; within and across groups Namespaces and
	// CustomResourceDefinitions come first.
	ResourceGroups []ResourceGroup `json:"resourceGroups"`
	// ReportIntervalSeconds is the pause between two reports; zero means DefaultReportInterval.
	ReportIntervalSeconds int `json:"reportIntervalSeconds,omitempty"`
	// Flags are abilities of Commander ("1" on, "0" off). The agent publishes them in the cluster
	// as ConfigMap d8-commander-agent/commander-info, where hooks of the platform read them.
	Flags map[string]string `json:"flags,omitempty"`
}

// ReportInterval is the pause between two reports.
func (c Config) ReportInterval() time.Duration {
	if c.ReportIntervalSeconds <= 0 {
		return DefaultReportInterval
	}
	return time.Duration(c.ReportIntervalSeconds) * time.Second
}

// ResourceGroup is a named set of Kubernetes objects that share a policy.
type ResourceGroup struct {
	// Name is unique within a Config and is a valid Kubernetes label value.
	Name string `json:"name"`
	// Controlled groups are kept as written: deleted objects are created again, edited ones
	// reverted, and objects that left the configuration deleted. Objects of other groups are
	// created once and then left alone.
	Controlled bool `json:"controlled"`
	// Manifests is a stream of YAML documents, each one object or a List.
	Manifests string `json:"manifests"`
}
