package agentapi

import (
	"strings"
	"time"
)

// Paths below the base address of a cluster.
const (
	PathConfig = "/config"
	PathReport = "/report"
	PathTunnel = "/tunnel"
)

const (
	// WaitParameter is the query parameter of PathConfig that holds the patience in whole seconds.
	WaitParameter = "wait"
	// TunnelProtocol is the WebSocket subprotocol of PathTunnel.
	TunnelProtocol = "commander.tunnel.v1"
	// TargetAPIServer is the name of the stream target behind which the agent serves the
	// cluster's own kube-apiserver as plain HTTP/1.1, with its own credentials. Authorization
	// headers that arrive there are dropped; Impersonate-* headers pass.
	TargetAPIServer = "api-server"
	// OrphanLabel marks objects of uncontrolled groups that left the configuration.
	OrphanLabel = "agent.commander.deckhouse.io/is-orphan"
	// CloseReplaced is the WebSocket close code for a tunnel that a newer one replaced.
	CloseReplaced = 4000
)

const (
	// MaxWait bounds one long poll. Load balancers commonly cut a silent request after 60 s.
	MaxWait = 50 * time.Second
	// MaxConfigBytes bounds a configuration, MaxReportBytes a report, both as JSON.
	MaxConfigBytes = 32 << 20
	MaxReportBytes = 16 << 20
	// DefaultReportInterval is used when a Config names none, and before the first Config.
	DefaultReportInterval = 5 * time.Second
)

// QuoteETag spells an ETag as the HTTP headers ETag and If-None-Match want it.
func QuoteETag(etag string) string {
	if etag == "" {
		return ""
	}
	return `"` + etag + `"`
}

// UnquoteETag reads the value of an ETag or If-None-Match header with a single entry. The result
// of an absent header is empty.
func UnquoteETag(header string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(header), "W/"), `"`)
}
