package gallery

import (
	"time"

	"github.com/a-h/templ"

	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
)

func templateHead(tab templates.Tab) templates.Head {
	return templates.Head{
		Slug: slug, ID: "t1", Name: "Lab", Comment: "A control plane on this machine, with nodes that are played.", Shipped: true,
		Current: 3, Versions: 3, Clusters: 2, CanEdit: true, CanCreate: true, Tab: tab,
	}
}

func templatePages() []Exhibit {
	rows := []templates.Row{
		{ID: "t1", Name: "Lab", Comment: "A control plane on this machine.", Shipped: true, Current: 3, Available: true, Versions: 3, Clusters: 12, ChangedAt: ago(3 * time.Hour)},
		{ID: "t2", Name: "Payments on bare metal with a long name that wraps", Comment: "Three masters in two zones; ask the platform team.", Current: 14, Versions: 15, Clusters: 0, ChangedAt: ago(40 * 24 * time.Hour)},
		{ID: "t3", Name: "Empty", ChangedAt: ago(time.Minute)},
	}
	list := templates.List{
		Slug: slug, Rows: rows, Any: true, CanEdit: true,
		Table: table(paths.Templates(slug), templates.SortName, "templates.filter", 3, 3,
			ui.Filter{Label: i18n.M("filter.all"), Count: 3, Href: "#", Pressed: true}, ui.Filter{Label: i18n.M("filter.archived"), Count: 1, Href: "#"}),
	}
	none := list
	none.Rows, none.Table.Query, none.Table.Pages = nil, paths.Query{Text: "nothing"}, ui.Pages{From: 1}
	versions := []templates.Version{
		{Number: 3, Comment: "Two zones", Available: true, Current: true, CreatedBy: "ada@corp", CreatedAt: ago(3 * time.Hour), Clusters: 12},
		{Number: 2, Comment: "Broken: the pod network was too small", CreatedBy: "grace@corp", CreatedAt: ago(50 * time.Hour)},
		{Number: 1, Available: true, CreatedBy: "commander", CreatedAt: ago(2000 * time.Hour), Clusters: 1},
	}
	unused := templateHead(templates.TabClusters)
	unused.Clusters = 0
	saved := table(paths.Template(slug, "t1"), "-"+templates.SortVersion, "templates.filter_versions", 3, 3)
	archived := templateHead(templates.TabVersions)
	archived.Archived, archived.CanCreate, archived.Shipped = true, false, false
	reader := templateHead(templates.TabVersions)
	reader.CanEdit, reader.CanCreate = false, false
	made := templates.Clusters{Head: templateHead(templates.TabClusters), Table: table(paths.TemplateClusters(slug, "t1", paths.Query{}), templates.SortName, "clusters.filter_name", 2, 2), Rows: []templates.Cluster{
		{ID: "c1", Name: "payments-prod-1", Status: ui.ClusterStatus("in_sync"), Version: 3, Current: true, Kubernetes: "1.37.1", Agent: heard(4 * time.Second)},
		{ID: "c2", Name: "payments-prod-2", Status: ui.ClusterStatus("delete"), Version: 1, Agent: heard(time.Hour)},
	}}
	page := templates.VersionPage{
		Head: templateHead(templates.TabNone), Version: versions[1], Previous: 1, CanTry: true,
		Note: ui.Field{Name: templates.FieldComment, Kind: ui.Text, Title: "Comment of the version", Value: versions[1].Comment, Optional: true},
		Texts: []templates.Text{
			{Title: i18n.M("templates.parameters"), YAML: "- key: count # of workers\n  type: number\n  title: Workers\n"},
			{Title: i18n.M("section.kubernetes"), YAML: clusterYAML},
			{Title: i18n.M("section.placement"), YAML: placementYAML},
			{Title: i18n.M("section.ssh")},
			{Title: i18n.M("section.init")},
			{Title: i18n.Plain("base"), YAML: "kind: Namespace\n", Group: &templates.Keeping{Controlled: true}},
		},
	}
	shown := func(name string, content templ.Component) Exhibit {
		return shelled(name, layout.SectionTemplates, i18n.M("templates.title"), content)
	}
	return append([]Exhibit{
		shown("template-list", templates.ListBody(list)),
		shown("template-list-no-results", templates.ListBody(none)),
		shown("template-list-empty", templates.ListBody(templates.List{Slug: slug, CanEdit: true})),
		shown("template", templates.VersionsBody(templates.Versions{Head: templateHead(templates.TabVersions), Rows: versions, Table: saved})),
		shown("template-archived", templates.VersionsBody(templates.Versions{Head: archived, Rows: versions, Table: saved})),
		shown("template-reader", templates.VersionsBody(templates.Versions{Head: reader, Rows: versions, Table: saved})),
		shown("template-clusters", templates.ClustersBody(made)),
		shown("template-clusters-empty", templates.ClustersBody(templates.Clusters{Head: unused})),
		shown("template-version", templates.VersionBody(page)),
		shown("template-import", templates.ImportBody(templates.Import{
			Slug: slug, Nonce: "n1", Message: i18n.M("template.file.problem", 2, "params"), Problems: []i18n.Message{i18n.M("render.yaml", 3, "did not find expected key")},
			Text: ui.Field{Name: templates.FieldText, Kind: ui.Area, Span: 4, Title: "Or its text", Value: "kind: ClusterTemplate\n", Optional: true},
			Name: ui.Field{Name: templates.FieldName, Kind: ui.Text, Span: 4, Title: "Another name", Optional: true},
		})),
	}, append(comparisons(), editors()...)...)
}

func editors() []Exhibit {
	field := func(name, title, value string, span int) ui.Field {
		return ui.Field{Name: name, Kind: ui.Text, Span: span, Title: title, Value: value}
	}
	count := field("values.count", "Workers", "2", 2)
	count.Kind = ui.Number
	page := templates.Editor{
		Slug: slug, ID: "t1", Name: "Lab", Base: 3, Current: 3, Revision: "7", Script: "/assets/editor.js",
		Fields:         []ui.Field{field(templates.FieldName, "Template", "Lab", 2), field(templates.FieldComment, "Comment", "A control plane on this machine.", 2)},
		VersionComment: ui.Field{Name: templates.FieldVersionComment, Kind: ui.Text, Span: 4, Title: "Comment of the version", Optional: true},
		Sections: []templates.Section{
			{Name: templates.FieldParams, Title: i18n.M("templates.parameters"), Hint: i18n.M("templates.params_hint"), Text: "- header: Size\n- key: count # of workers\n  type: number\n  title: Workers\n  default: 2\n"},
			{Name: templates.FieldCluster, Title: i18n.M("section.kubernetes"), Hint: i18n.M("templates.section_hint", "{{ .podSubnet }}"), Text: clusterYAML},
			{Name: templates.FieldProvider, Title: i18n.M("section.placement"), Text: placementYAML},
			{Name: templates.FieldSSH, Title: i18n.M("section.ssh"), Hint: i18n.M("templates.ssh_hint")},
			{Name: templates.FieldInit, Title: i18n.M("section.init")},
		},
		Groups: []templates.Group{{Name: "base", Controlled: true, Section: templates.Section{Name: templates.GroupField(0, templates.GroupTemplate), Title: i18n.M("templates.manifests"), Text: "kind: Namespace\n"}}},
		Trial: templates.Trial{
			Keys: "count", Schema: "s1", Blocks: []clusters.Block{{Header: "Size"}, {Field: count}},
			Sections: []clusters.Section{{Title: i18n.M("section.kubernetes"), YAML: clusterYAML}, {Title: i18n.M("section.placement"), YAML: placementYAML}},
		},
	}
	invalid := page
	invalid.Message, invalid.Base = i18n.M("templates.problems", 2), 2
	invalid.Sections = append([]templates.Section{}, page.Sections...)
	invalid.Sections[0].Problems = []templates.Problem{{Line: 3, Text: i18n.Plain("the type numbr is none of string, number, boolean")}}
	invalid.Sections[1].Problems = []templates.Problem{{Line: 4, Text: i18n.M("render.template", 4, "function \"nope\" not defined")}, {Text: i18n.Plain("a warning"), Warning: true}}
	invalid.Groups = append([]templates.Group{{Name: "commander-access", Problem: i18n.M("template.problem.group_reserved", "commander-access"), Section: templates.Section{Name: templates.GroupField(1, templates.GroupTemplate), Title: i18n.M("templates.manifests")}, N: 1}}, page.Groups...)
	invalid.Trial = templates.Trial{Broken: true}
	conflict := page
	conflict.Conflict = &templates.Conflict{Who: "grace@corp", When: ago(40 * time.Second), Number: 4, Diffs: []clusters.SectionDiff{{Title: i18n.M("section.placement"), Lines: ui.Compare("a: 1\nreplicas: 3\n", "a: 1\nreplicas: 5\n")}}}
	fresh := page
	fresh.ID, fresh.Name, fresh.Base, fresh.Groups, fresh.Trial.Blocks = "", "", 0, nil, nil
	shown := func(name string, e templates.Editor) Exhibit {
		return shelled(name, layout.SectionTemplates, i18n.M("templates.new"), templates.EditorBody(e))
	}
	return []Exhibit{shown("template-edit", page), shown("template-edit-invalid", invalid), shown("template-edit-conflict", conflict), shown("template-new", fresh)}
}

func comparisons() []Exhibit {
	before, after := "count: 1\nzone: a\nname: x\nversion: 1\n", "count: 2\nzone: a\nname: x\nlabels: {team: payments, purpose: a line that is long enough to be wrapped in a half of the page}\nversion: 1\n"
	rows, _ := ui.Sides(before, after, true)
	page := templates.ComparisonPage{
		Head: templateHead(templates.TabComparison), Comparison: paths.Comparison{From: 2, To: 3}, Numbers: []int{3, 2, 1},
		Parts: []templates.Compared{
			{Title: i18n.M("section.kubernetes"), Rows: append(rows, ui.SideRow{Gap: 12})},
			{Title: i18n.Plain("base"), Moved: true, Before: &templates.Keeping{Controlled: true}, After: &templates.Keeping{UserManaged: true}},
			{Title: i18n.Plain("extra"), Moved: true, After: &templates.Keeping{}, Rows: rows[:1], Cut: true},
		},
	}
	one := page
	one.Side, one.All = paths.SideChanged, true
	same := page
	same.Parts = nil
	shown := func(name string, p templates.ComparisonPage) Exhibit {
		return shelled(name, layout.SectionTemplates, i18n.M("templates.comparison"), templates.ComparisonBody(p))
	}
	return []Exhibit{shown("template-comparison", page), shown("template-comparison-changed", one), shown("template-comparison-same", same)}
}
