package api

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/web/respond"
)

// moment is a time as the API writes it: ISO 8601 with milliseconds and offset.
type moment time.Time

func (m moment) MarshalText() ([]byte, error) {
	return []byte(time.Time(m).UTC().Format("2006-01-02T15:04:05.000-07:00")), nil
}

func optional(t *time.Time) *moment {
	if t == nil {
		return nil
	}
	m := moment(*t)
	return &m
}

// summary is what the list tells of a cluster.
type summary struct {
	ID                 uuid.UUID           `json:"id"`
	Name               string              `json:"name"`
	Status             store.ClusterStatus `json:"status"`
	CurrentRevision    int                 `json:"current_revision"`
	WasCreated         bool                `json:"was_created"`
	IsLocked           bool                `json:"is_locked"`
	Labels             store.Labels        `json:"labels"`
	AgentStatus        string              `json:"agent_status"`
	ResourcesSyncState store.SyncState     `json:"resources_sync_state"`
	CreatedAt          moment              `json:"created_at"`
	UpdatedAt          moment              `json:"updated_at"`
	ArchivedAt         *moment             `json:"archived_at"`
	ArchiveNumber      *int                `json:"archive_number"`
}

// Words for agent_status.
const (
	agentUnknown      = "unknown" // it has never spoken
	agentConnected    = "connected"
	agentDisconnected = "disconnected"
)

func (a *api) summaryOf(line store.ClusterLine) summary {
	s := summary{
		ID: line.ID, Name: line.Name, Status: line.Status, CurrentRevision: line.Revision, WasCreated: line.WasCreated, IsLocked: line.IsLocked, Labels: line.Labels,
		AgentStatus: agentConnected, ResourcesSyncState: a.fleet.SyncState(line.ReportedAt, line.SyncState),
		CreatedAt: moment(line.CreatedAt), UpdatedAt: moment(line.ChangedAt), ArchivedAt: optional(line.ArchivedAt), ArchiveNumber: line.ArchiveNumber,
	}
	switch {
	case line.ReportedAt == nil:
		s.AgentStatus = agentUnknown
	case s.ResourcesSyncState == fleet.NoData:
		s.AgentStatus = agentDisconnected
	}
	return s
}

// cluster is all that the API tells of one. Rendered texts have masks in place of secrets.
type cluster struct {
	summary
	Values                                         store.Values     `json:"values"`
	ClusterType                                    string           `json:"cluster_type"`
	SSHPublicKey                                   string           `json:"ssh_public_key"`
	ClusterTemplateVersionID                       *uuid.UUID       `json:"cluster_template_version_id"`
	ClusterTemplateVersionSwitchedAt               *moment          `json:"cluster_template_version_switched_at"`
	RegistryID                                     *uuid.UUID       `json:"registry_id"`
	RegistryMode                                   *string          `json:"registry_mode"`
	AgentAPIKey                                    *string          `json:"agent_api_key"`
	ClusterConfigurationAppliedAt                  *moment          `json:"cluster_configuration_applied_at"`
	ClusterConfigurationCheckedAt                  *moment          `json:"cluster_configuration_checked_at"`
	ResourcesCheckedAt                             *moment          `json:"resources_checked_at"`
	ResourcesAppliedAt                             *moment          `json:"resources_applied_at"`
	ResourcesStateResults                          []resourceResult `json:"resources_state_results"`
	SSHConfigurationRendered                       string           `json:"ssh_configuration_rendered"`
	InitConfigurationRendered                      string           `json:"init_configuration_rendered"`
	InitResourcesRendered                          *string          `json:"init_resources_rendered"`
	DhctlConfigurationRendered                     string           `json:"dhctl_configuration_rendered"`
	AppliedClusterConfigurationRendered            *string          `json:"applied_cluster_configuration_rendered"`
	AppliedProviderSpecificClusterConfiguration    *string          `json:"applied_provider_specific_cluster_configuration_rendered"`
	AppliedResourcesRendered                       *string          `json:"applied_resources_rendered"`
	DesiredClusterConfigurationRendered            string           `json:"desired_cluster_configuration_rendered"`
	DesiredProviderSpecificClusterConfiguration    string           `json:"desired_provider_specific_cluster_configuration_rendered"`
	DesiredResourcesRendered                       string           `json:"desired_resources_rendered"`
	ClusterKubernetesResourceGroupVersionsRendered []renderedGroup  `json:"cluster_kubernetes_resource_group_versions_rendered"`
	RenderErrors                                   []renderError    `json:"render_errors"`
	ClusterAgentData                               []agentData      `json:"cluster_agent_data"`
	ConnectionHosts                                connectionHosts  `json:"connection_hosts"`
}

type renderedGroup struct {
	Name       string `json:"name"`
	Controlled bool   `json:"controlled"`
	Rendered   string `json:"rendered"`
}

type renderError struct {
	// Section is a section of the configuration, or a parameter's key.
	Section string `json:"section"`
	Message string `json:"message"`
}

type connectionHosts struct {
	Masters []host `json:"masters"`
}

type host struct {
	Host string `json:"host"`
	User string `json:"user"`
}

func (a *api) clusterOf(ctx context.Context, view fleet.ClusterView) cluster {
	wanted := view.Wanted.Rendering.Shown
	c := cluster{
		summary: a.summaryOf(view.Line), Values: view.Wanted.Shown, ClusterType: view.ClusterType, SSHPublicKey: view.SshPublicKey,
		RegistryID: view.RegistryID, RegistryMode: &view.RegistryMode, ClusterTemplateVersionID: view.TemplateVersionID, ClusterTemplateVersionSwitchedAt: optional(view.TemplateSwitchedAt),
		ClusterConfigurationAppliedAt: optional(view.AppliedAt), ClusterConfigurationCheckedAt: optional(view.CheckedAt),
		ResourcesStateResults: []resourceResult{}, ClusterAgentData: []agentData{}, ConnectionHosts: connectionHosts{Masters: []host{}},
		SSHConfigurationRendered:            wanted.SSHConfiguration,
		InitConfigurationRendered:           wanted.InitConfiguration,
		DhctlConfigurationRendered:          documents(wanted.ClusterConfiguration, wanted.ProviderConfiguration, wanted.InitConfiguration),
		DesiredClusterConfigurationRendered: wanted.ClusterConfiguration, DesiredProviderSpecificClusterConfiguration: wanted.ProviderConfiguration,
		DesiredResourcesRendered:                       resources(wanted.Groups),
		ClusterKubernetesResourceGroupVersionsRendered: groupsOf(wanted.Groups), RenderErrors: errorsOf(ctx, view.Wanted.RenderErrors),
	}
	if view.AppliedRevision != nil {
		applied := wanted
		if view.Applied != nil {
			applied = view.Applied.Rendering.Shown
		}
		kept := resources(applied.Groups)
		c.AppliedClusterConfigurationRendered = &applied.ClusterConfiguration
		c.AppliedProviderSpecificClusterConfiguration = &applied.ProviderConfiguration
		c.AppliedResourcesRendered = &kept
	}
	if view.Report != nil {
		c.addReport(view)
	}
	return c
}

func errorsOf(ctx context.Context, errors store.RenderErrors) []renderError {
	out := make([]renderError, 0, len(errors))
	for _, e := range errors {
		out = append(out, renderError{Section: e.Section, Message: said(ctx, fault.Message{Key: e.Key, Args: e.Args})})
	}
	return out
}

// said is a message of the rules in the language of the request.
func said(ctx context.Context, m fault.Message) string { return respond.Sentence(m).In(ctx) }

// documents joins YAML documents, leaving out those that are empty.
func documents(texts ...string) string {
	var kept []string
	for _, text := range texts {
		if text = strings.TrimPrefix(text, "---\n"); strings.TrimSpace(text) != "" {
			kept = append(kept, strings.TrimSuffix(text, "\n")+"\n")
		}
	}
	return strings.Join(kept, "---\n")
}

func resources(groups []store.RenderedGroup) string {
	texts := make([]string, len(groups))
	for i, g := range groups {
		texts[i] = g.Manifests
	}
	return documents(texts...)
}
