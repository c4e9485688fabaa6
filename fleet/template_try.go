package fleet

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
)

// Trial is what is known of a draft of a template: what is wrong with it, and what some values
// would make of it.
type Trial struct {
	// Problems come in the order of the sections.
	Problems []TemplateProblem
	// Schema is nil while the parameters cannot be read, and nothing is rendered then.
	Schema schema.Schema
	// Shown has masks in place of secrets. Errors name groups by their place, as GroupSection does.
	Shown  store.Rendered
	Errors store.RenderErrors
}

// TryTemplate checks a draft that is being written and renders it with values. Nothing is kept.
func (f *Fleet) TryTemplate(ctx context.Context, actor Actor, workspaceID uuid.UUID, body TemplateVersionBody, values store.Values) (Trial, error) {
	if err := Allowed(actor, TemplatesView, workspaceID); err != nil {
		return Trial{}, err
	}
	body = body.prepared()
	var trial Trial
	trial.Schema, trial.Problems = checkBody(body)
	if trial.Schema == nil {
		return trial, nil
	}
	version := store.ClusterTemplateVersion{
		Params: body.Params, ClusterConfiguration: body.ClusterConfiguration,
		ProviderConfiguration: body.ProviderConfiguration, SshConfiguration: body.SSHConfiguration, InitConfiguration: body.InitConfiguration,
	}
	for i, g := range body.ResourceGroups {
		g.Name = strconv.Itoa(i)
		version.ResourceGroups = append(version.ResourceGroups, g)
	}
	id := identity{keys: sshKeys{public: "ssh-ed25519 …", private: "…"}, revision: 1}
	rendered, err := f.renderWith(ctx, f.source(f.Store.Querier, workspaceID, uuid.Nil, false), version, values, nil, id)
	if err != nil {
		return trial, err
	}
	trial.Shown, trial.Errors = rendered.both.Shown, rendered.errors
	for i, g := range body.ResourceGroups {
		trial.Shown.Groups[i].Name = g.Name
	}
	trial.warn()
	return trial, nil
}

// warn adds what went wrong with these values to the problems, unless it follows from values that
// are missing or wrong themselves.
func (t *Trial) warn() {
	known := map[string]bool{}
	for _, p := range t.Problems {
		known[p.Section] = true
	}
	for _, e := range t.Errors {
		if e.Parameter {
			return
		}
	}
	for _, e := range t.Errors {
		if known[e.Section] {
			continue
		}
		problem := TemplateProblem{Section: e.Section, Warning: true, Message: fault.Message{Key: e.Key, Args: e.Args}}
		switch e.Key {
		case "render.template":
			problem.Line, _ = e.Args[0].(int)
		case "render.yaml": // its line is one of the result
			problem.Message.Key = "template.problem.result"
		}
		t.Problems = append(t.Problems, problem)
	}
}
