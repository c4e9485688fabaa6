package console

import (
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
	"commander/web/respond"
)

// versionNumber reads the number of a version in a request's address. What is no number is as
// unknown as one that no version has.
func versionNumber(r *http.Request) (int, error) {
	number, err := strconv.Atoi(chi.URLParam(r, "number"))
	if err != nil || number < 1 || number > fleet.MaxVersionNumber {
		return 0, fault.New(fault.NotFound, "fault.not_found")
	}
	return number, nil
}

// versionAsked reads the number of a version in a request's query, 0 when it names none.
func versionAsked(r *http.Request, name string) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > fleet.MaxVersionNumber {
		return 0, fault.New(fault.NotFound, "fault.not_found")
	}
	return number, nil
}

// TemplateVersion shows one version of a template.
func (c *Console) TemplateVersion(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	number, err := versionNumber(r)
	if err != nil {
		return err
	}
	return c.versionPage(w, r, http.StatusOK, t, number, nil, nil)
}

// versionPage is the page of a version, with a comment as it was typed when that was refused.
func (c *Console) versionPage(w http.ResponseWriter, r *http.Request, status int, t fleet.TemplateHead, number int, typed *string, refusal *fault.Error) error {
	_, v, err := c.Fleet.NumberedVersion(r.Context(), actor(r), t.ID, number)
	if err != nil {
		return err
	}
	clusters, err := c.Fleet.VersionClusters(r.Context(), actor(r), t.ClusterTemplate, v.ID)
	if err != nil {
		return err
	}
	shown := templates.VersionPage{
		Head: templateHead(r, t, templates.TabNone), Texts: textsOf(fleet.BodyOf(v)), Previous: number - 1,
		CanTry: v.Available && t.ArchivedAt == nil && fleet.May(actor(r).Role(t.WorkspaceID), fleet.ClustersEdit),
		Version: templates.Version{
			Number: v.Number, Comment: v.Comment, Available: v.Available, Current: v.Number == t.Current,
			CreatedBy: v.CreatedBy, CreatedAt: v.CreatedAt, Clusters: clusters,
		},
		Note: ui.Field{Name: templates.FieldComment, Kind: ui.Text, Title: i18n.T(r.Context(), "templates.version_comment"), Value: v.Comment, Optional: true},
	}
	if typed != nil {
		shown.Note.Value, shown.Note.Focus = *typed, true
	}
	if refusal != nil {
		shown.Note.Problem = respond.Message(refusal)
	}
	title := i18n.M("templates.version_of", number, t.Name)
	return c.templatePage(w, r, status, t.Workspace, page{title: title, content: templates.VersionBody(shown)})
}

// textsOf are the parts of a version in the order of the editor.
func textsOf(body fleet.TemplateVersionBody) []templates.Text {
	texts := []templates.Text{
		{Title: i18n.M("templates.parameters"), YAML: body.ParamsText},
		{Title: sectionTitle(fleet.SectionCluster), YAML: body.ClusterConfiguration},
		{Title: sectionTitle(fleet.SectionProvider), YAML: body.ProviderConfiguration},
		{Title: sectionTitle(fleet.SectionSSH), YAML: body.SSHConfiguration},
		{Title: sectionTitle(fleet.SectionInit), YAML: body.InitConfiguration},
	}
	for _, g := range body.ResourceGroups {
		texts = append(texts, templates.Text{Title: i18n.Plain(g.Name), YAML: g.Template, Group: keepingOf(g)})
	}
	return texts
}

func keepingOf(g store.ResourceGroup) *templates.Keeping {
	return &templates.Keeping{Controlled: g.Controlled, UserManaged: g.UserManaged}
}

// ChangeTemplateVersion says something else of a version: its comment, or whether clusters can be
// made from it.
func (c *Console) ChangeTemplateVersion(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	number, err := versionNumber(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	back := paths.Template(t.Workspace.Slug, t.ID.String())
	var wanted fleet.VersionChange
	if r.PostForm.Has(templates.FieldComment) {
		comment := r.PostForm.Get(templates.FieldComment)
		wanted.Comment, back = &comment, paths.TemplateVersion(t.Workspace.Slug, t.ID.String(), number)
	}
	if r.PostForm.Has(templates.FieldAvailable) {
		available := r.PostForm.Get(templates.FieldAvailable) == "true"
		wanted.Available = &available
	}
	err = c.Fleet.ChangeTemplateVersion(r.Context(), actor(r), t.ID, number, wanted)
	if refusal, is := refused(err); is && wanted.Comment != nil {
		return c.versionPage(w, r, respond.Status(refusal), t, number, wanted.Comment, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, back)
}

// UseTemplateVersion makes a version the one that new clusters get.
func (c *Console) UseTemplateVersion(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	number, err := versionNumber(r)
	if err != nil {
		return err
	}
	if err := c.Fleet.UseTemplateVersion(r.Context(), actor(r), t.ID, number); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Template(t.Workspace.Slug, t.ID.String()))
}
