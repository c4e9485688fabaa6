package api

import (
	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
)

// resourceResult is how keeping one Kubernetes object went.
type resourceResult struct {
	ResourceGroup string   `json:"resource_group"`
	Group         string   `json:"group"`
	Version       string   `json:"version"`
	Kind          string   `json:"kind"`
	Namespace     string   `json:"namespace"`
	Name          string   `json:"name"`
	State         string   `json:"state"`
	Errors        []string `json:"errors"`
}

// agentData is what the agent tells of a cluster, by its source.
type agentData struct {
	ID            uuid.UUID `json:"id"`
	ClusterID     uuid.UUID `json:"cluster_id"`
	Source        string    `json:"source"`
	Data          overview  `json:"data"`
	CreatedAt     moment    `json:"created_at"`
	UpdatedAt     moment    `json:"updated_at"`
	ArchivedAt    *moment   `json:"archived_at"`
	ArchiveNumber *int      `json:"archive_number"`
}

// sourceOverview is the only source so far.
const sourceOverview = "overview"

type overview struct {
	AgentVersion      string `json:"agent_version"`
	KubernetesVersion string `json:"kubernetes_version"`
	Totals            totals `json:"totals"`
	Nodes             []node `json:"nodes"`
}

// totals are sums over the cluster; a GiB is 2^30 bytes.
type totals struct {
	CPUCores    float64 `json:"cpu_cores"`
	MemoryGiB   float64 `json:"memory_gib"`
	RootDiskGiB float64 `json:"root_disk_gib"`
	PVCGiB      float64 `json:"pvc_gib"`
	Nodes       int     `json:"nodes"`
}

type node struct {
	Name      string  `json:"name"`
	Group     string  `json:"group"`
	Ready     bool    `json:"ready"`
	Version   string  `json:"version"`
	CPUCores  float64 `json:"cpu_cores"`
	MemoryGiB float64 `json:"memory_gib"`
	CreatedAt moment  `json:"created_at"`
}

// addReport tells what the agent said last.
func (c *cluster) addReport(view fleet.ClusterView) {
	r := view.Report
	c.ResourcesCheckedAt = optional(&r.ReportedAt)
	for _, o := range r.Objects {
		c.ResourcesStateResults = append(c.ResourcesStateResults, resultOf(o))
	}
	told := overview{
		AgentVersion: r.AgentVersion, KubernetesVersion: r.KubernetesVersion, Nodes: []node{},
		Totals: totals{CPUCores: r.CpuCores, MemoryGiB: r.MemoryGib, RootDiskGiB: r.RootDiskGib, PVCGiB: r.PvcGib, Nodes: r.NodeCount},
	}
	for _, n := range r.Nodes {
		told.Nodes = append(told.Nodes, node{n.Name, n.Group, n.Ready, n.Version, n.CPUCores, n.MemoryGiB, moment(n.CreatedAt)})
	}
	c.ClusterAgentData = append(c.ClusterAgentData, agentData{
		ID: uuid.NewSHA1(view.ID, []byte(sourceOverview)), ClusterID: view.ID, Source: sourceOverview, Data: told,
		CreatedAt: moment(r.FirstReportedAt), UpdatedAt: moment(r.ReportedAt),
	})
}

func resultOf(o store.AgentObject) resourceResult {
	out := resourceResult{
		ResourceGroup: o.ResourceGroup, Group: o.Group, Version: o.Version, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name,
		State: o.State, Errors: []string{},
	}
	if o.Error != "" {
		out.Errors = append(out.Errors, o.Error)
	}
	return out
}
