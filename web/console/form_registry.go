package console

import (
	"net/http"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/ui"
)

// registryFieldsOf are the controls of where a cluster's platform comes from: none when the
// workspace has no registries. installed says that the platform was installed from it already.
func (c *Console) registryFieldsOf(r *http.Request, workspace store.Workspace, chosen fleet.RegistryChoice, installed bool, problems map[string]fault.Message) ([]ui.Field, error) {
	if fleet.Allowed(actor(r), fleet.RegistriesView, workspace.ID) != nil {
		return nil, nil
	}
	rows, err := c.Fleet.Registries(r.Context(), actor(r), workspace.ID)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ctx := r.Context()
	where := ui.Field{
		Name: clusters.FieldRegistry, Kind: ui.Select, Span: 2, Title: i18n.T(ctx, "form.registry"), Hint: i18n.T(ctx, "form.registry_hint"),
		Optional: true, Placeholder: i18n.T(ctx, "form.registry_own"), Locked: installed, Problem: i18n.Message(problems[fleet.RegistryField]),
	}
	if chosen.ID != nil {
		where.Value = chosen.ID.String()
	}
	for _, row := range rows {
		where.Options = append(where.Options, ui.Option{Value: row.Registry.ID.String(), Text: row.Registry.Name, Note: row.Registry.ImagesRepo})
	}
	mode := ui.Field{
		Name: clusters.FieldRegistryMode, Kind: ui.Select, Span: 2, Title: i18n.T(ctx, "form.registry_mode"), Hint: i18n.T(ctx, "form.registry_mode_hint"),
		Value: chosen.Mode, Locked: installed, Problem: i18n.Message(problems[fleet.RegistryModeField]),
		Options: []ui.Option{{Value: fleet.RegistryDirect, Text: fleet.RegistryDirect}, {Value: fleet.RegistryUnmanaged, Text: fleet.RegistryUnmanaged}},
	}
	if mode.Value == "" {
		mode.Value = fleet.RegistryDirect
	}
	return []ui.Field{where, mode}, nil
}

// registryOf is the choice of a form, or the one that is saved when the form did not ask.
func (t typed) registryOf(saved fleet.RegistryChoice) fleet.RegistryChoice {
	if t.registry == nil {
		return saved
	}
	return *t.registry
}
