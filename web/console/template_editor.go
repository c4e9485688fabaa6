package console

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/templates"
	"commander/views/ui"
	"commander/web/assets"
)

// editing is what an editor is drawn from: the workspace, and the template unless it is new.
type editing struct {
	workspace store.Workspace
	template  *fleet.TemplateHead
	typed     templateTyped
	// refusal says why a save was refused; shown tells what is wrong although nothing was refused.
	refusal *fault.Error
	focus   int // the group whose name is typed next, -1 for none
}

// editor is the page of an editor as it was typed, with what it makes of the values.
func (c *Console) editor(r *http.Request, e editing) (templates.Editor, error) {
	ctx := r.Context()
	described, err := schema.ParseYAML(e.typed.body.ParamsText)
	values := store.Values{}
	if err == nil {
		e.typed.tried(described)
		values = e.typed.values.valuesFor(described, nil)
	}
	trial, err := c.Fleet.TryTemplate(ctx, actor(r), e.workspace.ID, e.typed.body, values)
	if err != nil {
		return templates.Editor{}, err
	}
	page := templates.Editor{
		Slug: e.workspace.Slug, Base: e.typed.base, Nonce: e.typed.nonce, Revision: strconv.Itoa(e.typed.revision),
		Script: c.Assets.URL(assets.Editor), Fields: templateFields(ctx, e.typed, e.refusal),
		VersionComment: ui.Field{
			Name: templates.FieldVersionComment, Kind: ui.Text, Span: 4, Title: i18n.T(ctx, "templates.version_comment"),
			Value: e.typed.body.Comment, Optional: true, Problem: problemOf(e.refusal, "version_comment"),
		},
	}
	if e.template != nil {
		page.ID, page.Name, page.Current = e.template.ID.String(), e.template.Name, e.template.Current
	}
	editorTexts(&page, e, trial)
	if e.typed.blocks == nil {
		e.typed.blocks = &schemaWork{name: templates.FieldParams, text: e.typed.body.ParamsText, asText: true}
	}
	page.Blocks = e.typed.blocks.model(ctx, paths.SchemaBuilder(e.workspace.Slug))
	page.Trial, err = c.trialOf(r, e, trial)
	return page, err
}

func problemOf(refusal *fault.Error, field string) i18n.Message {
	if refusal == nil {
		return i18n.Message{}
	}
	return i18n.Message(refusal.Fields[field])
}

func templateFields(ctx context.Context, t templateTyped, refusal *fault.Error) []ui.Field {
	name := ui.Field{
		Name: templates.FieldName, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "templates.name"), Value: t.name, Problem: problemOf(refusal, fleet.Name),
	}
	name.Focus = !name.Problem.IsZero()
	return []ui.Field{name, {
		Name: templates.FieldComment, Kind: ui.Text, Span: 2, Title: i18n.T(ctx, "templates.comment"), Value: t.comment, Optional: true,
		Problem: problemOf(refusal, "comment"),
	}}
}

// editorTexts fills in the texts with the problems at their lines.
func editorTexts(page *templates.Editor, e editing, trial fleet.Trial) {
	found, names := map[string][]templates.Problem{}, map[string]i18n.Message{}
	for _, p := range trial.Problems {
		if p.Named {
			names[p.Section] = i18n.Message(p.Message)
			continue
		}
		found[p.Section] = append(found[p.Section], templates.Problem{Line: p.Line, Text: i18n.Message(p.Message), Warning: p.Warning})
	}
	hint := i18n.M("templates.section_hint", "{{ .podSubnet }}")
	body := e.typed.body
	page.Sections = []templates.Section{
		{Name: templates.FieldParams, Title: i18n.M("templates.parameters"), Hint: i18n.M("templates.params_hint"), Text: body.ParamsText, Problems: found[fleet.SectionParameters]},
		{Name: templates.FieldCluster, Title: sectionTitle(fleet.SectionCluster), Hint: hint, Text: body.ClusterConfiguration, Problems: found[fleet.SectionCluster]},
		{Name: templates.FieldProvider, Title: sectionTitle(fleet.SectionProvider), Text: body.ProviderConfiguration, Problems: found[fleet.SectionProvider]},
		{Name: templates.FieldSSH, Title: sectionTitle(fleet.SectionSSH), Hint: i18n.M("templates.ssh_hint"), Text: body.SSHConfiguration, Problems: found[fleet.SectionSSH]},
		{Name: templates.FieldInit, Title: sectionTitle(fleet.SectionInit), Text: body.InitConfiguration, Problems: found[fleet.SectionInit]},
	}
	for n, g := range body.ResourceGroups {
		group := templates.Group{N: n, Name: g.Name, Controlled: g.Controlled, UserManaged: g.UserManaged, Focus: n == e.focus}
		group.Section = templates.Section{
			Name: templates.GroupField(n, templates.GroupTemplate), Title: i18n.M("templates.manifests"), Text: g.Template, Problems: found[fleet.GroupSection(n)],
		}
		if n != e.focus { // nobody had a chance to give it a name
			group.Problem = names[fleet.GroupSection(n)]
		}
		page.Groups = append(page.Groups, group)
	}
}

// trialOf are the controls of the draft's parameters and what their values make.
func (c *Console) trialOf(r *http.Request, e editing, trial fleet.Trial) (templates.Trial, error) {
	if trial.Schema == nil {
		return templates.Trial{Broken: true, Keys: strings.Join(e.typed.keys, " ")}, nil
	}
	t := typed{parameters: e.typed.values}
	d := draft{workspace: e.workspace, schema: trial.Schema}
	from, err := c.parameterSource(r, d, &t, uuid.Nil, nil, nil, paths.TemplatePreview(e.workspace.Slug))
	if err != nil {
		return templates.Trial{}, err
	}
	out := templates.Trial{Blocks: from.blocks(r.Context(), parameterProblems(trial.Errors)), Sections: trialSections(e.typed.body, trial)}
	var keys []string
	for _, f := range trial.Schema.Fields() {
		keys = append(keys, f.Key)
	}
	out.Keys = strings.Join(keys, " ")
	text, err := json.Marshal(trial.Schema)
	sum := sha256.Sum256(text)
	out.Schema = hex.EncodeToString(sum[:8])
	return out, err
}

// mostShown bounds what a trial shows of one part, in bytes: beyond that nobody reads along.
const mostShown = 64 << 10

// trialSections are what the values make, under the names that the groups have in the draft.
func trialSections(body fleet.TemplateVersionBody, trial fleet.Trial) []clusters.Section {
	shown := sections(trial.Shown, trial.Errors)
	fixed := len(shown) - len(body.ResourceGroups)
	for i := range shown {
		if i >= fixed {
			shown[i].Title = i18n.Plain(body.ResourceGroups[i-fixed].Name)
			for _, e := range trial.Errors {
				if e.Section == fleet.GroupSection(i-fixed) {
					shown[i].Problem = messageOf(e)
				}
			}
		}
		if text := shown[i].YAML; len(text) > mostShown {
			end := strings.LastIndexByte(text[:mostShown], '\n') + 1
			shown[i].YAML, shown[i].Title = text[:end], i18n.M("templates.in_part", shown[i].Title)
		}
	}
	return shown
}
