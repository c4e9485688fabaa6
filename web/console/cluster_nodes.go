package console

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"commander/fleet"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
)

// ClusterNodes lists the nodes of a cluster as its agent reported them.
func (c *Console) ClusterNodes(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	query, all := paths.ParseQuery(r.URL.Query()), nodesOf(view)
	n := clusters.Nodes{Head: c.head(view, actor(r), clusters.TabNone), Any: len(all) > 0, State: nodesState(view)}
	total := 0
	n.Rows, total = nodeRows.find(c, query, all)
	n.Table = c.table(query, paths.ClusterNodes(n.ID), "", "nodes.filter", len(n.Rows), total)
	n.Table.Kind = "nodes"
	return c.clusterPage(w, r, http.StatusOK, view, partsNodes, page{tab: i18n.M("nodes.title"), content: clusters.NodesBody(n)})
}

var nodeRows = handful[clusters.Node]{
	text: func(n clusters.Node) string { return strings.Join([]string{n.Name, n.Group, n.Version}, " ") },
	orders: map[string]func(a, b clusters.Node) int{
		clusters.SortNodeName:    byName(func(n clusters.Node) string { return n.Name }),
		clusters.SortNodeStatus:  by(nodeUrgency),
		clusters.SortNodeVersion: by(func(n clusters.Node) string { return n.Version }),
		clusters.SortNodeCPU:     by(func(n clusters.Node) float64 { return n.CPU }),
		clusters.SortNodeMemory:  by(func(n clusters.Node) float64 { return n.MemoryGiB }),
		clusters.SortNodeAge:     by(func(n clusters.Node) int64 { return n.CreatedAt.Unix() }),
	},
}

func nodesOf(view fleet.ClusterView) []clusters.Node {
	if view.Report == nil {
		return nil
	}
	nodes := make([]clusters.Node, 0, len(view.Report.Nodes))
	for _, n := range view.Report.Nodes {
		nodes = append(nodes, clusters.Node{
			Name: n.Name, Group: n.Group, Status: nodeStatus(n), Version: kubernetesVersion(n.Version),
			CPU: n.CPUCores, MemoryGiB: n.MemoryGiB, CreatedAt: n.CreatedAt,
		})
	}
	return nodes
}

// nodesState is another one when the list of nodes is.
func nodesState(view fleet.ClusterView) string {
	state := fnv.New64a()
	for _, n := range nodesOf(view) {
		fmt.Fprintf(state, "%q %v", []string{n.Name, n.Group, n.Status.Word.Key, n.Version}, []float64{n.CPU, n.MemoryGiB})
	}
	return strconv.FormatUint(state.Sum64(), 36)
}
