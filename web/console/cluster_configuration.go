package console

import (
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// staleRevision is the key by which the fleet says that somebody was faster.
const staleRevision = "cluster.stale_revision"

// Configuration shows the parameters of a cluster and what becomes of them.
func (c *Console) Configuration(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if view.TemplateVersionID == nil {
		return c.unmade(w, r, view)
	}
	d, err := c.draftOf(r, view, uuid.Nil)
	if err != nil {
		return err
	}
	t := typed{name: view.Name, revision: view.Revision, parameters: parameters{values: typedFrom(d.schema, view.Wanted.Shown)}}
	saved := func(fleet.Preview) map[string]fault.Message { return parameterProblems(view.Wanted.RenderErrors) }
	form, _, err := c.changeForm(r, d, view, t, saved)
	if err != nil {
		return err
	}
	return c.configurationPage(w, r, http.StatusOK, view, form)
}

// draftOf is what a cluster's form is made from: the version that was sent with it, or the one
// that the cluster has.
func (c *Console) draftOf(r *http.Request, view fleet.ClusterView, version uuid.UUID) (draft, error) {
	if version == uuid.Nil {
		if view.TemplateVersionID == nil {
			return draft{}, fault.New(fault.NotFound, "fault.not_found")
		}
		version = *view.TemplateVersionID
	}
	return c.draft(r, view.Workspace, version)
}

// changeForm is the form of an existing cluster as it was typed, with what it would make.
func (c *Console) changeForm(r *http.Request, d draft, view fleet.ClusterView, t typed, problems func(fleet.Preview) map[string]fault.Message) (clusters.Form, fleet.Preview, error) {
	saved := view.Wanted.Shown
	preview, err := c.Fleet.PreviewCluster(r.Context(), actor(r), view.WorkspaceID, d.version.ID, &view.ID, t.valuesFor(d.schema, saved))
	if err != nil {
		return clusters.Form{}, preview, err
	}
	source, err := c.parameterSource(r, d, &t, view.ID, saved, preview.Records, paths.ClusterPreview(view.ID.String()))
	if err != nil {
		return clusters.Form{}, preview, err
	}
	found := problems(preview)
	registry, err := c.registryFieldsOf(r, view.Workspace, t.registryOf(fleet.RegistryChoice{ID: view.RegistryID, Mode: view.RegistryMode}), view.WasCreated, found)
	return clusters.Form{
		Slug: view.Workspace.Slug, ClusterID: view.ID.String(), TemplateID: d.template.ID.String(), Template: d.template.Name,
		Version: d.version.Number, VersionID: d.version.ID.String(), Revision: strconv.Itoa(t.revision),
		Name: nameField(r.Context(), t.name, found), Registry: registry, Blocks: source.blocks(r.Context(), found),
		Sections: sections(preview.Shown, preview.Errors), CanSave: canDo(view, actor(r)).Edit, Draft: !view.WasCreated,
	}, preview, err
}

func (c *Console) configurationPage(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, form clusters.Form) error {
	tab := clusters.Configuration{
		Head: c.head(view, actor(r), clusters.TabConfiguration), Form: form, AppliedAt: moment(view.AppliedAt),
	}
	if view.Applied != nil {
		tab.Diffs = differences(view.Wanted.Rendering.Shown, view.Applied.Rendering.Shown)
	}
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("cluster.tab.configuration"), content: clusters.ConfigurationBody(tab)})
}

// SaveConfiguration gives a cluster new parameters. What cannot be saved comes back as it was
// typed: with the reasons, or with who was faster and the choice to save all the same.
func (c *Console) SaveConfiguration(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	t, err := typedIn(r)
	if err != nil {
		return err
	}
	d, err := c.draftOf(r, view, t.versionID)
	if err != nil {
		return err
	}
	revision := t.revision
	if t.action == clusters.ActionOverride {
		revision = view.Revision
	}
	_, task, err := c.Fleet.ChangeCluster(r.Context(), actor(r), view.ID, fleet.ClusterChange{
		Revision: revision, Name: t.name, TemplateVersionID: t.versionID, Values: t.valuesFor(d.schema, view.Wanted.Shown), Registry: t.registry,
		KeepErrors: t.action == clusters.ActionSave, Install: t.action == clusters.ActionInstall,
	})
	if refusal, is := refused(err); is {
		return c.refuseChange(w, r, d, view.ID, t, refusal)
	}
	switch {
	case err != nil:
		return err
	case task != nil:
		return respond.SeeOther(w, r, paths.Task(task.ID.String()))
	}
	return respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
}

// refuseChange answers with the form as it was typed. The cluster is read anew, since it may have
// been changed between the reading and the saving.
func (c *Console) refuseChange(w http.ResponseWriter, r *http.Request, d draft, id uuid.UUID, t typed, refusal *fault.Error) error {
	view, err := c.cluster(r.Context(), actor(r), id)
	if err != nil {
		return err
	}
	form, preview, err := c.changeForm(r, d, view, t, told(refusal))
	if err != nil {
		return err
	}
	form.Message = summary(&form, refusal, preview.Errors)
	if refusal.Key == staleRevision {
		form.Conflict = conflictOf(view, form)
	}
	return c.configurationPage(w, r, respond.Status(refusal), view, form)
}

// conflictOf tells who saved last, and in what their values differ from those that were typed.
func conflictOf(view fleet.ClusterView, form clusters.Form) *clusters.Conflict {
	conflict := &clusters.Conflict{Who: view.Wanted.CreatedBy, When: view.Wanted.CreatedAt}
	if view.Name != form.Name.Value {
		conflict.Changed = append(conflict.Changed, form.Name.Title)
	}
	for _, b := range form.Blocks {
		if b.Field.Changed {
			conflict.Changed = append(conflict.Changed, b.Field.Title)
		}
	}
	return conflict
}

// PreviewConfiguration renders the form of a cluster while it is changed.
func (c *Console) PreviewConfiguration(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	t, err := typedIn(r)
	if err != nil {
		return err
	}
	d, err := c.draftOf(r, view, t.versionID)
	if err != nil {
		return err
	}
	form, _, err := c.changeForm(r, d, view, t, whileTyping)
	if err != nil {
		return err
	}
	if respond.WantsFragment(r) {
		fragment := previewFragment(r, form)
		return respond.HTML(w, r, http.StatusOK, fragment, fragment)
	}
	return c.configurationPage(w, r, http.StatusOK, view, form)
}
