package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// version reads a template version of a workspace; one of another workspace is as unknown as none.
func (f *Fleet) version(ctx context.Context, workspaceID, versionID uuid.UUID) (store.ClusterTemplateVersion, error) {
	version, err := f.Store.TemplateVersion(ctx, versionID)
	if err != nil {
		return version, unknownVersion(err)
	}
	template, err := f.Store.Template(ctx, version.TemplateID)
	if err != nil {
		return version, unknownVersion(err)
	}
	if template.WorkspaceID != workspaceID {
		return version, fault.Fields(map[string]fault.Message{VersionField: {Key: "template.version.unknown"}})
	}
	return version, nil
}

// VersionField is the key under which problems with the template version are told.
const VersionField = "cluster_template_version_id"

func unknownVersion(err error) error {
	if notThere(err) {
		return fault.Fields(map[string]fault.Message{VersionField: {Key: "template.version.unknown"}})
	}
	return store.AsFault(err)
}

// usableVersion reads a version that clusters may be made from.
func (f *Fleet) usableVersion(ctx context.Context, workspaceID, versionID uuid.UUID) (store.ClusterTemplateVersion, error) {
	version, err := f.version(ctx, workspaceID, versionID)
	if err != nil {
		return version, err
	}
	if !version.Available {
		return version, fault.Fields(map[string]fault.Message{VersionField: {Key: "template.version.unavailable"}})
	}
	template, err := f.Store.Template(ctx, version.TemplateID)
	if err != nil {
		return version, unknownVersion(err)
	}
	if template.ArchivedAt != nil {
		return version, fault.Fields(map[string]fault.Message{VersionField: {Key: "template.version.archived"}})
	}
	return version, nil
}

// versionFor reads the version that a cluster is to have: the one that it has may be used on,
// even when no new cluster may get it.
func (f *Fleet) versionFor(ctx context.Context, cluster store.Cluster, versionID uuid.UUID) (store.ClusterTemplateVersion, error) {
	if cluster.TemplateVersionID != nil && *cluster.TemplateVersionID == versionID {
		return f.version(ctx, cluster.WorkspaceID, versionID)
	}
	return f.usableVersion(ctx, cluster.WorkspaceID, versionID)
}

// Templates lists the templates of a workspace.
func (f *Fleet) Templates(ctx context.Context, actor Actor, workspaceID uuid.UUID, withArchived bool) ([]store.TemplatesRow, error) {
	if err := Allowed(actor, TemplatesView, workspaceID); err != nil {
		return nil, err
	}
	rows, err := f.Store.Templates(ctx, store.TemplatesParams{WorkspaceID: workspaceID, WithArchived: withArchived})
	return rows, store.AsFault(err)
}

// Template is one template with all its versions, the newest first.
func (f *Fleet) Template(ctx context.Context, actor Actor, id uuid.UUID) (store.ClusterTemplate, []store.ClusterTemplateVersion, error) {
	template, err := f.Store.Template(ctx, id)
	if err != nil {
		return template, nil, store.AsFault(err)
	}
	if err := Allowed(actor, TemplatesView, template.WorkspaceID); err != nil {
		return template, nil, err
	}
	versions, err := f.Store.TemplateVersions(ctx, id)
	return template, versions, store.AsFault(err)
}

// TemplateVersion is a version of a template of the workspace, with its schema.
func (f *Fleet) TemplateVersion(ctx context.Context, actor Actor, workspaceID, id uuid.UUID) (store.ClusterTemplate, store.ClusterTemplateVersion, schema.Schema, error) {
	if err := Allowed(actor, TemplatesView, workspaceID); err != nil {
		return store.ClusterTemplate{}, store.ClusterTemplateVersion{}, nil, err
	}
	version, err := f.version(ctx, workspaceID, id)
	if err != nil {
		return store.ClusterTemplate{}, version, nil, fault.Wrap(fault.NotFound, err, "fault.not_found")
	}
	template, err := f.Store.Template(ctx, version.TemplateID)
	if err != nil {
		return template, version, nil, store.AsFault(err)
	}
	parameters, err := parametersOf(version)
	return template, version, parameters, err
}

// addVersion gives a template its next version and makes it current. The body is prepared and
// was checked.
func (f *Fleet) addVersion(ctx context.Context, tx *store.Tx, actor Actor, templateID uuid.UUID, body TemplateVersionBody) (store.ClusterTemplateVersion, error) {
	if _, err := tx.TemplateForUpdate(ctx, templateID); err != nil {
		return store.ClusterTemplateVersion{}, err
	}
	version, err := tx.InsertTemplateVersion(ctx, store.InsertTemplateVersionParams{
		TemplateID: templateID, Comment: body.Comment, Params: body.Params, ParamsText: body.ParamsText,
		ClusterConfiguration: body.ClusterConfiguration, ProviderConfiguration: body.ProviderConfiguration,
		SshConfiguration: body.SSHConfiguration, InitConfiguration: body.InitConfiguration, ResourceGroups: body.ResourceGroups, CreatedBy: actor.Signature(),
	})
	if err != nil {
		return version, fmt.Errorf("write a version of template %s: %w", templateID, err)
	}
	err = tx.SetCurrentTemplateVersion(ctx, store.SetCurrentTemplateVersionParams{ID: templateID, CurrentVersionID: &version.ID})
	return version, err
}
