package gallery

import (
	"time"

	"commander/views/automation"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
)

// life are the pages of how a cluster is kept, what it was to be, and where it goes.
func life() []Exhibit {
	title := i18n.Plain("payments-prod-2")
	fields := func(problem i18n.Message) []ui.Field {
		return []ui.Field{
			{Name: clusters.FieldMode, Kind: ui.Select, Span: 4, Title: "Applying changes", Value: clusters.ModeAuto, Options: []ui.Option{
				{Value: clusters.ModeAuto, Text: "Automatic: changes are applied as they are found"}, {Value: clusters.ModeManual, Text: "Manual: each change waits for a person"},
			}},
			{Name: clusters.FieldCheckEvery, Kind: ui.Number, Span: 2, Title: "Minutes between checks", Value: "5", Problem: problem},
		}
	}
	kept := clusters.Settings{Head: clusterHead(clusters.TabSettings), Fields: fields(i18n.Message{}), Saved: true, CanEdit: true, Locked: true}
	refused := clusters.Settings{Head: clusterHead(clusters.TabSettings), Fields: fields(i18n.M("cluster.settings.check_every", 1440)), CanEdit: true}
	reader := kept
	reader.Can, reader.CanEdit, reader.Saved = clusters.Can{}, false, false

	history := clusters.History{Head: clusterHead(clusters.TabHistory), CanRollback: true, Table: table(paths.ClusterHistory(clusterID), "-"+clusters.SortRevision, "history.filter", 4, 4), Revisions: []clusters.Revision{
		{Number: 9, Template: "Lab", TemplateVersion: 3, Who: "ada@corp", When: ago(3 * time.Minute), Desired: true, Changed: []string{"CPU a worker", "Memory a worker, GiB", "Pods", "Services", "Workers"}},
		{Number: 8, Template: "Lab", TemplateVersion: 3, Who: "grace@corp", When: ago(5 * time.Hour), Applied: true, Changed: []string{"Workers"}},
		{Number: 7, Template: "Lab", TemplateVersion: 2, Who: "grace@corp", When: ago(90 * time.Hour), Broken: true},
		{Number: 1, Who: "Commander", When: ago(300 * time.Hour)},
	}}
	diffs := []clusters.SectionDiff{
		{Title: i18n.M("section.kubernetes")},
		{Title: i18n.M("section.placement"), Lines: ui.Compare("nodeGroups:\n- name: worker\n  replicas: 3\n", "nodeGroups:\n- name: worker\n  replicas: 5\n")},
	}
	comparison := clusters.Comparison{
		Head: clusterHead(clusters.TabHistory), From: "8", To: "desired", Diffs: diffs,
		Choices: []clusters.Choice{{Value: "desired", Label: i18n.M("history.side.desired")}, {Value: "applied", Label: i18n.M("history.side.applied")}, {Value: "8", Label: i18n.M("history.number", 8)}},
	}
	equal := comparison
	equal.Diffs = diffs[:1]
	rollback := clusters.Rollback{Head: clusterHead(clusters.TabNone), To: history.Revisions[1], Current: "9", Diffs: diffs}
	late := rollback
	late.Problem, late.Diffs = i18n.M("cluster.stale_revision", 9, 10), nil
	attach := clusters.Attach{Slug: slug, Nonce: "n", Fields: []ui.Field{
		{Name: clusters.FieldName, Kind: ui.Text, Span: 4, Title: "Cluster name", Value: "legacy"},
		{Name: clusters.FieldKubeconfig, Kind: ui.Area, Span: 4, Title: "Kubeconfig of an administrator", Value: "apiVersion: v1\nkind: Config", Problem: i18n.M("attach.unreachable", "https://10.0.0.7:6443", "connection refused"), Focus: true},
	}}
	ready := clusters.Overview{Head: clusterHead(clusters.TabOverview), Facts: clusters.Facts{CreatedAt: ago(time.Minute), CreatedBy: "ada@corp", Revision: 1}}
	ready.Status, ready.Configuration, ready.Agent = ui.ClusterStatus("ready_to_join"), ui.ConfigurationStatus("no_data"), ui.Agent{Tone: ui.Neutral}
	ready.Can = clusters.Can{Edit: true, Delete: true, Archive: true}
	ready.Next = &clusters.Next{Tone: ui.Warn, Text: i18n.M("cluster.next.ready_to_join"), Label: i18n.M("action.join"), Href: paths.ClusterJoining(clusterID), Post: true}
	unmade := clusters.Unmade{
		Head: clusterHead(clusters.TabConfiguration), Cards: []clusters.TemplateCard{{ID: "t1", Name: "Lab", Comment: "A control plane on this machine.", Version: 3, Parameters: 9}},
		Sections: []clusters.Section{{Title: i18n.M("section.kubernetes"), YAML: clusterYAML}, {Title: i18n.M("section.placement")}},
	}
	move := clusters.Move{
		Head: clusterHead(clusters.TabNone), Workspaces: []clusters.Choice{{Value: "search", Label: i18n.Plain("Search and recommendations")}},
		To: "search", ToName: "Search and recommendations", Moved: []string{"rack-7 10.0.7.0/24"}, Copied: []string{"ntp.corp.example"}, Made: []string{"racks"},
	}
	choice := move
	choice.To = ""
	days := []automation.Check{{Name: automation.FieldDay, Value: "1", Label: i18n.M("day.1"), Checked: true}, {Name: automation.FieldDay, Value: "64", Label: i18n.M("day.64")}}
	automatic := automation.Page{
		Slug: slug, CanEdit: true, Days: days, Secret: "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG", SecretName: "On call",
		Events: []automation.Check{{Name: automation.FieldEvent, Value: "task_failed", Label: i18n.M("event.task_failed"), Checked: true}},
		WindowFields: []ui.Field{
			{Name: automation.FieldStarts, Kind: ui.Text, Span: 1, Title: "Begins at", Value: "22:00"},
			{Name: automation.FieldHours, Kind: ui.Number, Span: 1, Title: "Hours", Value: "4"},
			{Name: automation.FieldZone, Kind: ui.Text, Span: 2, Title: "Time zone", Value: "Mars/Olympus", Problem: i18n.M("window.time_zone")},
		},
		ChannelFields: []ui.Field{{Name: automation.FieldName, Kind: ui.Text, Span: 2, Title: "Name"}, {Name: automation.FieldAddress, Kind: ui.Text, Span: 4, Title: "Address"}},
		AnyWindow:     true, Table: table(paths.Automation(slug), "", "window.filter", 2, 2),
		Windows: []automation.Window{
			{ID: "w1", Days: []i18n.Message{i18n.M("day.1"), i18n.M("day.2")}, From: "22:00", Hours: 4, Zone: "Europe/Berlin", Open: true},
			{ID: "w2", Cluster: "payments-prod-2", Days: []i18n.Message{i18n.M("day.64")}, From: "02:30", Hours: 1.5, Zone: "UTC"},
		},
		Channels: []automation.Channel{
			{ID: "n1", Name: "On call", Address: "https://hooks.corp.example/commander", Kind: i18n.M("notify.kind.webhook"), Events: []i18n.Message{i18n.M("event.task_failed"), i18n.M("event.agent_silent")}, LastAt: ago(time.Minute), Last: ui.Status{Tone: ui.Bad, Word: i18n.M("notify.failed")}, Error: "send notification: the receiver answered 503 Service Unavailable"},
			{ID: "n2", Name: "Team", Address: "team@corp.example", Kind: i18n.M("notify.kind.mail"), Events: []i18n.Message{i18n.M("event.approval_needed")}},
		},
	}
	return []Exhibit{
		shelled("automation", layout.SectionWorkspace, i18n.M("automation.title"), automation.Body(automatic)),
		shelled("automation-empty", layout.SectionWorkspace, i18n.M("automation.title"), automation.Body(automation.Page{Slug: slug})),
		shelled("move", layout.SectionClusters, title, clusters.MoveBody(move)),
		shelled("move-choice", layout.SectionClusters, title, clusters.MoveBody(choice)),
		shelled("attach", layout.SectionClusters, i18n.M("attach.title"), clusters.AttachBody(attach)),
		shelled("cluster-ready-to-join", layout.SectionClusters, title, clusters.OverviewBody(ready)),
		shelled("detachment", layout.SectionClusters, title, clusters.DetachmentBody(clusterHead(clusters.TabNone))),
		shelled("unmade", layout.SectionClusters, title, clusters.UnmadeBody(unmade)),
		shelled("cluster-settings", layout.SectionClusters, title, clusters.SettingsBody(kept)),
		shelled("cluster-settings-refused", layout.SectionClusters, title, clusters.SettingsBody(refused)),
		shelled("cluster-settings-reader", layout.SectionClusters, title, clusters.SettingsBody(reader)),
		shelled("history", layout.SectionClusters, title, clusters.HistoryBody(history)),
		shelled("comparison", layout.SectionClusters, title, clusters.ComparisonBody(comparison)),
		shelled("comparison-same", layout.SectionClusters, title, clusters.ComparisonBody(equal)),
		shelled("rollback", layout.SectionClusters, title, clusters.RollbackBody(rollback)),
		shelled("rollback-late", layout.SectionClusters, title, clusters.RollbackBody(late)),
	}
}
