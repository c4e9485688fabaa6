package gallery

import (
	"time"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/settings"
	"commander/views/tokens"
	"commander/views/ui"
)

const clusterYAML = `apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud:
  provider: Lab
  prefix: payments-prod-3
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
clusterDomain: cluster.local
`

const placementYAML = `apiVersion: lab.commander.io/v1alpha1
kind: LabClusterConfiguration
masterNodeGroup:
  replicas: 1
  instanceClass: {cpu: 2, memoryGiB: 4, rootDiskGiB: 20}
nodeGroups:
  - name: worker
    replicas: 3
    instanceClass: {cpu: 4, memoryGiB: 8, rootDiskGiB: 40}
`

func form() clusters.Form {
	field := func(key, title string, kind ui.Kind, value string, span int) clusters.Block {
		return clusters.Block{Field: ui.Field{Name: clusters.ValueField(key), Title: title, Kind: kind, Value: value, Span: span}}
	}
	version := field("kubernetesVersion", "Kubernetes version", ui.Select, "1.37", 2)
	version.Field.Options = []ui.Option{{Value: "1.37", Text: "1.37"}, {Value: "1.36", Text: "1.36"}}
	masters := field("masterCount", "Masters", ui.Number, "1", 1)
	workers := field("workerCount", "Workers", ui.Number, "3", 1)
	workers.Field.Hint = "Machines of the group worker."
	labels := field("labels", "Labels", ui.Area, "team: payments", 4)
	labels.Field.Optional = true
	secret := field("registryPassword", "Registry password", ui.Password, "", 2)
	secret.Field.Optional = true
	return clusters.Form{
		Slug: slug, TemplateID: "t1", Template: "Lab", Version: 3, VersionID: "v3", Nonce: "n1", CanSave: true,
		Name: ui.Field{Name: clusters.FieldName, Title: "Cluster name", Kind: ui.Text, Value: "payments-prod-3", Span: 4, Hint: "Lower-case letters, digits and dashes."},
		Blocks: []clusters.Block{
			{Header: "Kubernetes"},
			version, field("podSubnet", "Pod subnet", ui.Text, "10.111.0.0/16", 2),
			{Header: "Nodes"},
			masters, workers, field("cpu", "Cores", ui.Number, "4", 1), field("memory", "Memory, GiB", ui.Number, "8", 1),
			{Header: "More"},
			secret, field("monitoring", "Monitoring", ui.Checkbox, "true", 2), labels,
		},
		Sections: []clusters.Section{{Title: i18n.M("section.kubernetes"), YAML: clusterYAML}, {Title: i18n.M("section.placement"), YAML: placementYAML}},
	}
}

// recordForm is a form whose parameters are records of the inventory, and lists.
func recordForm() clusters.Form {
	f := form()
	source := &ui.Source{Name: "catalogs.master", Shown: "shown.master", Value: "machines", Refresh: paths.NewPreview(slug), Options: []ui.Option{
		{Value: "machines", Text: "Machines of the second hall"}, {Value: "spare", Text: "Spare machines"},
	}}
	machines := []ui.Option{
		{Value: "r2", Text: "10.20.0.12 · hall 2", Chosen: true},
		{Value: "r5", Text: "10.20.0.15 · hall 2", Chosen: true},
		{Value: "r3", Text: "10.20.0.13 · hall 2"},
		{Value: "r4", Text: "a-machine-with-a-rather-long-name.corp.example · hall 1"},
		{Value: "r1", Text: "10.20.0.11 · hall 2", Note: "taken by payments-prod-2", Refused: true},
		{Value: "r6", Text: "10.20.0.16"},
		{Value: "r7", Text: "10.20.0.17"},
		{Value: "r8", Text: "10.20.0.18"},
		{Value: "r9", Text: "10.20.0.19"},
	}
	f.Registry = []ui.Field{
		{Name: clusters.FieldRegistry, Kind: ui.Select, Span: 2, Title: "Registry", Optional: true, Placeholder: "Of this installation", Options: []ui.Option{{Value: "g1", Text: "Main", Note: "registry.corp.example/platform/ee"}}},
		{Name: clusters.FieldRegistryMode, Kind: ui.Select, Span: 2, Title: "Mode of the registry", Value: "Direct", Options: []ui.Option{{Value: "Direct", Text: "Direct"}, {Value: "Unmanaged", Text: "Unmanaged"}}},
	}
	f.Blocks = []clusters.Block{
		{Header: "Machines"},
		{Field: ui.Field{Name: "values.master", Kind: ui.Select, Span: 2, Title: "Master", Value: "r2", Options: machines, Source: source, Note: i18n.M("field.more_records", 99_500), Find: &ui.Find{Name: "find.master", Value: "10.0", Refresh: "/preview"}}},
		{Field: ui.Field{Name: "values.zone", Kind: ui.Select, Span: 2, Title: "Zone", Note: i18n.M("field.no_catalog", "zones")}},
		{Field: ui.Field{Name: "values.workers", Kind: ui.Dual, Span: 4, Title: "Workers", Hint: "Machines of the group worker.", Options: machines, List: i18n.M("field.items", 1, 5), Problem: i18n.M("inventory.record.few", 3)}},
		{Field: ui.Field{Name: "values.modules", Kind: ui.Several, Span: 4, Title: "Modules", Options: []ui.Option{{Value: "a", Text: "monitoring", Chosen: true}, {Value: "b", Text: "logging"}, {Value: "c", Text: "service mesh", Chosen: true}, {Value: "d", Text: "backup"}}, List: i18n.M("field.items", 0, 4), Optional: true}},
		{Field: ui.Field{Name: "values.nets", Kind: ui.Area, Span: 4, Title: "Networks", Value: "10.0.0.0/8\n172.16.0.0/12", List: i18n.M("field.items_exactly", 2)}},
		{Field: ui.Field{Name: "values.token", Kind: ui.Password, Span: 2, Title: "Token", Stored: true, Optional: true, Forget: "forget.token"}},
	}
	return f
}

func forms() []Exhibit {
	invalid := form()
	invalid.Message = i18n.M("form.problems", 2)
	invalid.Name.Value, invalid.Name.Problem, invalid.Name.Focus = "Payments!", i18n.M("cluster.name.format"), true
	invalid.Blocks[4].Field.Value, invalid.Blocks[4].Field.Problem = "2", i18n.M("parameter.choice")
	invalid.Sections[1] = clusters.Section{Title: i18n.M("section.placement"), Problem: i18n.Plain(`template: placement:7: <.workerCount>: map has no entry for key "workerCount"`), YAML: placementYAML}

	edit := form()
	edit.ClusterID, edit.Revision = clusterID, "7"
	edit.Blocks[5].Field.Changed, edit.Blocks[5].Field.Was, edit.Blocks[5].Field.Value = true, "3", "5"
	edit.Blocks[9].Field.Stored = true
	edit.Blocks[1].Field.Locked = true
	conflict := edit
	conflict.Conflict = &clusters.Conflict{Who: "grace@corp", When: ago(40 * time.Second), Changed: []string{"Workers", "Memory, GiB"}}
	diff := []clusters.SectionDiff{
		{Title: i18n.M("section.kubernetes")},
		{Title: i18n.M("section.placement"), Lines: ui.Compare("a: 1\nreplicas: 3\nb: 2\n", "a: 1\nreplicas: 5\nb: 2\n")},
	}
	h := clusterHead(clusters.TabConfiguration)
	title := i18n.M("new.title")
	locked := clusterHead(clusters.TabNone)
	locked.Locked = true
	return []Exhibit{
		shelled("templates", layout.SectionClusters, i18n.M("new.choose"), clusters.TemplatesBody(clusters.Templates{Slug: slug, Cards: []clusters.TemplateCard{
			{ID: "t1", Name: "Lab", Comment: "A control plane on this machine, with nodes that are played.", Version: 3, Parameters: 12},
			{ID: "t2", Name: "Lab, highly available", Comment: "Three masters.", Version: 1, Parameters: 14},
		}})),
		shelled("templates-none", layout.SectionClusters, i18n.M("new.choose"), clusters.TemplatesBody(clusters.Templates{Slug: slug})),
		shelled("new", layout.SectionClusters, title, clusters.NewBody(form())),
		shelled("new-records", layout.SectionClusters, title, clusters.NewBody(recordForm())),
		shelled("new-invalid", layout.SectionClusters, title, clusters.NewBody(invalid)),
		shelled("configuration", layout.SectionClusters, i18n.M("cluster.tab.configuration"), clusters.ConfigurationBody(clusters.Configuration{Head: h, Form: edit, Diffs: diff, AppliedAt: ago(time.Hour)})),
		shelled("configuration-conflict", layout.SectionClusters, i18n.M("cluster.tab.configuration"), clusters.ConfigurationBody(clusters.Configuration{Head: h, Form: conflict})),
		shelled("deletion-locked", layout.SectionClusters, i18n.M("cluster.delete"), clusters.DeletionBody(clusters.Deletion{Head: locked})),
		shelled("deletion-attached", layout.SectionClusters, i18n.M("cluster.delete"), clusters.DeletionBody(clusters.Deletion{
			Head: attachedHead(h), Revision: "7", ArchiveTyped: "payments", ArchiveProblem: i18n.M("deletion.mismatch"),
		})),
		shelled("deletion", layout.SectionClusters, i18n.M("cluster.delete"), clusters.DeletionBody(clusters.Deletion{Head: h, Nodes: 4, Revision: "7", Typed: "payments", Problem: i18n.M("deletion.mismatch")})),
	}
}

func personal() []Exhibit {
	token := tokens.Row{ID: "k1", Name: "ci", Role: i18n.M("role.full"), CreatedBy: "ada@corp", CreatedAt: ago(200 * time.Hour), UsedAt: ago(4 * time.Minute), ExpiresAt: Moment.AddDate(0, 2, 0), CanRevoke: true}
	old := token
	old.ID, old.Name, old.Role, old.RevokedAt, old.UsedAt, old.ExpiresAt = "k2", "dashboard", i18n.M("role.read"), ago(time.Hour), time.Time{}, time.Time{}
	list := tokens.Page{Slug: slug, Any: true, Rows: []tokens.Row{token, old}, CanCreate: true, Table: table(paths.Tokens(slug), "-"+tokens.SortCreated, "tokens.filter", 2, 2)}
	created := list
	created.Secret, created.SecretName = "cmd_0123456789abcdefghijklmnopqrstuvwxyz", "ci"
	invalid := list
	invalid.Form = tokens.Form{Days: "0", Problems: map[string]i18n.Message{tokens.FieldName: i18n.M("tokens.problem.name"), tokens.FieldDays: i18n.M("tokens.problem.days")}}
	title := i18n.M("tokens.title")
	return []Exhibit{
		shelled("tokens", layout.SectionTokens, title, tokens.Body(list)),
		shelled("tokens-created", layout.SectionTokens, title, tokens.Body(created)),
		shelled("tokens-invalid", layout.SectionTokens, title, tokens.Body(invalid)),
		shelled("tokens-empty", layout.SectionTokens, title, tokens.Body(tokens.Page{Slug: slug})),
		shelled("settings", layout.SectionSettings, i18n.M("settings.title"), settings.Body(settings.Page{Locale: "en", Saved: true})),
	}
}

func clusterHead(tab string) clusters.Head {
	return clusters.Head{
		ID: clusterID, Name: "payments-prod-2", Slug: slug, Tab: tab,
		Status: ui.ClusterStatus("in_sync"), Configuration: ui.ConfigurationStatus("configured"), Agent: heard(3 * time.Second),
		Can: clusters.Can{Edit: true, Converge: true, Connect: true, Delete: true, Destroy: true, Detach: true, Archive: true, Mark: true},
	}
}

// destructive is a head with something that only a person can decide.
func destructive() clusters.Head {
	h := clusterHead(clusters.TabOverview)
	h.Status, h.Configuration = ui.ClusterStatus("destructive_changes"), ui.ConfigurationStatus("not_configured")
	h.Agent = heard(6 * time.Minute)
	h.Next = &clusters.Next{Tone: ui.Warn, Text: i18n.M("cluster.next.destructive_changes"), Label: i18n.M("action.review"), Href: paths.Task(taskID)}
	return h
}

// attachedHead is of a cluster whose machines are not Commander's to delete.
func attachedHead(h clusters.Head) clusters.Head {
	h.Can.Destroy, h.Can.Archive, h.Can.Detach = false, true, true
	return h
}
