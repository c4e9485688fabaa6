package api

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
)

type template struct {
	ID                              uuid.UUID         `json:"id"`
	Name                            string            `json:"name"`
	Comment                         string            `json:"comment"`
	CurrentClusterTemplateVersionID *uuid.UUID        `json:"current_cluster_template_version_id"`
	CurrentRevision                 int               `json:"current_revision"`
	Immutable                       bool              `json:"immutable"`
	ClusterTemplateVersions         []templateVersion `json:"cluster_template_versions"`
	CreatedAt                       moment            `json:"created_at"`
	UpdatedAt                       moment            `json:"updated_at"`
	ArchivedAt                      *moment           `json:"archived_at"`
	ArchiveNumber                   *int              `json:"archive_number"`
}

type templateVersion struct {
	ID                uuid.UUID       `json:"id"`
	ClusterTemplateID uuid.UUID       `json:"cluster_template_id"`
	Name              string          `json:"name"` // of the template
	Comment           string          `json:"comment"`
	Version           int             `json:"version"`
	Params            json.RawMessage `json:"params"`
	InputSchema       json.RawMessage `json:"input_schema"` // the same, under the name that some programs look for
	Available         bool            `json:"available"`
	CreatedBy         string          `json:"created_by"`
	CreatedAt         moment          `json:"created_at"`
	*bodies
}

// bodies are the templates of the sections; the list leaves them out.
type bodies struct {
	ParamsText                                   string                `json:"params_text"` // params as their author wrote them, in YAML
	ClusterConfigurationTemplate                 string                `json:"cluster_configuration_template"`
	ProviderSpecificClusterConfigurationTemplate string                `json:"provider_specific_cluster_configuration_template"`
	SSHConfigurationTemplate                     string                `json:"ssh_configuration_template"`
	InitConfigurationTemplate                    string                `json:"init_configuration_template"`
	KubernetesResourceGroups                     []store.ResourceGroup `json:"kubernetes_resource_groups"`
}

func templateOf(t store.ClusterTemplate, versions []store.ClusterTemplateVersion, whole bool) template {
	out := template{
		ID: t.ID, Name: t.Name, Comment: t.Comment, CurrentClusterTemplateVersionID: t.CurrentVersionID, CurrentRevision: t.CurrentRevision,
		Immutable: t.Immutable, ClusterTemplateVersions: []templateVersion{},
		CreatedAt: moment(t.CreatedAt), UpdatedAt: moment(t.ChangedAt), ArchivedAt: optional(t.ArchivedAt), ArchiveNumber: t.ArchiveNumber,
	}
	for _, v := range versions {
		out.ClusterTemplateVersions = append(out.ClusterTemplateVersions, versionOf(t, v, whole))
	}
	return out
}

func versionOf(t store.ClusterTemplate, v store.ClusterTemplateVersion, whole bool) templateVersion {
	version := templateVersion{
		ID: v.ID, ClusterTemplateID: t.ID, Name: t.Name, Comment: v.Comment, Version: v.Number, Params: v.Params, InputSchema: v.Params,
		Available: v.Available, CreatedBy: v.CreatedBy, CreatedAt: moment(v.CreatedAt),
	}
	if whole {
		version.bodies = &bodies{fleet.BodyOf(v).ParamsText, v.ClusterConfiguration, v.ProviderConfiguration, v.SshConfiguration, v.InitConfiguration, v.ResourceGroups}
	}
	return version
}

func (a *api) listTemplates(w http.ResponseWriter, r *http.Request) error {
	c := callerOf(r.Context())
	rows, err := a.fleet.Templates(r.Context(), c.actor, c.workspace.ID, r.URL.Query().Get("without_archived") != "true")
	if err != nil {
		return err
	}
	out := make([]template, 0, len(rows))
	for _, row := range rows {
		_, versions, err := a.fleet.Template(r.Context(), c.actor, row.ClusterTemplate.ID)
		if err != nil && !fault.Is(err, fault.NotFound) { // it was removed meanwhile
			return err
		}
		out = append(out, templateOf(row.ClusterTemplate, versions, false))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) showTemplate(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	return a.sendTemplate(w, r, http.StatusOK, id)
}
