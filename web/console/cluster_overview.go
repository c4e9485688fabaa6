package console

import (
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/tasks"
	"commander/views/ui"
)

// recentTasks is how many tasks an overview shows.
const recentTasks = 5

// Cluster shows a cluster, or what is left of it in the archive.
func (c *Console) Cluster(w http.ResponseWriter, r *http.Request) error {
	cluster, err := id(r)
	if err != nil {
		return err
	}
	view, err := c.cluster(r.Context(), actor(r), cluster)
	if err != nil {
		return err
	}
	if view.ArchivedAt != nil {
		return c.archived(w, r, view)
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsOverview, page{
		content: clusters.OverviewBody(c.overview(view, actor(r))),
	})
}

func (c *Console) overview(view fleet.ClusterView, who fleet.Actor) clusters.Overview {
	o := clusters.Overview{
		Head: c.head(view, who, clusters.TabOverview), Facts: factsOf(view), Tasks: taskRows(view, recentTasks),
		RenderErrors: renderErrors(view.Wanted), Labels: savedLabels(view), Drift: driftOf(view),
	}
	if report := view.Report; report != nil {
		o.Totals = clusters.Totals{
			Known: true, CPU: report.CpuCores, MemoryGiB: report.MemoryGib, RootDiskGiB: report.RootDiskGib,
			PVCGiB: report.PvcGib, Nodes: report.NodeCount,
		}
		o.Nodes = nodesOf(view)
		o.MoreNodes = max(0, len(o.Nodes)-shownNodes)
		slices.SortStableFunc(o.Nodes, func(a, b clusters.Node) int { return nodeUrgency(a) - nodeUrgency(b) })
		o.Nodes = o.Nodes[:min(len(o.Nodes), shownNodes)]
	}
	return o
}

// shownNodes is how many nodes an overview shows, those that are not ready first; all have a list.
const shownNodes = 10

func nodeUrgency(n clusters.Node) int {
	if n.Status.Tone == ui.Good {
		return 1
	}
	return 0
}

func nodeStatus(n store.AgentNode) ui.Status {
	if n.Ready {
		return ui.NodeStatus("ready")
	}
	return ui.NodeStatus("not_ready")
}

func factsOf(view fleet.ClusterView) clusters.Facts {
	facts := clusters.Facts{
		Template: view.Line.TemplateName, TemplateVersion: view.Line.TemplateNumber,
		KubernetesWanted: wantedKubernetes(view.Wanted), CreatedAt: view.CreatedAt,
		CheckedAt: moment(view.CheckedAt), CheckDue: view.CheckDue, Revision: view.Revision, CreatedBy: view.CreatedBy,
	}
	if view.Wanted.Rendering.Shown.SSHConfiguration != "" {
		facts.PublicKey = view.SshPublicKey
	}
	if view.Report != nil {
		facts.Kubernetes = kubernetesVersion(view.Report.KubernetesVersion)
		facts.AgentVersion, facts.ReportedAt = view.Report.AgentVersion, view.Report.ReportedAt
	}
	// A configuration wants a minor version; any patch of it is what was wanted.
	if facts.Kubernetes == facts.KubernetesWanted || strings.HasPrefix(facts.Kubernetes, facts.KubernetesWanted+".") {
		facts.KubernetesWanted = ""
	}
	return facts
}

// wantedKubernetes is the version that a configuration asks for, empty when it does not say.
func wantedKubernetes(wanted fleet.Configuration) string {
	var document struct {
		KubernetesVersion string `yaml:"kubernetesVersion"`
	}
	if yaml.Unmarshal([]byte(wanted.Rendering.Shown.ClusterConfiguration), &document) != nil {
		return "" // a configuration with errors is shown with them, elsewhere
	}
	return document.KubernetesVersion
}

func taskRows(view fleet.ClusterView, most int) []tasks.Row {
	rows := make([]tasks.Row, 0, most)
	for _, task := range view.Tasks[:min(len(view.Tasks), most)] {
		rows = append(rows, taskRow(task, ""))
	}
	return rows
}

func renderErrors(wanted fleet.Configuration) []clusters.RenderError {
	var out []clusters.RenderError
	for _, e := range wanted.RenderErrors {
		out = append(out, clusters.RenderError{Section: placeOf(wanted.Schema, e), Text: messageOf(e), Parameter: e.Parameter})
	}
	return out
}
