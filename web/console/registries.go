package console

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/registries"
	"commander/views/ui"
	"commander/web/respond"
)

// Registries lists the registries of a workspace.
func (c *Console) Registries(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	rows, err := c.Fleet.Registries(r.Context(), actor(r), workspace.ID)
	if err != nil {
		return err
	}
	list := registries.List{Slug: workspace.Slug, Any: len(rows) > 0, CanCreate: fleet.May(actor(r).Role(workspace.ID), fleet.RegistriesEdit)}
	all := make([]registries.Row, 0, len(rows))
	for _, row := range rows {
		g := row.Registry
		all = append(all, registries.Row{
			ID: g.ID.String(), Name: g.Name, Address: addressOf(g), User: g.Username, CustomCA: g.Ca != "",
			Clusters: int(row.Clusters), CreatedBy: g.CreatedBy, CreatedAt: g.CreatedAt,
		})
	}
	query, total := paths.ParseQuery(r.URL.Query()), 0
	list.Rows, total = registryRows.find(c, query, all)
	list.Table = c.table(query, paths.Registries(workspace.Slug), registries.SortName, "registries.filter", len(list.Rows), total)
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("registries.title"), section: layout.SectionRegistries, workspace: &workspace, content: registries.ListBody(list),
	})
}

var registryRows = handful[registries.Row]{
	text: func(row registries.Row) string { return row.Name + " " + row.Address + " " + row.User },
	orders: map[string]func(a, b registries.Row) int{
		registries.SortName:     byName(func(row registries.Row) string { return row.Name }),
		registries.SortAddress:  byName(func(row registries.Row) string { return row.Address }),
		registries.SortClusters: by(func(row registries.Row) int { return row.Clusters }),
		registries.SortCreated:  by(func(row registries.Row) int64 { return row.CreatedAt.UnixNano() }),
	},
}

// addressOf is what a person typed to name the registry.
func addressOf(g store.Registry) string {
	if g.Scheme == "http" {
		return "http://" + g.ImagesRepo
	}
	return g.ImagesRepo
}

// registryTyped is the form of a registry as a person left it.
type registryTyped struct {
	fleet.RegistryBody
	forget   bool // the saved password
	revision int
}

// NewRegistry is the form of a new registry.
func (c *Console) NewRegistry(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.registryPage(w, r, http.StatusOK, workspace, nil, registryTyped{}, nil, nil)
}

// registryPage answers with the form; saved is nil for a new registry.
func (c *Console) registryPage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, saved *store.Registry,
	typed registryTyped, refusal *fault.Error, found *registries.Releases,
) error {
	form := registries.Form{
		Slug: workspace.Slug, CanSave: fleet.May(actor(r).Role(workspace.ID), fleet.RegistriesEdit), Releases: found,
		Revision: strconv.Itoa(typed.revision),
	}
	title := i18n.M("registries.new")
	var problems map[string]fault.Message
	if refusal != nil {
		problems, form.Message = refusal.Fields, respond.Message(refusal)
	}
	if saved != nil {
		form.ID, form.Name = saved.ID.String(), saved.Name
		title = i18n.Plain(saved.Name)
		rows, err := c.Fleet.Registries(r.Context(), actor(r), workspace.ID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Registry.ID == saved.ID {
				form.Clusters = int(row.Clusters)
			}
		}
	}
	form.Fields = registryFields(r.Context(), typed, saved, problems)
	return c.show(w, r, status, page{
		title: title, section: layout.SectionRegistries, workspace: &workspace, content: registries.FormBody(form),
	})
}

func registryFields(ctx context.Context, typed registryTyped, saved *store.Registry, problems map[string]fault.Message) []ui.Field {
	stored := saved != nil && saved.Username != ""
	fields := []ui.Field{
		{Name: registries.FieldName, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "registries.name"), Value: typed.Name},
		{
			Name: registries.FieldAddress, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "registries.address"),
			Hint: i18n.T(ctx, "registries.address_hint"), Value: typed.ImagesRepo, Placeholder: "registry.example.com/platform/ee",
		},
		{Name: registries.FieldUser, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "registries.user"), Value: typed.Username, Optional: true},
		{Name: registries.FieldPassword, Kind: ui.Password, Span: 2, Title: i18n.T(ctx, "registries.password"), Optional: true, Stored: stored},
	}
	if stored {
		fields = append(fields, ui.Field{
			Name: registries.FieldForget, Kind: ui.Checkbox, Span: 4, Title: i18n.T(ctx, "registries.forget"), Value: strconv.FormatBool(typed.forget),
		})
	}
	fields = append(fields, ui.Field{
		Name: registries.FieldCA, Kind: ui.Area, Span: 4, Title: i18n.T(ctx, "registries.ca"), Hint: i18n.T(ctx, "registries.ca_hint"),
		Value: typed.CA, Placeholder: "-----BEGIN CERTIFICATE-----", Optional: true,
	})
	focusProblem(fields, problems)
	return fields
}

func registryTypedIn(r *http.Request) (registryTyped, error) {
	if err := parseForm(r); err != nil {
		return registryTyped{}, err
	}
	form := r.PostForm
	t := registryTyped{RegistryBody: fleet.RegistryBody{
		Name: form.Get(registries.FieldName), ImagesRepo: form.Get(registries.FieldAddress),
		Username: form.Get(registries.FieldUser), Password: form.Get(registries.FieldPassword), CA: form.Get(registries.FieldCA),
	}, forget: form.Get(registries.FieldForget) == "true"}
	var err error
	if text := form.Get(registries.FieldRevision); text != "" {
		if t.revision, err = strconv.Atoi(text); err != nil {
			return t, fault.Wrap(fault.Invalid, err, "fault.form")
		}
	}
	return t, nil
}

// CreateRegistry notes a new registry.
func (c *Console) CreateRegistry(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	typed, err := registryTypedIn(r)
	if err != nil {
		return err
	}
	made, err := c.Fleet.CreateRegistry(r.Context(), actor(r), workspace.ID, typed.RegistryBody)
	if refusal, is := refused(err); is {
		return c.registryPage(w, r, respond.Status(refusal), workspace, nil, typed, refusal, nil)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Registry(workspace.Slug, made.ID.String()))
}

// registry is the one in a request's address, in the workspace of the same address.
func (c *Console) registry(r *http.Request) (store.Workspace, store.Registry, error) {
	workspace, err := c.workspace(r)
	if err != nil {
		return workspace, store.Registry{}, err
	}
	parsed, err := id(r)
	if err != nil {
		return workspace, store.Registry{}, err
	}
	found, err := c.Fleet.Registry(r.Context(), actor(r), parsed)
	if err == nil && found.WorkspaceID != workspace.ID {
		err = fault.New(fault.NotFound, "fault.not_found")
	}
	return workspace, found, err
}

func typedFromRegistry(g store.Registry) registryTyped {
	return registryTyped{RegistryBody: fleet.RegistryBody{
		Name: g.Name, ImagesRepo: addressOf(g), Username: g.Username, CA: g.Ca,
	}, revision: g.Revision}
}

// Registry is the form of a registry.
func (c *Console) Registry(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.registry(r)
	if err != nil {
		return err
	}
	return c.registryPage(w, r, http.StatusOK, workspace, &found, typedFromRegistry(found), nil, nil)
}

// RegistryReleases contacts a registry and tells what it has, or what is wrong with it.
func (c *Console) RegistryReleases(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.registry(r)
	if err != nil {
		return err
	}
	releases, err := c.Fleet.Releases(r.Context(), actor(r), found.ID)
	shown := &registries.Releases{}
	var known *fault.Error
	switch {
	case errors.As(err, &known) && known.Key != "fault.database_away":
		shown.Problem = respond.Message(known)
		if known.Cause != nil {
			shown.Detail = known.Cause.Error()
		}
	case err != nil:
		return err
	}
	for _, release := range releases {
		shown.Rows = append(shown.Rows, registries.Release(release))
	}
	return c.registryPage(w, r, http.StatusOK, workspace, &found, typedFromRegistry(found), nil, shown)
}

// SaveRegistry replaces what is known of a registry. An empty password keeps the saved one.
func (c *Console) SaveRegistry(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.registry(r)
	if err != nil {
		return err
	}
	typed, err := registryTypedIn(r)
	if err != nil {
		return err
	}
	body := typed.RegistryBody
	if body.Password == "" && !typed.forget && body.Username != "" {
		body.Password = schema.Mask
	}
	_, err = c.Fleet.ChangeRegistry(r.Context(), actor(r), found.ID, typed.revision, body)
	if refusal, is := refused(err); is {
		return c.registryPage(w, r, respond.Status(refusal), workspace, &found, typed, refusal, nil)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Registries(workspace.Slug))
}

// DeleteRegistry forgets a registry that no cluster uses.
func (c *Console) DeleteRegistry(w http.ResponseWriter, r *http.Request) error {
	workspace, found, err := c.registry(r)
	if err != nil {
		return err
	}
	if _, err := c.Fleet.DeleteRegistry(r.Context(), actor(r), found.ID); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Registries(workspace.Slug))
}
