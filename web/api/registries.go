package api

import (
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// registry is what the API tells of one; its password is never told.
type registry struct {
	ID              uuid.UUID `json:"id"`
	CurrentRevision int       `json:"current_revision"`
	Name            string    `json:"name"`
	ImagesRepo      string    `json:"images_repo"`
	Scheme          string    `json:"scheme"`
	Username        string    `json:"username"`
	CA              string    `json:"ca"`
	CreatedAt       moment    `json:"created_at"`
	UpdatedAt       moment    `json:"updated_at"`
}

func registryOf(g store.Registry) registry {
	return registry{
		ID: g.ID, CurrentRevision: g.Revision, Name: g.Name, ImagesRepo: g.ImagesRepo, Scheme: g.Scheme, Username: g.Username, CA: g.Ca,
		CreatedAt: moment(g.CreatedAt), UpdatedAt: moment(g.ChangedAt),
	}
}

// wantedRegistry is the body of a creation or change. A password that is missing is kept.
type wantedRegistry struct {
	CurrentRevision *int    `json:"current_revision"`
	Name            *string `json:"name"`
	ImagesRepo      *string `json:"images_repo"`
	Username        string  `json:"username"`
	Password        *string `json:"password"`
	CA              string  `json:"ca"`
}

func (b wantedRegistry) body() fleet.RegistryBody {
	out := fleet.RegistryBody{Name: *b.Name, ImagesRepo: *b.ImagesRepo, Username: b.Username, Password: schema.Mask, CA: b.CA}
	if b.Password != nil {
		out.Password = *b.Password
	}
	return out
}

func (a *api) listRegistries(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.Registries(r.Context(), c.actor, c.workspace.ID)
	if err != nil {
		return err
	}
	out := make([]registry, 0, len(rows))
	for _, row := range rows {
		out = append(out, registryOf(row.Registry))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) createRegistry(w http.ResponseWriter, r *http.Request) error {
	var body wantedRegistry
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"name", body.Name != nil}, attribute{"images_repo", body.ImagesRepo != nil}); err != nil {
		return err
	}
	c := callerOf(r.Context())
	made, err := a.fleet.CreateRegistry(r.Context(), c.actor, c.workspace.ID, body.body())
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+made.ID.String())
	send(w, http.StatusCreated, registryOf(made))
	return nil
}

func (a *api) registryAt(r *http.Request) (store.Registry, error) {
	id, err := idOf(r)
	if err != nil {
		return store.Registry{}, err
	}
	return a.fleet.Registry(r.Context(), callerOf(r.Context()).actor, id)
}

func (a *api) showRegistry(w http.ResponseWriter, r *http.Request) error {
	found, err := a.registryAt(r)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, registryOf(found))
	return nil
}

func (a *api) changeRegistry(w http.ResponseWriter, r *http.Request) error {
	found, err := a.registryAt(r)
	if err != nil {
		return err
	}
	var body wantedRegistry
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{"name", body.Name != nil}, attribute{"images_repo", body.ImagesRepo != nil}, attribute{"current_revision", body.CurrentRevision != nil}); err != nil {
		return err
	}
	after, err := a.fleet.ChangeRegistry(r.Context(), callerOf(r.Context()).actor, found.ID, *body.CurrentRevision, body.body())
	if err != nil {
		return err
	}
	send(w, http.StatusOK, registryOf(after))
	return nil
}

func (a *api) deleteRegistry(w http.ResponseWriter, r *http.Request) error {
	found, err := a.registryAt(r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.DeleteRegistry(r.Context(), callerOf(r.Context()).actor, found.ID); err != nil {
		return err
	}
	send(w, http.StatusOK, registryOf(found))
	return nil
}

// registryChoice reads the registry of a cluster's body: nil when the body says nothing of it.
func (b wanted) registryChoice() (*fleet.RegistryChoice, error) {
	if b.RegistryID == nil && b.RegistryMode == nil {
		return nil, nil
	}
	choice := &fleet.RegistryChoice{}
	if b.RegistryMode != nil {
		choice.Mode = *b.RegistryMode
	}
	if b.RegistryID != nil {
		id, err := uuid.Parse(*b.RegistryID)
		if err != nil {
			return nil, fault.Fields(map[string]fault.Message{fleet.RegistryField: {Key: "registry.unknown"}})
		}
		choice.ID = &id
	}
	return choice, nil
}
