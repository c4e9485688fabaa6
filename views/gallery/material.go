package gallery

import (
	"time"

	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/registries"
	"commander/views/ui"
	"commander/views/workspaces"
)

// material are the pages of what clusters are made from, and of workspaces themselves.
func material() []Exhibit {
	title := i18n.M("registries.title")
	list := registries.List{Slug: slug, CanCreate: true, Rows: []registries.Row{
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
	return []Exhibit{
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
