package console

import (
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/web/respond"
)

// NewCluster offers the templates of a workspace, or the form of the one that was chosen.
func (c *Console) NewCluster(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	chosen := r.URL.Query().Get("template")
	if chosen == "" {
		return c.templates(w, r, workspace)
	}
	templateID, err := uuid.Parse(chosen)
	if err != nil {
		return fault.New(fault.NotFound, "fault.not_found")
	}
	number, err := versionAsked(r, "version")
	if err != nil {
		return err
	}
	template, version, err := c.Fleet.NumberedVersion(r.Context(), actor(r), templateID, number)
	if err != nil {
		return err
	}
	if template.WorkspaceID != workspace.ID || template.ArchivedAt != nil {
		return fault.New(fault.NotFound, "fault.not_found")
	}
	if !version.Available {
		return fault.New(fault.Conflict, "template.version.unavailable")
	}
	d, err := c.draft(r, workspace, version.ID)
	if err != nil {
		return err
	}
	t := typed{nonce: uuid.NewString(), parameters: parameters{values: typedFrom(d.schema, d.schema.Defaults())}}
	form, _, err := c.newForm(r, d, t, nil)
	if err != nil {
		return err
	}
	return c.newPage(w, r, http.StatusOK, workspace, form)
}

func (c *Console) templates(w http.ResponseWriter, r *http.Request, workspace store.Workspace) error {
	cards, err := c.templateCards(r, workspace)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("new.choose"), section: layout.SectionClusters, workspace: &workspace,
		content: clusters.TemplatesBody(clusters.Templates{Slug: workspace.Slug, Cards: cards}),
	})
}

// templateCards are the templates from which a cluster can be made now.
func (c *Console) templateCards(r *http.Request, workspace store.Workspace) ([]clusters.TemplateCard, error) {
	rows, err := c.Fleet.Templates(r.Context(), actor(r), workspace.ID, false)
	if err != nil {
		return nil, err
	}
	var cards []clusters.TemplateCard
	for _, row := range rows {
		t := row.ClusterTemplate
		if t.CurrentVersionID == nil || row.CurrentAvailable == nil || !*row.CurrentAvailable {
			continue
		}
		d, err := c.draft(r, workspace, *t.CurrentVersionID)
		if err != nil {
			return nil, err
		}
		cards = append(cards, clusters.TemplateCard{
			ID: t.ID.String(), Name: t.Name, Comment: fleet.TextIn(language(r.Context()), "", t.Comment), Version: d.version.Number, Parameters: len(d.schema.Fields()),
		})
	}
	return cards, nil
}

// draft is what the form of a cluster is made from.
type draft struct {
	workspace store.Workspace
	template  store.ClusterTemplate
	version   store.ClusterTemplateVersion
	schema    schema.Schema
}

func (c *Console) draft(r *http.Request, workspace store.Workspace, version uuid.UUID) (draft, error) {
	d := draft{workspace: workspace}
	var err error
	d.template, d.version, d.schema, err = c.Fleet.TemplateVersion(r.Context(), actor(r), workspace.ID, version)
	d.schema = fleet.SchemaIn(language(r.Context()), d.schema)
	return d, err
}

// newForm is the form of a new cluster as it was typed, with what it would make. problems finds
// those that are shown beside the controls; nil shows none.
func (c *Console) newForm(r *http.Request, d draft, t typed, problems func(fleet.Preview) map[string]fault.Message) (clusters.Form, fleet.Preview, error) {
	preview, err := c.Fleet.PreviewCluster(r.Context(), actor(r), d.workspace.ID, d.version.ID, nil, t.valuesFor(d.schema, nil))
	if err != nil {
		return clusters.Form{}, preview, err
	}
	source, err := c.parameterSource(r, d, &t, uuid.Nil, nil, preview.Records, paths.NewPreview(d.workspace.Slug))
	if err != nil {
		return clusters.Form{}, preview, err
	}
	var found map[string]fault.Message
	if problems != nil {
		found = problems(preview)
	}
	registry, err := c.registryFieldsOf(r, d.workspace, t.registryOf(fleet.RegistryChoice{}), false, found)
	return clusters.Form{
		Slug: d.workspace.Slug, TemplateID: d.template.ID.String(), Template: d.template.Name,
		Version: d.version.Number, VersionID: d.version.ID.String(), Nonce: t.nonce,
		Name: nameField(r.Context(), t.name, found), Registry: registry, Blocks: source.blocks(r.Context(), found),
		Sections: sections(preview.Shown, preview.Errors),
		CanSave:  fleet.May(actor(r).Role(d.workspace.ID), fleet.ClustersEdit),
	}, preview, err
}

func (c *Console) newPage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, form clusters.Form) error {
	return c.show(w, r, status, page{
		title: i18n.M("new.title"), section: layout.SectionClusters, workspace: &workspace, content: clusters.NewBody(form),
	})
}

// CreateCluster saves a new cluster and installs it unless only saving was asked for. What cannot
// be saved comes back as it was typed.
func (c *Console) CreateCluster(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t, err := typedIn(r)
	if err != nil {
		return err
	}
	d, err := c.draft(r, workspace, t.versionID)
	if err != nil {
		return err
	}
	registry := t.registryOf(fleet.RegistryChoice{})
	cluster, task, err := c.Fleet.CreateCluster(r.Context(), actor(r), fleet.NewCluster{
		RegistryID: registry.ID, RegistryMode: registry.Mode,
		WorkspaceID: workspace.ID, Name: t.name, TemplateVersionID: t.versionID, Values: t.valuesFor(d.schema, nil),
		Nonce: t.formNonce(), Install: t.action != clusters.ActionSave, KeepErrors: t.action == clusters.ActionSave,
	})
	if refusal, is := refused(err); is {
		form, preview, err := c.newForm(r, d, t, told(refusal))
		if err != nil {
			return err
		}
		form.Message = summary(&form, refusal, preview.Errors)
		return c.newPage(w, r, respond.Status(refusal), workspace, form)
	}
	switch {
	case err != nil:
		return err
	case task != nil:
		return respond.SeeOther(w, r, paths.Task(task.ID.String()))
	}
	return respond.SeeOther(w, r, paths.Cluster(cluster.ID.String()))
}

// PreviewNew renders the form of a new cluster while it is filled in.
func (c *Console) PreviewNew(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t, err := typedIn(r)
	if err != nil {
		return err
	}
	d, err := c.draft(r, workspace, t.versionID)
	if err != nil {
		return err
	}
	form, _, err := c.newForm(r, d, t, whileTyping)
	if err != nil {
		return err
	}
	return c.show(w, r, http.StatusOK, page{
		title: i18n.M("new.title"), section: layout.SectionClusters, workspace: &workspace, content: clusters.NewBody(form),
		fragment: previewFragment(r, form),
	})
}
