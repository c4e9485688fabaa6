package lab

import "time"

// ControlPlane says what control plane a cluster is to have. Subnets and domain are fixed when it
// is made; a newer version upgrades it in place.
type ControlPlane struct {
	KubernetesVersion string `json:"kubernetesVersion"` // minor, like 1.37
	PodSubnet         string `json:"podSubnet"`
	ServiceSubnet     string `json:"serviceSubnet"`
	Domain            string `json:"domain"`
}

// Nodes says what nodes a cluster is to have. Those that are missing are made, those that differ
// are changed, and only those that Remove names are drained and deleted.
type Nodes struct {
	Nodes  []Node   `json:"nodes"`
	Remove []string `json:"remove,omitempty"`
}

// Node is one node, wanted or observed.
type Node struct {
	Name   string            `json:"name"`
	Group  string            `json:"group"`
	Class  InstanceClass     `json:"class"`
	Labels map[string]string `json:"labels,omitempty"` // those that its group gives it
	Taints []Taint           `json:"taints,omitempty"` // those that its group gives it
	// KubernetesVersion of its kubelet: a minor version, like 1.37.
	KubernetesVersion string `json:"kubernetesVersion"`
	Ready             bool   `json:"ready,omitempty"` // only observed
}

// Master tells whether the node belongs to the control plane.
func (n Node) Master() bool { return n.Group == masterGroup }

// Agent says how the cluster's commander-agent reaches Commander.
type Agent struct {
	CommanderURL string `json:"commanderURL"`
	Token        string `json:"token"`
	CABundle     string `json:"caBundle"` // PEM; empty for the certificates that the machine trusts
}

// Guest is a cluster of somebody else's that the lab runs an agent for.
type Guest struct {
	Agent
	Kubeconfig []byte `json:"kubeconfig"` // an administrator's
}

// State is what there is of a cluster.
type State struct {
	Exists bool `json:"exists"` // false when there is nothing, not even a leftover
	// Ready says that the API server answers and all processes of the control plane run.
	Ready        bool         `json:"ready"`
	ControlPlane ControlPlane `json:"controlPlane"` // as it is now, also in the middle of an upgrade
	Deleting     bool         `json:"deleting,omitempty"`
	Processes    []Process    `json:"processes,omitempty"`
	Nodes        []Node       `json:"nodes,omitempty"` // only if Ready
	Agent        bool         `json:"agent"`           // whether an agent is to run
}

// Process is a process of a cluster.
type Process struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"` // 0 while it is not running
	Restarts int    `json:"restarts"`
}

// Line is one line of an answer that is streamed. The last one has Done or Problem.
type Line struct {
	Time    time.Time `json:"time"`
	Message string    `json:"message,omitempty"`
	Done    bool      `json:"done,omitempty"`
	Problem *Problem  `json:"problem,omitempty"`
}

// Problem is an error on the wire.
type Problem struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Message }

// Code says what an error means for whoever asked.
type Code string

// The codes.
const (
	Invalid  Code = "invalid"   // the request can be mended by the asker
	NotFound Code = "not_found" // there is no such cluster
	Conflict Code = "conflict"  // the state of the cluster forbids it
	Internal Code = "internal"  // something went wrong
)

// Is makes errors.Is find problems of a code: errors.Is(err, &Problem{Code: NotFound}).
func (p *Problem) Is(target error) bool {
	other, ok := target.(*Problem)
	return ok && other.Message == "" && other.Code == p.Code
}
