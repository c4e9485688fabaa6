// Package commander is commander-agent, the one process of Commander inside a managed cluster.
// It only dials out. It pulls what the cluster should hold and applies it, reports what the
// cluster holds, keeps a tunnel to the API server open, and publishes Commander's abilities for
// the hooks of the platform.
//
// Each of these is a loop of its own with a small step function: pull.go, sync.go, report.go,
// tunnel.go, publish.go. They share only the state in state.go. What must survive a restart lies in the
// cluster, in namespace d8-commander-agent: the last configuration (Secret last-configuration)
// and the list of objects the agent made (ConfigMap inventory).
package commander

const (
	// DefaultNamespace is where the agent lives and keeps its own objects.
	DefaultNamespace = "d8-commander-agent"
	// fieldManager names the agent in server-side apply.
	fieldManager = "commander-agent"

	// heritageLabel and groupLabel mark what the agent made. Without both it deletes nothing.
	heritageLabel = "heritage"
	heritage      = "deckhouse-commander"
	groupLabel    = "agent.commander.deckhouse.io/resource-group"
)
