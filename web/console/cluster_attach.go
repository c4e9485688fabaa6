package console

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/layout"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// AttachForm asks how a cluster that was not made here is reached.
func (c *Console) AttachForm(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	return c.attachPage(w, r, http.StatusOK, workspace, clusters.Attach{
		Nonce: uuid.NewString(), Fields: attachFields(r.Context(), "", "", nil),
	})
}

func (c *Console) attachPage(w http.ResponseWriter, r *http.Request, status int, workspace store.Workspace, a clusters.Attach) error {
	a.Slug = workspace.Slug
	return c.show(w, r, status, page{
		title: i18n.M("attach.title"), section: layout.SectionClusters, workspace: &workspace, content: clusters.AttachBody(a),
	})
}

func attachFields(ctx context.Context, name, kubeconfig string, problems map[string]fault.Message) []ui.Field {
	fields := []ui.Field{
		{Name: clusters.FieldName, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "form.name"), Hint: i18n.T(ctx, "cluster.name.format"), Value: name},
		{
			Name: clusters.FieldKubeconfig, Kind: ui.Area, Span: 4, Title: i18n.T(ctx, "attach.kubeconfig"), Hint: i18n.T(ctx, "attach.kubeconfig_hint"),
			Value: kubeconfig, Placeholder: "apiVersion: v1\nkind: Config",
		},
	}
	focusProblem(fields, problems)
	return fields
}

// AttachCluster tests the connection and saves the cluster as ready to join. A kubeconfig that did
// not work comes back as it was typed: it is a secret of whoever typed it, shown to nobody else.
func (c *Console) AttachCluster(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	name, kubeconfig := r.PostForm.Get(clusters.FieldName), r.PostForm.Get(clusters.FieldKubeconfig)
	var nonce *uuid.UUID
	if parsed, err := uuid.Parse(r.PostForm.Get(clusters.FieldNonce)); err == nil {
		nonce = &parsed
	}
	made, err := c.Fleet.AttachCluster(r.Context(), actor(r), workspace.ID, name, kubeconfig, nonce)
	if refusal, is := refused(err); is {
		a := clusters.Attach{Nonce: r.PostForm.Get(clusters.FieldNonce), Fields: attachFields(r.Context(), name, kubeconfig, refusal.Fields)}
		if len(refusal.Fields) == 0 {
			a.Message = respond.Message(refusal)
		}
		return c.attachPage(w, r, respond.Status(refusal), workspace, a)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Cluster(made.ID.String()))
}

// JoinCluster starts taking over a cluster that is ready to join.
func (c *Console) JoinCluster(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.JoinCluster)
}

// Detachment asks before a cluster is released.
func (c *Console) Detachment(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsHead, page{
		tab: i18n.M("detach.tab"), content: clusters.DetachmentBody(c.head(view, actor(r), clusters.TabNone)),
	})
}

// DetachCluster starts releasing a cluster.
func (c *Console) DetachCluster(w http.ResponseWriter, r *http.Request) error {
	return startTask(w, r, c.Fleet.DetachCluster)
}

// unmade shows the configuration of a cluster that no template made, or the form of the template
// that it is to have.
func (c *Console) unmade(w http.ResponseWriter, r *http.Request, view fleet.ClusterView) error {
	if chosen := r.URL.Query().Get("template"); chosen != "" {
		id, err := uuid.Parse(chosen)
		if err != nil {
			return fault.New(fault.NotFound, "fault.not_found")
		}
		template, _, err := c.Fleet.Template(r.Context(), actor(r), id)
		if err != nil {
			return err
		}
		if template.WorkspaceID != view.WorkspaceID || template.CurrentVersionID == nil || template.ArchivedAt != nil {
			return fault.New(fault.NotFound, "fault.not_found")
		}
		d, err := c.draft(r, view.Workspace, *template.CurrentVersionID)
		if err != nil {
			return err
		}
		t := typed{name: view.Name, revision: view.Revision, parameters: parameters{values: typedFrom(d.schema, d.schema.Defaults())}}
		form, _, err := c.changeForm(r, d, view, t, func(fleet.Preview) map[string]fault.Message { return nil })
		if err != nil {
			return err
		}
		return c.configurationPage(w, r, http.StatusOK, view, form)
	}
	cards, err := c.templateCards(r, view.Workspace)
	if err != nil {
		return err
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsHead, page{tab: i18n.M("cluster.tab.configuration"), content: clusters.UnmadeBody(clusters.Unmade{
		Head: c.head(view, actor(r), clusters.TabConfiguration), Cards: cards,
		Sections: sections(view.Wanted.Rendering.Shown, view.Wanted.RenderErrors),
	})})
}
