package gallery

import (
	"time"

	"commander/views/builder"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/inventory"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/registries"
	"commander/views/ui"
	"commander/views/workspaces"
)

// material are the pages of what clusters are made from, and of workspaces themselves.
func material() []Exhibit {
	title := i18n.M("registries.title")
	list := registries.List{Slug: slug, Any: true, Table: table(paths.Registries(slug), registries.SortName, "registries.filter", 2, 2), CanCreate: true, Rows: []registries.Row{
		{ID: "g1", Name: "Main", Address: "registry.corp.example:5000/platform/ee", User: "commander", CustomCA: true, Clusters: 41, CreatedBy: "ada@corp", CreatedAt: ago(90 * time.Hour)},
		{ID: "g2", Name: "Laboratory", Address: "http://lab.example/platform/ee", CreatedBy: "grace@corp", CreatedAt: ago(3 * time.Hour)},
	}}
	form := registries.Form{Slug: slug, ID: "g1", Name: "Main", Revision: "3", CanSave: true, Clusters: 41, Fields: []ui.Field{
		{Name: registries.FieldName, Kind: ui.Text, Span: 4, Title: "Name", Value: "Main"},
		{Name: registries.FieldAddress, Kind: ui.Text, Span: 4, Title: "Address of the images", Value: "registry.corp.example:5000/platform/ee"},
		{Name: registries.FieldUser, Kind: ui.Text, Span: 2, Title: "User", Value: "commander", Optional: true},
		{Name: registries.FieldPassword, Kind: ui.Password, Span: 2, Title: "Password", Optional: true, Stored: true},
		{Name: registries.FieldCA, Kind: ui.Area, Span: 4, Title: "Certificate authorities (PEM)", Optional: true, Value: "nonsense", Problem: i18n.M("registry.ca.pem"), Focus: true},
	}}
	reached, refused := form, form
	reached.Clusters = 0
	reached.Releases = &registries.Releases{Rows: []registries.Release{{Channel: "alpha", Version: "v1.72.0"}, {Channel: "beta"}, {Channel: "stable", Version: "v1.70.1"}}}
	refused.Releases = &registries.Releases{Problem: i18n.M("registry.certificate", "registry.corp.example:5000"), Detail: "tls: failed to verify certificate: x509: certificate signed by unknown authority"}
	users := []inventory.User{{ID: clusterID, Name: "payments-prod-2"}}
	catalogs := inventory.List{Slug: slug, Any: true, Table: table(paths.Catalogs(slug), inventory.SortName, "catalogs.filter", 3, 3), CanCreate: true, Rows: []inventory.Row{
		{ID: "k1", Name: "Machines of the second hall", Slug: "machines", Exclusive: true, Records: 41, Used: 18},
		{ID: "k2", Name: "Networks", Slug: "networks", Records: 4, Used: 4},
		{ID: "k3", Name: "Old machines", Slug: "machines", Exclusive: true, Records: 2, Archived: true},
	}}
	catalog := inventory.Catalog{
		Slug: slug, ID: "k1", Name: "Machines of the second hall", Identifier: "machines", Exclusive: true, Any: true, CanEdit: true,
		Columns: []string{"Address", "User", "Password"},
		Table: table(paths.Catalog(slug, "k1"), inventory.SortName, "records.filter", 3, 41,
			ui.Filter{Label: i18n.M("filter.all"), Count: 41, Pressed: true}, ui.Filter{Label: i18n.M("filter.free"), Count: 23},
			ui.Filter{Label: i18n.M("filter.used"), Count: 18}, ui.Filter{Label: i18n.M("filter.misfits"), Count: 1}),
		Rows: []inventory.Record{
			{ID: "r1", Label: "10.20.0.11", Values: []string{"10.20.0.11", "root", "••••••••"}, Users: users},
			{ID: "r2", Label: "10.20.0.12", Values: []string{"10.20.0.12", "root", "••••••••"}},
			{ID: "r3", Label: "a-machine-with-a-rather-long-name.hall-2.corp.example", Values: []string{"nowhere", "ubuntu", ""}, Misfit: true},
		},
	}
	fields := "- identifier: true\n  key: address\n  title: Address\n  type: string\n  unique: true\n"
	settings := inventory.Form{Slug: slug, ID: "k1", Name: "Machines", Revision: "2", CanSave: true, UsedBy: "payments-prod-2", Fields: []ui.Field{
		{Name: inventory.FieldName, Kind: ui.Text, Span: 4, Title: "Name", Value: "Machines"},
	}, Schema: builder.Model{
		Name: inventory.FieldParams, Text: fields, Address: paths.SchemaBuilder(slug), Catalog: true, Problem: i18n.M("inventory.schema.empty"), AsText: true,
	}}
	built := settings
	built.UsedBy, built.Schema = "", builder.Model{
		Name: inventory.FieldParams, Text: fields, Address: paths.SchemaBuilder(slug), Catalog: true, Blocks: []builder.Block{
			{Header: "Access"},
			{Title: "Address", Key: "address", Kind: "string", Span: 2, Marks: []i18n.Message{i18n.M("builder.mark.format", "ipv4"), i18n.M("builder.mark.unique"), i18n.M("builder.mark.identifier")}},
			{Title: "Cores", Key: "cores", Kind: "number", Span: 1, Default: "4"},
			{Title: "Zone of the data centre", Key: "zone", Kind: "select", Span: 1, Marks: []i18n.Message{i18n.M("builder.mark.optional"), i18n.M("builder.mark.immutable")}},
			{Title: "Password", Key: "password", Kind: "string", Span: 1, Marks: []i18n.Message{i18n.M("builder.mark.format", "password")}},
		},
		Open: &builder.Editor{
			At: 3, Choices: []builder.Choice{{Text: "First hall", Value: `{"hall":1}`}, {}}, ChoiceProblem: i18n.M("schema.choice_text", 4, "zone", 2),
			Groups: []builder.Group{
				{Fields: []ui.Field{
					{Name: "params.key", Kind: ui.Text, Span: 2, Title: "Key", Value: "zone", Hint: "The name in templates."},
					{Name: "params.title", Kind: ui.Text, Span: 2, Title: "Title", Problem: i18n.M("schema.title", 4, "zone"), Focus: true},
					{Name: "params.kind", Kind: ui.Select, Span: 2, Title: "Kind", Value: "select", Options: []ui.Option{{Value: "string", Text: "text"}, {Value: "select", Text: "choice with values"}}},
				}},
				{For: "string", Fields: []ui.Field{{Name: "params.pattern", Kind: ui.Text, Span: 4, Title: "Pattern"}}},
				{Fields: []ui.Field{{Name: "params.optional", Kind: ui.Checkbox, Title: "Optional", Value: "true"}}},
			},
		},
	}
	record := inventory.RecordForm{
		Slug: slug, CatalogID: "k1", Catalog: "Machines", ID: "r1", Label: "10.20.0.11", Revision: "2", Users: users, CanSave: true,
		Blocks: []clusters.Block{{Header: "Access"}, {Field: ui.Field{Name: clusters.ValueField("address"), Kind: ui.Text, Title: "Address", Value: "10.20.0.12", Span: 2, Changed: true, Was: "10.20.0.11"}}, {Field: ui.Field{Name: clusters.ValueField("password"), Kind: ui.Password, Title: "Password", Stored: true, Span: 2}}},
	}
	report := inventory.Report{CatalogID: "k1", Catalog: "Machines", Taken: 38, Refused: []inventory.Problem{
		{Number: 7, Label: "10.20.0.11", Texts: []string{"address: 10.20.0.11 has this value already."}},
	}, Misfits: []inventory.Problem{{Number: 9, Label: "nowhere", Texts: []string{"address: Not a valid ipv4."}}}}
	shelf := i18n.M("inventory.title")
	return []Exhibit{
		shelled("catalogs", layout.SectionInventory, shelf, inventory.ListBody(catalogs)),
		shelled("catalogs-empty", layout.SectionInventory, shelf, inventory.ListBody(inventory.List{Slug: slug, CanCreate: true})),
		shelled("catalog", layout.SectionInventory, shelf, inventory.CatalogBody(catalog)),
		shelled("catalog-empty", layout.SectionInventory, shelf, inventory.CatalogBody(inventory.Catalog{Slug: slug, ID: "k2", Name: "Networks", Identifier: "networks", CanEdit: true})),
		shelled("catalog-settings", layout.SectionInventory, shelf, inventory.FormBody(settings)),
		shelled("catalog-builder", layout.SectionInventory, shelf, inventory.FormBody(built)),
		shelled("catalog-import", layout.SectionInventory, shelf, inventory.ImportBody(inventory.Import{Slug: slug, Report: &report})),
		shelled("record", layout.SectionInventory, shelf, inventory.RecordBody(record)),
		shelled("registries", layout.SectionRegistries, title, registries.ListBody(list)),
		shelled("registries-empty", layout.SectionRegistries, title, registries.ListBody(registries.List{Slug: slug, CanCreate: true})),
		shelled("registry", layout.SectionRegistries, title, registries.FormBody(form)),
		shelled("registry-reached", layout.SectionRegistries, title, registries.FormBody(reached)),
		shelled("registry-refused", layout.SectionRegistries, title, registries.FormBody(refused)),
		shelled("workspace-new", layout.SectionStart, i18n.M("workspaces.new"), workspaces.NewBody(workspaces.Form{
			Name: "Payments", Slug: "demo", Problems: map[string]i18n.Message{workspaces.FieldSlug: i18n.M("workspace.slug.taken", "demo")},
		})),
		shelled("workspace-settings", layout.SectionWorkspace, i18n.M("workspace.settings"), workspaces.SettingsBody(workspaces.Settings{
			Slug: slug, Saved: "Payments", Name: "Payments", CanEdit: true,
		})),
		shelled("workspace-deletion", layout.SectionWorkspace, i18n.M("deletion.title", "Payments"), workspaces.DeletionBody(workspaces.Deletion{
			Slug: slug, Name: "Payments", Templates: 3, Records: 41, Registries: 1, Typed: "pay", Problem: i18n.M("workspaces.delete_mismatch"),
		})),
		shelled("workspace-deletion-busy", layout.SectionWorkspace, i18n.M("deletion.title", "Payments"), workspaces.DeletionBody(workspaces.Deletion{Slug: slug, Name: "Payments", Clusters: 214})),
	}
}
