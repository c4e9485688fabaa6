package api

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/paths"
)

// longestTemplate bounds a request with a template, in bytes: as much as the API takes at all.
const longestTemplate = 4 << 20

// templateBody is what a program wants a template to be; what is nil stays as it is.
type templateBody struct {
	CurrentRevision *int    `json:"current_revision"`
	Name            *string `json:"name"`
	Comment         *string `json:"comment"`
	VersionComment  string  `json:"version_comment"`
	// ParamsText is the schema in YAML, Params the same in JSON; the text decides when both are sent.
	ParamsText *string               `json:"params_text"`
	Params     json.RawMessage       `json:"params"`
	Cluster    *string               `json:"cluster_configuration_template"`
	Provider   *string               `json:"provider_specific_cluster_configuration_template"`
	SSH        *string               `json:"ssh_configuration_template"`
	Init       *string               `json:"init_configuration_template"`
	Groups     *store.ResourceGroups `json:"kubernetes_resource_groups"`
}

// over completes a version with what was sent.
func (t templateBody) over(body fleet.TemplateVersionBody) fleet.TemplateVersionBody {
	body.Comment = t.VersionComment
	if len(t.Params) > 0 {
		body.Params, body.ParamsText = t.Params, ""
	}
	for _, text := range []struct{ sent, into *string }{
		{t.ParamsText, &body.ParamsText},
		{t.Cluster, &body.ClusterConfiguration},
		{t.Provider, &body.ProviderConfiguration},
		{t.SSH, &body.SSHConfiguration},
		{t.Init, &body.InitConfiguration},
	} {
		if text.sent != nil {
			*text.into = *text.sent
		}
	}
	if t.Groups != nil {
		body.ResourceGroups = *t.Groups
	}
	return body
}

func (a *api) createTemplate(w http.ResponseWriter, r *http.Request) error {
	var body templateBody
	if err := readUpTo(w, r, longestTemplate, &body); err != nil {
		return err
	}
	if err := require(attribute{"name", body.Name != nil}); err != nil {
		return err
	}
	c := callerOf(r.Context())
	wanted := fleet.NewTemplate{WorkspaceID: c.workspace.ID, Name: *body.Name, Body: body.over(fleet.TemplateVersionBody{})}
	if body.Comment != nil {
		wanted.Comment = *body.Comment
	}
	made, err := a.fleet.CreateTemplate(r.Context(), c.actor, wanted)
	if err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusCreated, made.ID)
}

// sendTemplate answers with a template and everything in its versions.
func (a *api) sendTemplate(w http.ResponseWriter, r *http.Request, code int, id uuid.UUID) error {
	found, versions, err := a.fleet.Template(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	if code == http.StatusCreated {
		w.Header().Set("Location", paths.RouteAPI+"/cluster_templates/"+id.String())
	}
	send(w, code, templateOf(found, versions, true))
	return nil
}

func (a *api) changeTemplate(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var body templateBody
	if err := readUpTo(w, r, longestTemplate, &body); err != nil {
		return err
	}
	if err := require(attribute{"current_revision", body.CurrentRevision != nil}); err != nil {
		return err
	}
	actor := callerOf(r.Context()).actor
	before, current, err := a.fleet.NumberedVersion(r.Context(), actor, id, 0)
	if err != nil {
		return err
	}
	version := body.over(fleet.BodyOf(current))
	wanted := fleet.TemplateChange{Revision: *body.CurrentRevision, Name: before.Name, Comment: before.Comment, Body: &version}
	if body.Name != nil {
		wanted.Name = *body.Name
	}
	if body.Comment != nil {
		wanted.Comment = *body.Comment
	}
	if _, err := a.fleet.ChangeTemplate(r.Context(), actor, id, wanted); err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusOK, id)
}

func (a *api) archiveTemplate(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.ArchiveTemplate(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusOK, id)
}

func (a *api) restoreTemplate(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.RestoreTemplate(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusOK, id)
}

func (a *api) importTemplate(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		File *string `json:"file"`
		Name string  `json:"name"`
	}
	if err := readUpTo(w, r, longestTemplate, &body); err != nil {
		return err
	}
	if err := require(attribute{"file", body.File != nil}); err != nil {
		return err
	}
	c := callerOf(r.Context())
	made, err := a.fleet.ImportTemplate(r.Context(), c.actor, c.workspace.ID, []byte(*body.File), body.Name, nil)
	if err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusCreated, made.ID)
}
