package gallery

import (
	"time"

	"commander/views/access"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/search"
	"commander/views/tasks"
	"commander/views/ui"
	"commander/views/workspaces"
)

func entrance() []Exhibit {
	title := i18n.M("access.sign_in")
	failure := layout.Failure{Status: 503, Kind: "unavailable", Message: i18n.M("fault.unavailable"), RequestID: "req-7c21f09a"}
	return []Exhibit{
		bare("sign-in", title, access.SignInBody(access.SignIn{Back: "/"})),
		bare("sign-in-expired", title, access.SignInBody(access.SignIn{Notice: i18n.M("access.expired")})),
		bare("sign-in-failed", title, access.SignInBody(access.SignIn{Notice: i18n.M("access.failed"), Failed: true})),
		bare("no-access", i18n.M("access.none"), access.NoAccessBody(access.NoAccess{Name: "Grace Hopper", Email: "grace@corp.example", Subject: "CiQwOGE4Njg0Yi1kYjg4LTRiNzM"})),
		bare("failure", i18n.M("failure.unavailable.title"), layout.FailureBody(failure)),
		shelled("failure-shell", layout.SectionClusters, i18n.M("failure.not_found.title"), layout.FailureBody(layout.Failure{Status: 404, Kind: "not_found"})),
		shelled("start", layout.SectionStart, i18n.M("workspaces.title"), workspaces.StartBody(workspaces.Start{Any: true, Table: table(paths.Start(), workspaces.SortName, "workspaces.filter", 2, 2), Rows: []workspaces.Row{
			{Slug: slug, Name: "Payments", Role: i18n.M("role.full"), Clusters: 214, Attention: 6, Running: 3, Waiting: 2, Templates: 4, Records: 120},
			{Slug: "search", Name: "Search and recommendations", Role: i18n.M("role.read"), Clusters: 12},
		}})),
	}
}

func clusterFilters(status string) []ui.Filter {
	q := paths.Query{Status: status}
	filter := func(name string, count int) ui.Filter {
		only := name
		if name == "all" {
			only = ""
		}
		return ui.Filter{Name: name, Label: i18n.M("filter." + name), Count: count, Href: paths.ClusterList(slug, q.Only(only)), Pressed: status == only}
	}
	return []ui.Filter{filter("all", 214), filter("attention", 6), filter("busy", 2), filter("ready", 203), filter("failed", 2), filter("no_agent", 1)}
}

func task(kind, status string, d time.Duration) *clusters.LastTask {
	t := &clusters.LastTask{ID: taskID, Kind: ui.TaskKind(kind), Status: ui.TaskStatus(status), At: ago(d)}
	t.Running = t.Status.Tone == ui.Busy
	t.Bad = t.Status.Tone == ui.Bad
	return t
}

func clusterRows() []clusters.Row {
	row := func(id, name, status, configuration string, agent ui.Agent, version string, nodes int, t *clusters.LastTask) clusters.Row {
		return clusters.Row{
			ID: id, Name: name, Template: "Lab", Status: ui.ClusterStatus(status),
			Configuration: ui.ConfigurationStatus(configuration), Agent: agent,
			Version: version, Nodes: nodes, NodesKnown: nodes > 0, Task: t,
		}
	}
	rows := []clusters.Row{
		row("c1", "payments-prod-1", "in_sync", "configured", heard(4*time.Second), "1.37.2", 18, task("check", "succeeded", 3*time.Minute)),
		row("c2", "payments-prod-2", "updating", "applying", heard(time.Second), "1.36.3 → 1.37.2", 9, task("converge", "running", 372*time.Second)),
		row("c3", "edge-kazan", "synchronization_failure", "no_data", heard(41*time.Minute), "1.36.3", 3, task("converge", "lost_in_critical", 40*time.Minute)),
		row("c4", "staging-search", "destructive_changes", "not_configured", heard(6*time.Minute), "1.37.2", 5, task("converge", "waiting_approval", time.Minute)),
		row("c5", "ml-batch-with-a-rather-long-name-that-somebody-chose", "new", "no_data", ui.Agent{Tone: ui.Neutral}, "1.37.2", 0, nil),
		row("c6", "sandbox", "configuration_error", "no_data", ui.Agent{Tone: ui.Neutral}, "", 0, nil),
		row("c7", "reporting", "creating", "no_data", ui.Agent{Tone: ui.Neutral}, "1.37.2", 0, task("bootstrap", "running", 14*time.Second)),
	}
	for i := range rows {
		rows[i].CanPick = true
	}
	rows[0].Labels, rows[0].Locked = labels("env=prod", "team=payments"), true
	rows[1].Labels = labels("env=prod", "region=eu-central", "team=payments", "tier=1")
	rows[4].Labels = labels("env=test")
	return rows
}

func labels(texts ...string) []clusters.Label {
	var out []clusters.Label
	for _, text := range texts {
		out = append(out, clusters.Label{Text: text, Href: paths.Here(paths.Query{Text: text})})
	}
	return out
}

// found is what a search for "pay" finds.
func found() search.Results {
	return search.Results{Text: "pay", Workspace: slug, Groups: []search.Group{
		{Title: i18n.M("clusters.title"), Hits: []search.Hit{
			{Title: i18n.Plain("payments-prod-1"), Where: "Payments", Href: paths.Cluster("c1")},
			{Title: i18n.Plain("payments-prod-2"), Where: "Payments", Href: paths.Cluster("c2")},
		}},
		{Title: i18n.M("search.actions"), Hits: []search.Hit{{Title: i18n.M("clusters.create"), Href: paths.NewCluster(slug, ""), Keys: "c"}}},
	}}
}

func savedViews(pressed bool) []ui.Filter {
	return []ui.Filter{{
		Name: "view-v1", Label: i18n.Plain("Production, largest first"), Later: true, Pressed: pressed,
		Href: paths.ClusterList(slug, paths.Query{Text: "env=prod", Sort: clusters.SortNodes, Descending: true}),
	}}
}

// countedViews are the same with their counts.
func countedViews() clusters.SavedViews {
	views := savedViews(false)
	views[0].Count, views[0].Later = 140, false
	return clusters.SavedViews{Slug: slug, Views: views}
}

func lists() []Exhibit {
	title := i18n.M("clusters.title")
	list := clusters.List{
		Slug: slug, Rows: clusterRows(), Filters: clusterFilters(""), Columns: clusters.Columns(slug, paths.Query{Sort: clusters.SortName}),
		Pages: ui.Pages{From: 1, To: 7, Total: 214, Next: paths.ClusterList(slug, paths.Query{Page: 2})}, Total: 214, CanCreate: true,
		New: clusters.New{Count: 3, Href: paths.Clusters(slug)},
	}
	list.Bulk.CanEdit, list.View.CanEdit = true, true
	list.Saved = savedViews(false)
	labelled := clusters.LabelList{Slug: slug, Labels: []clusters.LabelFilter{
		{Text: "env=prod", Count: 140, Href: paths.ClusterList(slug, paths.Query{}), Pressed: true},
		{Text: "team=payments", Count: 31, Href: paths.ClusterList(slug, paths.Query{Text: "env=prod team=payments"})},
	}}
	refused := list
	refused.Query = paths.Query{Text: "env=prod", Sort: clusters.SortNodes, Descending: true}
	refused.Filters[0].Pressed, refused.Saved = false, savedViews(true)
	refused.Columns = clusters.Columns(slug, refused.Query)
	refused.View = clusters.ViewTool{CanEdit: true, ID: "v1", Name: "Production, largest first"}
	refused.Rows = clusterRows()
	refused.Rows[4].Picked = true
	refused.Bulk = clusters.Bulk{
		CanEdit: true, Changed: 2, Typed: "env=<prod>", Problem: i18n.M("cluster.label.invalid", "env=<prod>"),
		Refused: []clusters.Refused{{Name: "ml-batch-with-a-rather-long-name-that-somebody-chose", Why: i18n.M("cluster.label.many", 32)}, {Why: i18n.M("fault.not_found")}},
	}
	unsaved := list
	unsaved.Query, unsaved.Bulk = paths.Query{Text: "env=prod"}, clusters.Bulk{}
	unsaved.View = clusters.ViewTool{CanEdit: true, Name: "Production", Problem: i18n.M("view.name.taken", "Production")}
	none := list
	none.Rows, none.Query, none.Filters, none.New = nil, paths.Query{Text: "no-such", Status: "attention"}, clusterFilters("attention"), clusters.New{}
	archive := clusters.ArchiveList{Slug: slug, Any: true, Rows: []clusters.ArchiveRow{
		{ID: "a1", Name: "payments-old", Number: 18, Template: "Lab", Cleaned: true, ArchivedAt: ago(2 * time.Hour), ArchivedBy: "ada@corp"},
		{ID: "a2", Name: "edge-perm", Number: 17, Template: "Lab", ArchivedAt: ago(90 * time.Hour), ArchivedBy: "grace@corp"},
	}, Table: table(paths.Archive(slug), "-"+clusters.SortArchived, "clusters.filter", 2, 2)}
	rows := taskRows()
	return []Exhibit{
		shelled("clusters", layout.SectionClusters, title, clusters.ListBody(list)),
		shelled("clusters-refused", layout.SectionClusters, title, clusters.ListBody(refused)),
		shelled("views", layout.SectionClusters, i18n.M("view.title"), clusters.ViewsBody(countedViews())),
		shelled("views-none", layout.SectionClusters, i18n.M("view.title"), clusters.ViewsBody(clusters.SavedViews{Slug: slug})),
		shelled("search", layout.SectionStart, i18n.M("search.title"), search.Body(found())),
		shelled("labels", layout.SectionClusters, i18n.M("labels.title"), clusters.LabelsBody(labelled)),
		shelled("clusters-unsaved", layout.SectionClusters, title, clusters.ListBody(unsaved)),
		shelled("clusters-no-results", layout.SectionClusters, title, clusters.ListBody(none)),
		shelled("clusters-empty", layout.SectionClusters, title, clusters.ListBody(clusters.List{Slug: slug, CanCreate: true})),
		shelled("archive", layout.SectionArchive, i18n.M("archive.title"), clusters.ArchiveBody(archive)),
		shelled("archive-empty", layout.SectionArchive, i18n.M("archive.title"), clusters.ArchiveBody(clusters.ArchiveList{Slug: slug})),
		shelled("tasks", layout.SectionTasks, i18n.M("tasks.title"), tasks.ListBody(tasks.List{
			LateChecks: 34, LateBy: 12 * time.Minute,
			Slug: slug, Rows: rows, Any: true,
			Table: table(paths.Tasks(slug), "-"+tasks.SortCreated, "tasks.filter", len(rows), 41,
				ui.Filter{Label: i18n.M("filter.all"), Count: 41, Pressed: true}, ui.Filter{Label: i18n.M("filter.running"), Count: 1},
				ui.Filter{Label: i18n.M("filter.failed"), Count: 2}, ui.Filter{Label: i18n.M("filter.approval"), Count: 1}),
		})),
		shelled("tasks-empty", layout.SectionTasks, i18n.M("tasks.title"), tasks.ListBody(tasks.List{Slug: slug})),
	}
}

func taskRows() []tasks.Row {
	row := func(kind, status, cluster string, took time.Duration) tasks.Row {
		return tasks.Row{ID: taskID + status, Kind: ui.TaskKind(kind), ClusterID: clusterID, Cluster: cluster, Status: ui.TaskStatus(status), Actor: "ada@corp", CreatedAt: ago(took + time.Hour), Took: took}
	}
	running := row("converge", "running", "payments-prod-2", 0)
	running.Running, running.StartedAt, running.CreatedAt = true, ago(372*time.Second), ago(375*time.Second)
	running.Percent, running.Phase = 62, ui.PhaseTitle("AllNodes")
	queued := row("bootstrap", "queued", "reporting", 0)
	queued.CreatedAt, queued.Running = ago(4*time.Second), true
	gone := row("destroy", "succeeded", "payments-old", 88*time.Second)
	gone.ClusterGone = true
	return []tasks.Row{
		queued, running,
		row("converge", "waiting_approval", "staging-search", 12*time.Second),
		row("converge", "lost_in_critical", "edge-kazan", 3*time.Minute),
		row("bootstrap", "failed", "sandbox", 41*time.Second),
		gone,
		row("check", "cancelled", "payments-prod-1", 0),
	}
}

// table is where a list stands whose first rows are shown.
func table(address, own, hint string, shown, total int, filters ...ui.Filter) ui.Table {
	t := ui.Table{Address: address, Own: own, Hint: i18n.M(hint), Filters: filters, Pages: ui.Pages{From: 1, To: shown, Total: total}}
	if shown < total {
		t.Pages.Next = paths.Asked(address, paths.Query{Page: 2})
	}
	return t
}
