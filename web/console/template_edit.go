package console

import (
	"net/http"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
	"commander/web/respond"
)

// staleTemplate is the key by which the fleet says that somebody was faster.
const staleTemplate = "template.stale_revision"

// firstBody is what a new template begins with.
func firstBody() fleet.TemplateVersionBody {
	return fleet.TemplateVersionBody{
		ParamsText:           "- header: Kubernetes\n- key: kubernetesVersion\n  type: string\n  title: Kubernetes version\n  default: \"1.37\"\n",
		ClusterConfiguration: "apiVersion: deckhouse.io/v1\nkind: ClusterConfiguration\nclusterType: Static\nkubernetesVersion: {{ .kubernetesVersion | quote }}\n",
	}
}

// NewTemplate is the editor of a new template, which may begin as a version of another.
func (c *Console) NewTemplate(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	t := templateTyped{nonce: uuid.NewString(), body: firstBody(), values: parametersIn(nil)}
	if from := r.URL.Query().Get("from"); from != "" {
		source, err := c.templateIn(r, workspace, func(*http.Request) (uuid.UUID, error) { return parseID(from) })
		if err != nil {
			return err
		}
		version, err := c.versionBegun(r, source)
		if err != nil {
			return err
		}
		t.name, t.comment, t.body = i18n.T(r.Context(), "templates.copy_of", source.Name), source.ClusterTemplate.Comment, fleet.BodyOf(version)
		t.body.Comment = ""
	}
	return c.editorPage(w, r, http.StatusOK, editing{workspace: workspace, typed: t, focus: -1})
}

// versionBegun is the version that an editor begins with: the one asked for, or the current one.
func (c *Console) versionBegun(r *http.Request, t fleet.TemplateHead) (store.ClusterTemplateVersion, error) {
	number, err := versionAsked(r, "version")
	if err != nil {
		return store.ClusterTemplateVersion{}, err
	}
	if number == 0 && t.Current == 0 {
		return store.ClusterTemplateVersion{}, nil // a template without versions begins empty
	}
	_, version, err := c.Fleet.NumberedVersion(r.Context(), actor(r), t.ID, number)
	return version, err
}

func (c *Console) editorPage(w http.ResponseWriter, r *http.Request, status int, e editing) error {
	shown, err := c.editor(r, e)
	if err != nil {
		return err
	}
	return c.showEditor(w, r, status, e, shown)
}

func (c *Console) showEditor(w http.ResponseWriter, r *http.Request, status int, e editing, shown templates.Editor) error {
	title := i18n.M("templates.new")
	if e.template != nil {
		title = i18n.M("templates.edit_of", e.template.Name)
	}
	return c.templatePage(w, r, status, e.workspace, page{title: title, content: templates.EditorBody(shown)})
}

// EditTemplate is the editor of the next version of a template.
func (c *Console) EditTemplate(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	if t.ArchivedAt != nil {
		return fault.New(fault.Conflict, "template.archived", t.Name)
	}
	version, err := c.versionBegun(r, t)
	if err != nil {
		return err
	}
	begun := templateTyped{
		name: t.Name, comment: t.ClusterTemplate.Comment, body: fleet.BodyOf(version), base: version.Number, revision: t.CurrentRevision, values: parametersIn(nil),
	}
	begun.body.Comment = ""
	return c.editorPage(w, r, http.StatusOK, editing{workspace: t.Workspace, template: &t, typed: begun, focus: -1})
}

// CreateTemplate makes a template, or does what another button of its editor asks for.
func (c *Console) CreateTemplate(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	e := editing{workspace: workspace, focus: -1}
	if e.typed, err = templateTypedIn(r); err != nil {
		return err
	}
	if done, err := c.withoutSaving(w, r, e); done {
		return err
	}
	made, err := c.Fleet.CreateTemplate(r.Context(), actor(r), fleet.NewTemplate{
		WorkspaceID: workspace.ID, Name: e.typed.name, Comment: e.typed.comment, Body: e.typed.body, Nonce: e.typed.formNonce(),
	})
	if refusal, is := refused(err); is {
		return c.refuseTemplate(w, r, e, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Template(workspace.Slug, made.ID.String()))
}

// withoutSaving answers the buttons that save nothing: the draft comes back as it was typed.
func (c *Console) withoutSaving(w http.ResponseWriter, r *http.Request, e editing) (done bool, err error) {
	done, e.focus = e.typed.regroup()
	if e.typed.action != templates.ActionSave && e.typed.action != templates.ActionOverride || e.typed.blocks.again {
		done = true
	}
	if !done {
		return false, nil
	}
	return true, c.editorPage(w, r, e.typed.blocks.status(), e)
}

// SaveTemplate makes the next version of a template, or does what another button of its editor asks
// for. What cannot be saved comes back as it was typed, and so does what somebody else was faster with.
func (c *Console) SaveTemplate(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	e := editing{workspace: t.Workspace, template: &t, focus: -1}
	if e.typed, err = templateTypedIn(r); err != nil {
		return err
	}
	if done, err := c.withoutSaving(w, r, e); done {
		return err
	}
	revision := e.typed.revision
	if e.typed.action == templates.ActionOverride {
		revision = t.CurrentRevision
	}
	_, err = c.Fleet.ChangeTemplate(r.Context(), actor(r), t.ID, fleet.TemplateChange{
		Revision: revision, Name: e.typed.name, Comment: e.typed.comment, Body: &e.typed.body,
	})
	if refusal, is := refused(err); is {
		return c.refuseTemplate(w, r, e, refusal)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Template(t.Workspace.Slug, t.ID.String()))
}

// refuseTemplate answers with the editor as it was typed.
func (c *Console) refuseTemplate(w http.ResponseWriter, r *http.Request, e editing, refusal *fault.Error) error {
	e.refusal = refusal
	if e.template != nil {
		// It may have been changed between the reading and the saving.
		now, err := c.Fleet.TemplateHead(r.Context(), actor(r), e.template.ID)
		if err != nil {
			return err
		}
		e.template = &now
	}
	shown, err := c.editor(r, e)
	if err != nil {
		return err
	}
	shown.Message = respond.Message(refusal)
	if n := brokenTexts(shown); n > 0 {
		shown.Message = i18n.M("templates.problems", n)
	}
	if refusal.Key == staleTemplate {
		if shown.Conflict, err = c.templateConflict(r, e); err != nil {
			return err
		}
	}
	return c.showEditor(w, r, respond.Status(refusal), e, shown)
}

// brokenTexts counts the texts that keep a template from being saved.
func brokenTexts(e templates.Editor) int {
	count := 0
	broken := func(problems []templates.Problem, name i18n.Message) {
		bad := !name.IsZero()
		for _, p := range problems {
			bad = bad || !p.Warning
		}
		if bad {
			count++
		}
	}
	for _, s := range e.Sections {
		broken(s.Problems, i18n.Message{})
	}
	for _, g := range e.Groups {
		broken(g.Section.Problems, g.Problem)
	}
	return count
}

// templateConflict tells who saved last, and in what their version differs from what was typed.
func (c *Console) templateConflict(r *http.Request, e editing) (*templates.Conflict, error) {
	_, newest, err := c.Fleet.NumberedVersion(r.Context(), actor(r), e.template.ID, 0)
	if err != nil {
		return nil, err
	}
	conflict := &templates.Conflict{Who: newest.CreatedBy, When: newest.CreatedAt, Number: newest.Number}
	for _, part := range comparedParts(fleet.BodyOf(newest), e.typed.body.Plain(), true) {
		conflict.Diffs = append(conflict.Diffs, clusters.SectionDiff{Title: part.Title, Lines: ui.Lines(part.Rows)})
	}
	return conflict, nil
}

// PreviewTemplate tries a draft while it is written.
func (c *Console) PreviewTemplate(w http.ResponseWriter, r *http.Request) error {
	workspace, err := c.workspace(r)
	if err != nil {
		return err
	}
	e := editing{workspace: workspace, focus: -1}
	if e.typed, err = templateTypedIn(r); err != nil {
		return err
	}
	shown, err := c.editor(r, e)
	if err != nil {
		return err
	}
	fields := shown.Trial.Schema != e.typed.schema && !shown.Trial.Broken
	if field, is := askedOf(r, shown.Trial.Blocks); is {
		return respond.HTML(w, r, http.StatusOK, ui.Input(field), ui.Input(field))
	}
	fragment := templates.PreviewFragment(shown, fields)
	return respond.HTML(w, r, http.StatusOK, fragment, fragment)
}
