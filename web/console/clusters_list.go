package console

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
)

// clusterFilters are the saved views of the list, by their name in its address.
var clusterFilters = []struct {
	name     string
	statuses []store.ClusterStatus
}{
	{"", nil},
	{"attention", fleet.Attention},
	{"busy", []store.ClusterStatus{store.ClusterCreating, store.ClusterUpdating, store.ClusterDelete, store.ClusterJoining}},
	{"ready", []store.ClusterStatus{store.ClusterInSync}},
	{"new", []store.ClusterStatus{store.ClusterNew}},
}

// liveRows bounds how many rows of a list follow what happens: each is a topic in the address of
// the page's socket, which must stay short enough for every proxy (50 bytes each, 8 KiB in all).
const liveRows = 100

// MaxTopics is how many topics a page may have: what the live hub must allow.
const MaxTopics = liveRows + 1

// Clusters lists the clusters of a workspace.
func (c *Console) Clusters(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	return c.clusterList(w, r, http.StatusOK, workspace, query, func(list *clusters.List) {
		list.Bulk.Changed = paths.ParseChanged(r.URL.Query())
	})
}

// clusterList answers with the list as a query asks for it; tell adds what an act on it has led to.
func (c *Console) clusterList(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, query paths.Query, tell func(*clusters.List)) error {
	now := c.Fleet.Clock.Now()
	filter := filterOf(query)
	filter.Limit, filter.Start = c.size(), c.first(query)
	found, err := c.Fleet.Clusters(r.Context(), actor(r), workspace.ID, filter)
	if err != nil {
		return err
	}
	canEdit := fleet.May(actor(r).Role(workspace.ID), fleet.ClustersEdit)
	list := clusters.List{
		Slug: workspace.Slug, Query: query, Columns: clusters.Columns(workspace.Slug, query),
		Filters: filtersOf(workspace.Slug, query, found.Counts), Total: int(found.Counts.Of()),
		View: clusters.ViewTool{CanEdit: canEdit},
		Pages: c.pages(query, len(found.Lines), int(found.Total), func(q paths.Query) string {
			return paths.ClusterList(workspace.Slug, q)
		}),
		CanCreate: canEdit, Bulk: clusters.Bulk{CanEdit: canEdit},
	}
	if err := c.savedViews(r, workspace, &list); err != nil {
		return err
	}
	tell(&list)
	for _, line := range found.Lines {
		row := c.row(line, canEdit)
		row.Picked = list.Bulk.Picked[row.ID]
		list.Rows = append(list.Rows, row)
	}
	return c.show(w, r, status, page{
		title: i18n.M("clusters.title"), section: layout.SectionClusters, workspace: &workspace, counts: &found.Counts,
		live:    paths.Live(now.UnixMilli(), listTopics(workspace.ID, found.Lines)...),
		content: clusters.ListBody(list), fragment: clusters.ListFragment(list),
	})
}

// filterOf is what a query means to the fleet, on whichever page.
func filterOf(query paths.Query) fleet.ClusterFilter {
	text, labels := fleet.Searched(query.Text)
	return fleet.ClusterFilter{Search: text, Labels: labels, Statuses: statusesOf(query.Status), Sort: query.Order()}
}

func listTopics(workspace uuid.UUID, lines []store.ClusterLine) []string {
	topics := []string{paths.TopicClusters(workspace.String())}
	for _, line := range lines[:min(len(lines), liveRows)] {
		topics = append(topics, paths.TopicCluster(line.ID.String()))
	}
	return topics
}

func statusesOf(name string) []store.ClusterStatus {
	for _, f := range clusterFilters {
		if f.name == name {
			return f.statuses
		}
	}
	return nil // an old bookmark shows everything
}

func filtersOf(slug string, query paths.Query, counts fleet.Counts) []ui.Filter {
	filters := make([]ui.Filter, 0, len(clusterFilters))
	for _, f := range clusterFilters {
		label := f.name
		if label == "" {
			label = "all"
		}
		filters = append(filters, ui.Filter{
			Name: label, Label: i18n.M("filter." + label), Count: int(counts.Of(f.statuses...)),
			Href: paths.ClusterList(slug, query.Only(f.name)), Pressed: query.Status == f.name,
		})
	}
	return filters
}

// totalOf sums counts over some statuses; nil means all.
func totalOf[S comparable](counts map[S]int64, statuses []S) int {
	var sum int64
	if statuses == nil {
		for _, n := range counts {
			sum += n
		}
		return int(sum)
	}
	for _, s := range statuses {
		sum += counts[s]
	}
	return int(sum)
}

// pages tells which part of a list is shown and how to reach its neighbours.
func (c *Console) pages(query paths.Query, shown, total int, at func(paths.Query) string) ui.Pages {
	start, number := c.first(query), max(query.Page, 1)
	p := ui.Pages{From: start + 1, To: start + shown, Total: total}
	if number > 1 {
		p.Previous = at(query.At(number - 1))
	}
	if p.To < total && shown > 0 {
		p.Next = at(query.At(number + 1))
	}
	return p
}

// row is a cluster in the list.
func (c *Console) row(line store.ClusterLine, canPick bool) clusters.Row {
	seen := moment(line.ReportedAt)
	return clusters.Row{
		ID: line.ID.String(), Name: line.Name, Template: line.TemplateName,
		Status:        ui.ClusterStatus(string(line.Status)),
		Configuration: ui.ConfigurationStatus(string(c.Fleet.SyncState(line.ReportedAt, line.SyncState))),
		Agent:         ui.AgentSeen(seen, c.Fleet.Clock.Now()),
		Version:       kubernetesVersion(line.KubernetesVersion),
		Nodes:         line.NodeCount, NodesKnown: !seen.IsZero(),
		Task: lastTask(line), Labels: labelsOf(line.Labels, paths.Here), Locked: line.IsLocked, CanPick: canPick,
	}
}

func lastTask(line store.ClusterLine) *clusters.LastTask {
	if line.TaskID == nil {
		return nil
	}
	task := clusters.LastTask{
		ID: line.TaskID.String(), Kind: ui.TaskKind(string(line.TaskKind)), Status: ui.TaskStatus(string(line.TaskStatus)),
		Running: line.TaskStatus == store.TaskQueued || line.TaskStatus == store.TaskRunning,
	}
	var at *time.Time
	if at = line.TaskFinishedAt; at == nil {
		at = line.TaskCreatedAt
	}
	task.At = moment(at)
	task.Bad = task.Status.Tone == ui.Bad || task.Status.Tone == ui.Warn
	return &task
}
