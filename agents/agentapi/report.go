package agentapi

import "time"

// Report is what a cluster holds, as its agent sees it.
type Report struct {
	AgentVersion string `json:"agentVersion"`
	// KubernetesVersion is the version of the API server such as "v1.37.2", empty while the
	// agent cannot reach it.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// AppliedETag is the ETag of the configuration that Objects speaks about, empty before the
	// first one was applied. The objects may still hold failures.
	AppliedETag string `json:"appliedETag,omitempty"`
	// AppliedAt is when Objects was last found out, zero before the first time.
	AppliedAt time.Time      `json:"appliedAt,omitzero"`
	Objects   []ObjectResult `json:"objects,omitempty"`
	// Totals and Nodes are absent (nil) while the agent cannot read the cluster.
	Totals *Totals `json:"totals,omitempty"`
	Nodes  []Node  `json:"nodes,omitempty"`
	// Warnings need a person's attention and belong to no single object, for example that the
	// cluster's API server does not answer.
	Warnings []string `json:"warnings,omitempty"`
}

// Configured says whether every object is as the configuration with the given ETag wants it.
func (r Report) Configured(etag string) bool {
	if r.AppliedETag != etag {
		return false
	}
	for _, o := range r.Objects {
		if o.State == ObjectFailed {
			return false
		}
	}
	return true
}

// ObjectState is the outcome of applying one object.
type ObjectState string

const (
	// ObjectApplied is an object of a controlled group that is as written.
	ObjectApplied ObjectState = "applied"
	// ObjectPresent is an object of an uncontrolled group: it was created or found and is not
	// compared any more.
	ObjectPresent ObjectState = "present"
	// ObjectFailed is an object that could not be read, applied or deleted; Error says why.
	ObjectFailed ObjectState = "failed"
	// ObjectOrphan left an uncontrolled group and was kept with OrphanLabel.
	ObjectOrphan ObjectState = "orphan"
)

// ObjectResult is the outcome for one object. For manifests that cannot be read as objects only
// ResourceGroup, State and Error are set.
type ObjectResult struct {
	ResourceGroup string `json:"resourceGroup"`
	// Group is the API group, empty for the core group.
	Group     string      `json:"group,omitempty"`
	Version   string      `json:"version,omitempty"`
	Kind      string      `json:"kind,omitempty"`
	Namespace string      `json:"namespace,omitempty"`
	Name      string      `json:"name,omitempty"`
	State     ObjectState `json:"state"`
	Error     string      `json:"error,omitempty"`
}

// Totals are sums over the cluster. GiB is 2^30 bytes.
type Totals struct {
	// CPUCores, MemoryGiB and RootDiskGiB sum the capacity of all nodes.
	CPUCores    float64 `json:"cpuCores"`
	MemoryGiB   float64 `json:"memoryGiB"`
	RootDiskGiB float64 `json:"rootDiskGiB"`
	// PVCGiB sums what bound PersistentVolumeClaims hold.
	PVCGiB float64 `json:"pvcGiB"`
	Nodes  int     `json:"nodes"`
}

// Node is one node of the cluster.
type Node struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
	// NodeGroup is the value of label node.deckhouse.io/group, empty without one.
	NodeGroup string `json:"nodeGroup,omitempty"`
	// Roles come from labels node-role.kubernetes.io/<role>, sorted.
	Roles []string `json:"roles,omitempty"`
	// Version is the kubelet's, such as "v1.37.2".
	Version   string    `json:"version,omitempty"`
	CPUCores  float64   `json:"cpuCores"`
	MemoryGiB float64   `json:"memoryGiB"`
	CreatedAt time.Time `json:"createdAt"`
}
