package console

import (
	"context"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/clusters"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/tasks"
	"commander/views/ui"
)

// Render draws what a topic means to a page that is open, as its person sees it: one component a
// message. The cursor is what the page said of itself in its address (paths.Live):
//
//	cluster:<id>             the parts that the page has room for, or the moment a list was drawn
//	task:<id>                the last chunk of the log that the page has
//	switch:<id>              the moment up to which the page knows what became of clusters
//	workspace:<id>:clusters  the moment the list was drawn, 0 on other pages
//	workspace:<id>:tasks     the moment the list was drawn
//
// It fails with NotFound for topics that the person may not see.
func (c *Console) Render(ctx context.Context, person fleet.Person, topic string, cursor int64) ([]templ.Component, int64, error) {
	kind, rest, _ := strings.Cut(topic, ":")
	text, about, _ := strings.Cut(rest, ":")
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, cursor, fault.New(fault.NotFound, "fault.not_found")
	}
	switch {
	case kind == "cluster" && about == "" && cursor > partsNodes:
		out, err := c.renderRow(ctx, person.Actor, id)
		return out, cursor, err
	case kind == "cluster" && about == "":
		out, err := c.renderCluster(ctx, person.Actor, id, cursor)
		return out, cursor, err
	case kind == "task" && about == "":
		return c.renderTask(ctx, person.Actor, id, cursor)
	case kind == "switch" && about == "":
		return c.renderMove(ctx, person.Actor, id, cursor)
	case kind == "workspace" && about == "clusters":
		out, err := c.renderClusters(ctx, person.Actor, id, cursor)
		return out, cursor, err
	case kind == "workspace" && about == "tasks":
		out, err := c.renderTasks(ctx, person.Actor, id, cursor)
		return out, cursor, err
	}
	return nil, cursor, fault.New(fault.NotFound, "fault.not_found")
}

func (c *Console) renderRow(ctx context.Context, who fleet.Actor, id uuid.UUID) ([]templ.Component, error) {
	line, err := c.Fleet.ClusterLine(ctx, who, id)
	if err != nil {
		return nil, err
	}
	if line.ArchivedAt != nil {
		return []templ.Component{clusters.LiveGone(id.String())}, nil
	}
	return []templ.Component{clusters.LiveRow(c.row(line, fleet.May(who.Role(line.WorkspaceID), fleet.ClustersEdit)))}, nil
}

func (c *Console) renderCluster(ctx context.Context, who fleet.Actor, id uuid.UUID, parts int64) ([]templ.Component, error) {
	view, err := c.cluster(ctx, who, id)
	if err != nil {
		return nil, err
	}
	switch parts {
	case partsHead:
		return clusters.LiveHead(c.head(view, who, clusters.TabNone)), nil
	case partsKubernetes:
		k := c.kubernetes(view, who)
		return append(clusters.LiveHead(k.Head), clusters.LiveObjects(k), clusters.LiveObjectsState(k)), nil
	case partsNodes:
		return append(clusters.LiveHead(c.head(view, who, clusters.TabNone)), clusters.LiveNodesState(view.ID.String(), nodesState(view))), nil
	case partsTasks:
		out := clusters.LiveHead(c.head(view, who, clusters.TabTasks))
		for _, row := range taskRows(view, len(view.Tasks)) {
			out = append(out, tasks.LiveRow(row))
		}
		return append(out, clusters.LiveNewestTask(view.ID.String(), newestTask(view))), nil
	}
	return clusters.Live(c.overview(view, who)), nil
}

func (c *Console) renderTask(ctx context.Context, who fleet.Actor, id uuid.UUID, seq int64) ([]templ.Component, int64, error) {
	view, err := c.Fleet.Task(ctx, who, id)
	if err != nil {
		return nil, seq, err
	}
	// The log comes before the state, so that what ended the task stands above its end.
	log, err := c.logAfter(ctx, who, id, seq)
	if err != nil {
		return nil, seq, err
	}
	state, err := c.taskState(ctx, view, who)
	if err != nil {
		return nil, seq, err
	}
	counts, err := c.counts(ctx, who, view.WorkspaceID)
	if err != nil {
		return nil, seq, err
	}
	var out []templ.Component
	if len(log.lines) > 0 {
		out = append(out, tasks.LogChunk(state.ID, log.lines))
	}
	out = append(out, tasks.Live(state)...)
	return append(out, layout.Count(layout.SectionClusters, counts), layout.Count(layout.SectionTasks, counts)), log.seq, nil
}

func (c *Console) renderClusters(ctx context.Context, who fleet.Actor, id uuid.UUID, since int64) ([]templ.Component, error) {
	workspace, err := c.Fleet.WorkspaceByID(ctx, who, id)
	if err != nil {
		return nil, err
	}
	counts, err := c.Fleet.Counts(ctx, id)
	if err != nil {
		return nil, err
	}
	out := []templ.Component{layout.Count(layout.SectionClusters, sidebar(counts)), layout.Count(layout.SectionTasks, sidebar(counts))}
	if since == 0 {
		return out, nil
	}
	newer, err := c.Fleet.NewerClusters(ctx, who, id, time.UnixMilli(since))
	if err != nil {
		return nil, err
	}
	pill := clusters.New{Href: paths.Clusters(workspace.Slug), Count: int(newer)}
	out = append(out, clusters.LiveNew(pill), clusters.LiveTotal(int(counts.Of())))
	for _, f := range filtersOf(workspace.Slug, paths.Query{}, counts) {
		out = append(out, ui.LiveCount(f))
	}
	return out, nil
}

// clockSkew is how far the database's clock may be behind ours before a page misses a change.
const clockSkew = 5 * time.Second

// renderTasks sends each newest task that changed since the page was drawn: the page may have
// been away, and it knows by itself which of them it shows.
func (c *Console) renderTasks(ctx context.Context, who fleet.Actor, id uuid.UUID, since int64) ([]templ.Component, error) {
	workspace, err := c.Fleet.WorkspaceByID(ctx, who, id)
	if err != nil {
		return nil, err
	}
	found, err := c.Fleet.Tasks(ctx, who, id, fleet.TaskFilter{Limit: c.size()})
	if err != nil {
		return nil, err
	}
	counts, err := c.counts(ctx, who, id)
	if err != nil {
		return nil, err
	}
	out := []templ.Component{layout.Count(layout.SectionTasks, counts)}
	pill := tasks.New{Href: paths.Tasks(workspace.Slug)}
	for _, row := range found.Rows {
		if row.Task.ChangedAt.After(time.UnixMilli(since).Add(-clockSkew)) {
			out = append(out, tasks.LiveRow(taskRow(row.Task, row.ClusterName)))
		}
		if row.Task.CreatedAt.UnixMilli() > since {
			pill.Count++
		}
	}
	for _, f := range taskFiltersOf(paths.Tasks(workspace.Slug), paths.Query{}, found.Statuses) {
		out = append(out, ui.LiveCount(f))
	}
	return append(out, tasks.LiveNew(pill)), nil
}

// counts are the numbers of the sidebar.
func (c *Console) counts(ctx context.Context, who fleet.Actor, workspace uuid.UUID) (layout.Counts, error) {
	if err := fleet.Allowed(who, fleet.WorkspacesView, workspace); err != nil {
		return layout.Counts{}, err
	}
	counts, err := c.Fleet.Counts(ctx, workspace)
	if err != nil {
		return layout.Counts{}, err
	}
	return sidebar(counts), nil
}
