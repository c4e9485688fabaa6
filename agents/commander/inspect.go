package commander

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"commander/agents/agentapi"
)

const (
	nodeGroupLabel  = "node.deckhouse.io/group"
	nodeRolePrefix  = "node-role.kubernetes.io/"
	kubernetesList  = "application/json"
	fromWatchCache  = "?resourceVersion=0" // the API server answers from memory, etcd is not asked
	bytesOfGiB      = 1 << 30
	conditionTrue   = "True"
	claimPhaseBound = "Bound"
)

type nodeList struct {
	Items []struct {
		Metadata struct {
			Name              string            `json:"name"`
			Labels            map[string]string `json:"labels"`
			CreationTimestamp time.Time         `json:"creationTimestamp"`
		} `json:"metadata"`
		Status struct {
			Capacity struct {
				CPU     resource.Quantity `json:"cpu"`
				Memory  resource.Quantity `json:"memory"`
				Storage resource.Quantity `json:"ephemeral-storage"`
			} `json:"capacity"`
			Conditions []struct {
				Type   string `json:"type"`
				Status string `json:"status"`
			} `json:"conditions"`
			NodeInfo struct {
				KubeletVersion string `json:"kubeletVersion"`
			} `json:"nodeInfo"`
		} `json:"status"`
	} `json:"items"`
}

type claimList struct {
	Items []struct {
		Status struct {
			Phase    string `json:"phase"`
			Capacity struct {
				Storage resource.Quantity `json:"storage"`
			} `json:"capacity"`
		} `json:"status"`
	} `json:"items"`
}

// inspector looks at the cluster as often as that is cheap. One goroutine uses it.
type inspector struct {
	kube   *kube
	nodes  []agentapi.Node
	totals agentapi.Totals
	next   time.Time // until then the last answer is good enough
}

// thrift is the part of the time that may go into looking: one twentieth. A small cluster is
// looked at for each report, one of a thousand nodes a few times a minute.
const thrift = 20

func (i *inspector) inspect(ctx context.Context) ([]agentapi.Node, agentapi.Totals, error) {
	begun := time.Now()
	if begun.Before(i.next) {
		return i.nodes, i.totals, nil
	}
	nodes, totals, err := i.kube.inspect(ctx)
	if err != nil {
		return nil, agentapi.Totals{}, err
	}
	i.nodes, i.totals = nodes, totals
	i.next = time.Now().Add(thrift * time.Since(begun))
	return nodes, totals, nil
}

// inspect lists the nodes, sorted by name, and sums up the cluster.
func (k *kube) inspect(ctx context.Context) ([]agentapi.Node, agentapi.Totals, error) {
	var nodes nodeList
	if err := k.read(ctx, "/api/v1/nodes"+fromWatchCache, kubernetesList, &nodes); err != nil {
		return nil, agentapi.Totals{}, fmt.Errorf("list nodes: %w", err)
	}
	var claims claimList
	if err := k.read(ctx, "/api/v1/persistentvolumeclaims"+fromWatchCache, kubernetesList, &claims); err != nil {
		return nil, agentapi.Totals{}, fmt.Errorf("list claims: %w", err)
	}
	found, totals := summarize(nodes, claims)
	return found, totals, nil
}

func summarize(nodes nodeList, claims claimList) ([]agentapi.Node, agentapi.Totals) {
	totals := agentapi.Totals{Nodes: len(nodes.Items)}
	found := make([]agentapi.Node, 0, len(nodes.Items))
	for _, n := range nodes.Items {
		node := agentapi.Node{
			Name: n.Metadata.Name, NodeGroup: n.Metadata.Labels[nodeGroupLabel],
			Version:   n.Status.NodeInfo.KubeletVersion,
			CPUCores:  n.Status.Capacity.CPU.AsApproximateFloat64(),
			MemoryGiB: gib(n.Status.Capacity.Memory),
			CreatedAt: n.Metadata.CreationTimestamp,
		}
		for label := range n.Metadata.Labels {
			if role, ok := strings.CutPrefix(label, nodeRolePrefix); ok {
				node.Roles = append(node.Roles, role)
			}
		}
		slices.Sort(node.Roles)
		for _, c := range n.Status.Conditions {
			node.Ready = node.Ready || (c.Type == "Ready" && c.Status == conditionTrue)
		}
		totals.CPUCores += node.CPUCores
		totals.MemoryGiB += node.MemoryGiB
		totals.RootDiskGiB += gib(n.Status.Capacity.Storage)
		found = append(found, node)
	}
	slices.SortFunc(found, func(a, b agentapi.Node) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range claims.Items {
		if c.Status.Phase == claimPhaseBound {
			totals.PVCGiB += gib(c.Status.Capacity.Storage)
		}
	}
	return found, totals
}

func gib(q resource.Quantity) float64 { return q.AsApproximateFloat64() / bytesOfGiB }
