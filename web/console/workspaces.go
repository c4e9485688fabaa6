package console

import (
	"net/http"
	"strings"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/workspaces"
	"commander/web/respond"
)

// NewWorkspace is the form of a new workspace.
func (c *Console) NewWorkspace(w http.ResponseWriter, r *http.Request) error {
	if !fleet.May(actor(r).Everywhere, fleet.WorkspacesEdit) {
		return fault.New(fault.Forbidden, "fault.forbidden")
	}
	return c.newWorkspace(w, r, http.StatusOK, workspaces.Form{})
}

func (c *Console) newWorkspace(w http.ResponseWriter, r *http.Request, status int, form workspaces.Form) error {
	return c.show(w, r, status, page{
		title: i18n.M("workspaces.new"), section: layout.SectionStart, content: workspaces.NewBody(form),
	})
}

// CreateWorkspace makes a workspace and opens it.
func (c *Console) CreateWorkspace(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	form := workspaces.Form{Name: r.PostForm.Get(workspaces.FieldName), Slug: r.PostForm.Get(workspaces.FieldSlug)}
	made, err := c.Fleet.CreateWorkspace(r.Context(), actor(r), form.Name, form.Slug)
	if refusal, is := refused(err); is {
		form.Problems = messages(refusal.Fields)
		return c.newWorkspace(w, r, respond.Status(refusal), form)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Clusters(made.Slug))
}

// WorkspaceSettings is the page of a workspace itself.
func (c *Console) WorkspaceSettings(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.workspaceSettings(w, r, http.StatusOK, workspace, workspaces.Settings{Name: workspace.Name})
}

func (c *Console) workspaceSettings(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, s workspaces.Settings) error {
	s.Slug, s.Saved = workspace.Slug, workspace.Name
	s.CanEdit = fleet.May(actor(r).Role(workspace.ID), fleet.WorkspacesEdit)
	return c.show(w, r, status, page{
		title: i18n.M("workspace.settings"), section: layout.SectionWorkspace, workspace: &workspace, content: workspaces.SettingsBody(s),
	})
}

// RenameWorkspace gives a workspace another name.
func (c *Console) RenameWorkspace(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	name := r.PostForm.Get(workspaces.FieldName)
	_, err = c.Fleet.RenameWorkspace(r.Context(), actor(r), workspace.ID, name)
	if refusal, is := refused(err); is {
		return c.workspaceSettings(w, r, respond.Status(refusal), workspace, workspaces.Settings{
			Name: name, Problem: i18n.Message(refusal.Fields[fleet.Name]),
		})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.WorkspaceSettings(workspace.Slug))
}

// WorkspaceDeletion asks before a workspace is deleted.
func (c *Console) WorkspaceDeletion(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.workspaceDeletion(w, r, http.StatusOK, workspace, workspaces.Deletion{})
}

func (c *Console) workspaceDeletion(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, d workspaces.Deletion) error {
	counts, err := c.Fleet.Counts(r.Context(), workspace.ID)
	if err != nil {
		return err
	}
	inventory, err := c.Fleet.InventoryCounts(r.Context(), workspace.ID)
	if err != nil {
		return err
	}
	d.Slug, d.Name, d.Clusters = workspace.Slug, workspace.Name, int(counts.Of())
	d.Templates, d.Records, d.Registries = int(inventory.Templates), int(inventory.Records), int(inventory.Registries)
	return c.show(w, r, status, page{
		title: i18n.M("deletion.title", workspace.Name), section: layout.SectionWorkspace, workspace: &workspace,
		content: workspaces.DeletionBody(d),
	})
}

// DeleteWorkspace deletes a workspace with all that is in it, once its name was typed.
func (c *Console) DeleteWorkspace(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	typed := r.PostForm.Get(workspaces.FieldTyped)
	if strings.TrimSpace(typed) != workspace.Name {
		return c.workspaceDeletion(w, r, http.StatusUnprocessableEntity, workspace, workspaces.Deletion{
			Typed: typed, Problem: i18n.M("workspaces.delete_mismatch"),
		})
	}
	_, err = c.Fleet.DeleteWorkspace(r.Context(), actor(r), workspace.ID)
	if refusal, is := refused(err); is { // a cluster was created meanwhile
		return c.workspaceDeletion(w, r, respond.Status(refusal), workspace, workspaces.Deletion{Typed: typed})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Start())
}
