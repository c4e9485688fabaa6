// Package api is what the parts of a node and the cluster agree on: names, and the kinds of the
// group deckhouse.io in a package for each version. The definitions in crds/ are made from the Go
// types, so that types and schemas cannot drift apart.
package api

//go:generate sh generate.sh

// Namespace is where all that belongs to nodes lives.
const Namespace = "d8-cloud-instance-manager"

// Labels and annotations of Nodes.
const (
	LabelGroup = "node.deckhouse.io/group" // the node's NodeGroup
	LabelType  = "node.deckhouse.io/type"  // the nodeType of its group

	// LabelTokenGroup is on the Secret of a bootstrap token: the group that its machines join.
	LabelTokenGroup = "node-manager.deckhouse.io/node-group"

	// AnnotationChecksum is the checksum of the configuration that the node has applied.
	AnnotationChecksum = "node.deckhouse.io/configuration-checksum"
	// AnnotationLastTemplate holds the node template as it was last applied, for the next merge.
	AnnotationLastTemplate = "node.deckhouse.io/last-applied-node-template"

	LabelFirstRunFinished       = "node.deckhouse.io/bashible-first-run-finished"
	TaintUninitialized          = "node.deckhouse.io/bashible-uninitialized"
	LabelContainerdV2No         = "node.deckhouse.io/containerd-v2-unsupported"
	LabelContainerdCustom       = "node.deckhouse.io/containerd-config"
	AnnotationScaleDownDisabled = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
	TaintScaleDown              = "ToBeDeletedByClusterAutoscaler"
)

// UpdatePrefix begins every annotation by which a node and the cluster talk about updates. Those
// without a stated value are present or absent; their value means nothing.
const UpdatePrefix = "update.node.deckhouse.io/"

// The annotations of the update protocol.
const (
	UpdateWaiting            = UpdatePrefix + "waiting-for-approval" // the node wants to change itself
	UpdateApproved           = UpdatePrefix + "approved"             // it may
	UpdateDisruptionRequired = UpdatePrefix + "disruption-required"  // the change needs a restart
	UpdateDisruptionApproved = UpdatePrefix + "disruption-approved"  // the restart may happen
	UpdateRolling            = UpdatePrefix + "rolling-update"       // replace the node instead
	UpdateDraining           = UpdatePrefix + "draining"             // value: who asked
	UpdateDrained            = UpdatePrefix + "drained"              // value: who had asked
	UpdateDrainFailed        = UpdatePrefix + "drain-failed"         // value: why, at most 1 KiB
	UpdateReboot             = UpdatePrefix + "reboot"               // forces a full run
)

// Who asks for a drain: the update of the node, or a person. Empty means the update.
const (
	DrainByBashible = "bashible"
	DrainByUser     = "user"
)

// Labels and annotations of fencing.
const (
	LabelFencingEnabled      = "node-manager.deckhouse.io/fencing-enabled" // the agent watches this node
	LabelFencingMode         = "node-manager.deckhouse.io/fencing-mode"
	AnnotationFencingDisable = "node-manager.deckhouse.io/fencing-disable"
	// AnnotationFencingTimeout is the timeout of the watchdog that is armed, as a duration of Go.
	AnnotationFencingTimeout = "node-manager.deckhouse.io/fencing-timeout"
	// AnnotationFencingTotal is how many nodes the agent knows its group to have at least: it trusts
	// no quorum of fewer.
	AnnotationFencingTotal = "node-manager.deckhouse.io/fencing-total"
	// FencingLeasePrefix and a node's name are the name of a Lease in Namespace. The agent renews it
	// while it can tell which nodes of its group are lost; without a time it cannot.
	FencingLeasePrefix = "fencing-agent."
)

// Maintenance lists the annotations of which any one, whatever its value, means that a node is
// being worked on and must not be fenced.
var Maintenance = []string{UpdateDisruptionApproved, UpdateApproved, AnnotationFencingDisable}

// InMaintenance says whether a node with these annotations is being worked on.
func InMaintenance(annotations map[string]string) bool {
	for _, key := range Maintenance {
		if _, ok := annotations[key]; ok {
			return true
		}
	}
	return false
}

// ChecksumsSecret holds the checksum of each group's configuration, by the group's name.
const ChecksumsSecret = "configuration-checksums"
