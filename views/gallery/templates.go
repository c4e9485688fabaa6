package gallery

import (
	"github.com/a-h/templ"

	"time"

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
		Slug: slug, Rows: rows, Any: true, CanEdit: true, Columns: templates.Columns(slug, paths.Query{}),
		Filters: []ui.Filter{{Label: i18n.M("filter.all"), Count: 3, Href: "#", Pressed: true}, {Label: i18n.M("filter.archived"), Count: 1, Href: "#"}},
		Pages:   ui.Pages{From: 1, To: 3, Total: 3},
	}
	none := list
	none.Rows, none.Query = nil, paths.Query{Text: "nothing"}
	versions := []templates.Version{
		{Number: 3, Comment: "Two zones", Available: true, Current: true, CreatedBy: "ada@corp", CreatedAt: ago(3 * time.Hour), Clusters: 12},
		{Number: 2, Comment: "Broken: the pod network was too small", CreatedBy: "grace@corp", CreatedAt: ago(50 * time.Hour)},
		{Number: 1, Available: true, CreatedBy: "commander", CreatedAt: ago(2000 * time.Hour), Clusters: 1},
	}
	archived := templateHead(templates.TabVersions)
	archived.Archived, archived.CanCreate, archived.Shipped = true, false, false
	reader := templateHead(templates.TabVersions)
	reader.CanEdit, reader.CanCreate = false, false
	clusters := templates.Clusters{Head: templateHead(templates.TabClusters), Pages: ui.Pages{From: 1, To: 2, Total: 2}, Rows: []templates.Cluster{
		{ID: "c1", Name: "payments-prod-1", Status: ui.ClusterStatus("in_sync"), Version: 3, Current: true, Kubernetes: "1.37.1", Agent: heard(4 * time.Second)},
		{ID: "c2", Name: "payments-prod-2", Status: ui.ClusterStatus("delete"), Version: 1, Agent: heard(time.Hour)},
	}}
	page := templates.VersionPage{
		Head: templateHead(templates.TabNone), Version: versions[1], Previous: 1,
		Note: ui.Field{Name: templates.FieldComment, Kind: ui.Text, Title: "Comment of the version", Value: versions[1].Comment, Optional: true},
		Texts: []templates.Text{
			{Title: i18n.M("templates.parameters"), YAML: "- key: count # of workers\n  type: number\n  title: Workers\n"},
			{Title: i18n.M("section.kubernetes"), YAML: clusterYAML}, {Title: i18n.M("section.placement"), YAML: placementYAML}, {Title: i18n.M("section.init")},
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
		shown("template", templates.VersionsBody(templates.Versions{Head: templateHead(templates.TabVersions), Rows: versions, Pages: ui.Pages{From: 1, To: 3, Total: 3}})),
		shown("template-archived", templates.VersionsBody(templates.Versions{Head: archived, Rows: versions})),
		shown("template-reader", templates.VersionsBody(templates.Versions{Head: reader, Rows: versions})),
		shown("template-clusters", templates.ClustersBody(clusters)),
		shown("template-clusters-empty", templates.ClustersBody(templates.Clusters{Head: templateHead(templates.TabClusters)})),
		shown("template-version", templates.VersionBody(page)),
		shown("template-import", templates.ImportBody(templates.Import{
			Slug: slug, Nonce: "n1", Message: i18n.M("template.file.problem", 2, "params"), Problems: []i18n.Message{i18n.M("render.yaml", 3, "did not find expected key")},
			Text: ui.Field{Name: templates.FieldText, Kind: ui.Area, Span: 4, Title: "Or its text", Value: "kind: ClusterTemplate\n", Optional: true},
			Name: ui.Field{Name: templates.FieldName, Kind: ui.Text, Span: 4, Title: "Another name", Optional: true},
		})),
	}, comparisons()...)
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
