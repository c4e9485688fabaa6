package gallery

import (
	"time"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/views/upgrade"
)

const moveID = "5b1f0c5e-94f4-4c7e-8c0e-3d8c6c2f7a11"

// upgrades are the pages of the way to another version.
func upgrades() []Exhibit {
	title := i18n.M("upgrade.title")
	page := upgradePage()
	chosen := page
	chosen.Plan = upgradePlan()
	ready := page
	plan := *chosen.Plan
	plan.Changes, plan.Fields, plan.Ready = plan.Changes[2:], nil, true
	ready.Plan = &plan
	return []Exhibit{
		shelled("upgrade", layout.SectionClusters, title, upgrade.Body(page)),
		shelled("upgrade-asked", layout.SectionClusters, title, upgrade.Body(chosen)),
		shelled("upgrade-ready", layout.SectionClusters, title, upgrade.Body(ready)),
		shelled("switch", layout.SectionTemplates, i18n.M("switch.title"), upgrade.ChoiceBody(switchChoice())),
		shelled("switch-empty", layout.SectionTemplates, i18n.M("switch.title"), upgrade.ChoiceBody(upgrade.Choice{
			Slug: slug, ID: "t1", Template: "Lab", Query: paths.Switching{Version: 7}, Versions: []int{7},
		})),
		shelled("switch-moves", layout.SectionTemplates, i18n.M("switch.title"), upgrade.MovesBody(upgrade.Moves{
			Slug: slug, ID: "t1", Template: "Lab", Any: true, Rows: switchChoice().Earlier, Table: table(paths.TemplateMoves(slug, "t1"), "-"+upgrade.SortCreated, "switch.filter_moves", 2, 2),
		})),
		shelled("switch-preview", layout.SectionTemplates, i18n.M("switch.title"), upgrade.PreviewBody(switchPreview())),
		shelled("switch-running", layout.SectionTemplates, i18n.M("switch.to_version", 7), upgrade.MoveBody(move("running"))),
		shelled("switch-stopped", layout.SectionTemplates, i18n.M("switch.to_version", 7), upgrade.MoveBody(move("stopped"))),
	}
}

func upgradePage() upgrade.Page {
	return upgrade.Page{
		Head:     clusters.Head{ID: clusterID, Name: "prod-west", Slug: slug, Can: clusters.Can{Edit: true}},
		Template: "Lab", Version: 6,
		Groups: []upgrade.Group{
			{Template: "Lab", Versions: []upgrade.Version{
				{ID: "v7", Label: i18n.M("upgrade.version_current", 7, "Newer Kubernetes, an owner for each cluster"), Chosen: true},
				{ID: "v5", Label: i18n.M("upgrade.version", 5, "")},
			}},
			{Template: "Static machines", Versions: []upgrade.Version{{ID: "s2", Label: i18n.M("upgrade.version_current", 2, "")}}},
		},
	}
}

func upgradePlan() *upgrade.Plan {
	return &upgrade.Plan{
		VersionID: "v7", Template: "Lab", Version: 7, Revision: "12",
		Changes: []upgrade.Item{
			{Title: "Workers", Outcome: "conflict", Old: "40", New: "40", Given: true, Problem: i18n.M("parameter.too_large", "32")},
			{Title: "Owner", Outcome: "asked"},
			{Title: "Old proxy", Outcome: "removed", Old: "http://proxy.corp.example:3128", Given: true},
			{Title: "Kubernetes version", Outcome: "followed", Old: "1.36", New: "1.37"},
			{Title: "Pod network", Outcome: "added", New: "10.111.0.0/16"},
		},
		Kept: []upgrade.Item{
			{Title: "Region", Outcome: "kept", Old: "eu-west", New: "eu-west", Given: true},
			{Title: "Administrator's password", Outcome: "kept", Old: "••••••••", New: "••••••••", Given: true},
		},
		Fields: []ui.Field{
			{Name: clusters.ValueField("workers"), Title: "Workers", Kind: ui.Number, Value: "40", Max: "32", Problem: i18n.M("parameter.too_large", "32"), Span: 2},
			{Name: clusters.ValueField("owner"), Title: "Owner", Hint: "The team that is called at night.", Kind: ui.Text, Span: 2},
		},
		Diffs: []clusters.SectionDiff{{Title: i18n.M("section.kubernetes"), Lines: ui.Compare(
			"kind: ClusterConfiguration\nkubernetesVersion: \"1.36\"\n", "kind: ClusterConfiguration\nkubernetesVersion: \"1.37\"\npodSubnetCIDR: 10.111.0.0/16\n")}},
	}
}

func switchChoice() upgrade.Choice {
	return upgrade.Choice{
		Slug: slug, ID: "t1", Template: "Lab", Query: paths.Switching{Version: 7}, Versions: []int{7, 5}, From: []int{7, 6, 5}, Total: 3, CanMove: true,
		Rows: []upgrade.Candidate{
			{ID: "c1", Name: "prod-east", Version: 6, Status: ui.ClusterStatus("in_sync"), Chosen: true},
			{ID: "c2", Name: "prod-west", Version: 6, Status: ui.ClusterStatus("updating")},
			{ID: "c3", Name: "stage-of-a-team-with-a-very-long-name", Version: 5, Status: ui.ClusterStatus("synchronization_failure")},
		},
		Earlier: []upgrade.Earlier{
			{ID: moveID, Version: 6, Status: ui.Status{Tone: ui.Good, Word: i18n.M("switch.status.finished")}, Who: "ada@corp", When: ago(50 * time.Hour), Clusters: 214, Done: 211, Failed: 1, Refuse: 2},
			{ID: moveID, Version: 5, Status: ui.Status{Tone: ui.Bad, Word: i18n.M("switch.status.stopped")}, Who: "grace@corp", When: ago(400 * time.Hour), Clusters: 200, Done: 12, Failed: 1},
		},
	}
}

func switchPreview() upgrade.Preview {
	return upgrade.Preview{
		Slug: slug, ID: "t1", Template: "Lab", Version: 7, VersionID: "v7", Nonce: "n",
		Refused: []upgrade.Line{
			{ID: "c2", Name: "prod-west", Version: 6, Refusal: i18n.M("cluster.switch.problem", "owner", i18n.M("parameter.required"))},
			{ID: "c4", Name: "broken", Version: 6, Refusal: i18n.M("cluster.task_lost", "broken")},
		},
		Moved: []upgrade.Line{
			{ID: "c1", Name: "prod-east", Version: 6, Revision: "4", Changes: i18n.M("switch.changes", 3)},
			{ID: "c3", Name: "stage-of-a-team-with-a-very-long-name", Version: 5, Revision: "9", Changes: i18n.M("switch.changes", 1)},
		},
		Wave:     ui.Field{Name: upgrade.FieldWave, Kind: ui.Number, Title: "Clusters in a wave", Hint: "The next wave begins when all of one are through.", Value: "10"},
		Parallel: ui.Field{Name: upgrade.FieldParallel, Kind: ui.Number, Title: "At the same time", Hint: "At most so many changes run at once.", Value: "many", Problem: i18n.M("cluster.switch.bounds", 1, 100)},
		Stop:     ui.Field{Name: upgrade.FieldStop, Kind: ui.Checkbox, Title: "Start nothing more after the first failure", Value: "true", Span: 2},
	}
}

func move(status string) upgrade.Move {
	state := func(tone ui.Tone, name string) ui.Status {
		return ui.Status{Tone: tone, Word: i18n.M("switch.state." + name)}
	}
	line := func(id, name string, wave int, s ui.Status) upgrade.MoveLine {
		return upgrade.MoveLine{Move: moveID, ID: id, Name: name, Wave: wave, Status: s}
	}
	m := upgrade.Move{
		ID: moveID, Slug: slug, TemplateID: "t1", Template: "Lab", Version: 7, Status: ui.Status{Tone: ui.Busy, Word: i18n.M("switch.status.running")},
		Text: i18n.M("switch.next.running"), Total: 5, Over: 2, Percent: 40, Who: "ada@corp", When: ago(12 * time.Minute),
		Wave: 2, Parallel: 2, Stop: true, CanCancel: true, Table: table(paths.Move(moveID), upgrade.SortWave, "clusters.filter_name", 5, 5),
	}
	done, running := line("c1", "prod-east", 1, state(ui.Good, "done")), line("c3", "stage", 2, state(ui.Busy, "running"))
	done.Task, running.Task, running.Percent, running.Running = taskID, taskID, 35, true
	refused := line("c2", "prod-west", 1, state(ui.Warn, "refused"))
	refused.Reason = i18n.M("cluster.stale_revision", 4, 5)
	waiting := line("c5", "test-1", 2, state(ui.Neutral, "waiting"))
	last := line("c6", "test-2", 3, state(ui.Neutral, "waiting"))
	if status == "stopped" {
		m.Status, m.Text, m.CanCancel, m.Over, m.Percent = ui.Status{Tone: ui.Bad, Word: i18n.M("switch.status.stopped")}, i18n.M("switch.next.stopped"), false, 5, 100
		running = line("c3", "stage", 2, state(ui.Bad, "failed"))
		running.Task, running.Reason = taskID, i18n.M("cluster.switch.task_failed")
		waiting, last = line("c5", "test-1", 2, state(ui.Neutral, "skipped")), line("c6", "test-2", 3, state(ui.Neutral, "skipped"))
		waiting.Reason, last.Reason = i18n.M("cluster.switch.stopped", "stage"), i18n.M("cluster.switch.stopped", "stage")
	}
	for i, name := range []string{"all", "waiting", "running", "done", "failed", "refused", "skipped"} {
		label := i18n.M("switch.state." + name)
		if name == "all" {
			label = i18n.M("filter.all")
		}
		m.Table.Filters = append(m.Table.Filters, ui.Filter{Name: name, Label: label, Count: 5 - min(i, 5), Href: paths.Move(moveID), Pressed: i == 0})
	}
	m.Lines = []upgrade.MoveLine{done, refused, running, waiting, last}
	return m
}
