package console

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/fleet/schema"
	change "commander/fleet/upgrade"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/upgrade"
	"commander/web/respond"
)

// sameVersion is the key by which the fleet says that a cluster has a version already.
const sameVersion = "cluster.upgrade.same"

// Upgrade shows what a version of a template would make of a cluster, once one is chosen.
func (c *Console) Upgrade(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	version, err := uuid.Parse(r.URL.Query().Get(upgrade.FieldVersion))
	if err != nil {
		return c.upgradePage(w, r, http.StatusOK, view, nil, uuid.Nil)
	}
	plan, err := c.upgradePlan(r, view, version, nil)
	if refusal, is := refused(err); is {
		return c.refuseUpgrade(w, r, view, refusal)
	}
	if err != nil {
		return err
	}
	return c.upgradePage(w, r, http.StatusOK, view, &plan, version)
}

// SaveUpgrade checks the answers of a person, or moves the cluster when they have confirmed it.
func (c *Console) SaveUpgrade(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	t, err := typedIn(r)
	if err != nil {
		return err
	}
	var refusal *fault.Error
	if t.action == upgrade.ActionApply {
		answers, err := c.answers(r, view, t)
		if err == nil {
			var task *store.Task
			_, task, err = c.Fleet.UpgradeCluster(r.Context(), actor(r), view.ID, fleet.UpgradeChoice{
				Revision: t.revision, VersionID: t.versionID, Answers: answers,
			})
			if err == nil && task != nil {
				return respond.SeeOther(w, r, paths.Task(task.ID.String()))
			}
		}
		var is bool
		switch refusal, is = refused(err); {
		case err == nil, is && refusal.Key == sameVersion: // the form was sent twice
			return respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
		case !is:
			return err
		}
	}
	plan, err := c.upgradePlan(r, view, t.versionID, &t)
	if gone, is := refused(err); is {
		return c.refuseUpgrade(w, r, view, gone)
	}
	if err != nil {
		return err
	}
	status := http.StatusOK
	if refusal != nil {
		status = respond.Status(refusal)
		plan.Message = i18n.M("upgrade.refused")
		if len(refusal.Fields) == 0 {
			plan.Message = respond.Message(refusal)
		}
	}
	return c.upgradePage(w, r, status, view, &plan, t.versionID)
}

// refuseUpgrade answers about a version that the cluster cannot get with the choice of another.
func (c *Console) refuseUpgrade(w http.ResponseWriter, r *http.Request, view fleet.ClusterView, refusal *fault.Error) error {
	plan := upgrade.Plan{Message: respond.Message(refusal)}
	for _, problem := range refusal.Fields {
		plan.Message = respond.Sentence(problem)
	}
	return c.upgradePage(w, r, respond.Status(refusal), view, &plan, uuid.Nil)
}

func (c *Console) upgradePage(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, plan *upgrade.Plan, chosen uuid.UUID) error {
	rows, err := c.Fleet.UsableVersions(r.Context(), actor(r), view.WorkspaceID)
	if err != nil {
		return err
	}
	p := upgrade.Page{Head: c.head(view, actor(r), clusters.TabConfiguration), Template: view.Line.TemplateName, Version: view.Line.TemplateNumber, Plan: plan}
	for _, row := range rows {
		if view.TemplateVersionID != nil && row.ID == *view.TemplateVersionID {
			continue
		}
		if n := len(p.Groups); n == 0 || p.Groups[n-1].Template != row.TemplateName {
			p.Groups = append(p.Groups, upgrade.Group{Template: row.TemplateName})
		}
		g := &p.Groups[len(p.Groups)-1]
		v := upgrade.Version{ID: row.ID.String(), Label: i18n.M("upgrade.version", row.Number, row.Comment), Chosen: row.ID == chosen}
		if row.Current {
			v.Label = i18n.M("upgrade.version_current", row.Number, row.Comment)
		}
		g.Versions = append(g.Versions, v)
	}
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("upgrade.title"), content: upgrade.Body(p)})
}

// asked is the part of a schema that a person answers: what is open, and what the version finds wrong.
func (c *Console) asked(r *http.Request, view fleet.ClusterView, version uuid.UUID) (draft, fleet.Upgrade, error) {
	base, err := c.Fleet.PreviewUpgrade(r.Context(), actor(r), view.ID, version, nil)
	if err != nil {
		return draft{}, base, err
	}
	d, err := c.draft(r, view.Workspace, version)
	if err != nil {
		return d, base, err
	}
	wanted := slices.Clone(base.Open)
	for _, e := range base.Errors {
		if e.Parameter {
			wanted = append(wanted, e.Section)
		}
	}
	var open schema.Schema
	for _, b := range d.schema {
		if b.Field != nil && slices.Contains(wanted, b.Field.Key) && !stuck(b.Field, base) {
			open = append(open, b)
		}
	}
	d.schema = open
	return d, base, nil
}

// stuck tells whether a parameter cannot be answered, because its value cannot change any more.
func stuck(f *schema.Field, u fleet.Upgrade) bool {
	for _, item := range u.Items {
		if item.Key == f.Key {
			return f.Immutable && item.New != nil && !schema.Empty(item.Old)
		}
	}
	return false
}

// answers are what a person typed for what is open.
func (c *Console) answers(r *http.Request, view fleet.ClusterView, t typed) (store.Values, error) {
	d, _, err := c.asked(r, view, t.versionID)
	if err != nil {
		return nil, err
	}
	return t.valuesFor(d.schema, nil), nil
}

// upgradePlan is what becomes of a cluster with the answers that were typed; nil for none yet.
func (c *Console) upgradePlan(r *http.Request, view fleet.ClusterView, version uuid.UUID, t *typed) (upgrade.Plan, error) {
	d, found, err := c.asked(r, view, version)
	if err != nil {
		return upgrade.Plan{}, err
	}
	problems := map[string]fault.Message{}
	if t == nil {
		t = &typed{parameters: parametersIn(nil)}
		for _, item := range found.Items {
			for _, f := range d.schema.Fields() {
				if f.Key == item.Key && !f.Secret() && item.New != nil {
					t.values[f.Key] = f.Typed(item.New) // what is there, to be mended
				}
			}
		}
		for _, item := range found.Items {
			if item.Problem != nil {
				problems[fleet.ValueField(item.Key)] = *item.Problem
			}
		}
	} else {
		found, err = c.Fleet.PreviewUpgrade(r.Context(), actor(r), view.ID, version, t.valuesFor(d.schema, nil))
		if err != nil {
			return upgrade.Plan{}, err
		}
		problems = parameterProblems(found.Errors)
	}
	source, err := c.parameterSource(r, d, t, view.ID, nil, nil, paths.ClusterUpgrade(view.ID.String(), ""))
	if err != nil {
		return upgrade.Plan{}, err
	}
	plan := upgrade.Plan{
		VersionID: version.String(), Template: d.template.Name, Version: d.version.Number,
		Revision: strconv.Itoa(found.Cluster.Revision), Ready: found.Ready(), Diffs: differences(found.After, found.Before),
	}
	focus := true
	for _, b := range source.blocks(r.Context(), problems) {
		if !b.Field.Problem.IsZero() {
			b.Field.Focus, focus = focus, false
		}
		plan.Fields = append(plan.Fields, b.Field)
	}
	found.Schema = fleet.SchemaIn(language(r.Context()), found.Schema)
	for _, item := range found.Items {
		item.Title = fleet.TextIn(language(r.Context()), item.Key, item.Title)
		shown := itemOf(found.Schema, item)
		if item.Outcome == change.Kept {
			plan.Kept = append(plan.Kept, shown)
		} else {
			plan.Changes = append(plan.Changes, shown)
		}
	}
	slices.SortStableFunc(plan.Changes, func(a, b upgrade.Item) int {
		return slices.Index(urgency, a.Outcome) - slices.Index(urgency, b.Outcome)
	})
	for _, e := range found.Errors {
		beside := slices.ContainsFunc(d.schema.Fields(), func(f *schema.Field) bool { return e.Parameter && f.Key == e.Section })
		if !beside {
			plan.Errors = append(plan.Errors, clusters.RenderError{Section: placeOf(found.Schema, e), Text: respond.Sentence(fault.Message{Key: e.Key, Args: e.Args}), Parameter: e.Parameter})
		}
	}
	return plan, nil
}

// urgency is the order of what changes: what needs an answer comes first.
var urgency = []upgrade.Outcome{"conflict", "asked", "removed", "followed", "added"}

func itemOf(next schema.Schema, item change.Item) upgrade.Item {
	out := upgrade.Item{
		Title: item.Title, Outcome: upgrade.Outcome(item.Outcome), Old: valueText(item.Old), New: valueText(item.New), Given: item.Given,
	}
	if item.Problem != nil {
		out.Problem = respond.Sentence(*item.Problem)
	}
	for _, f := range next.Fields() {
		if f.Key == item.Key && item.Outcome == change.Conflict {
			out.Stuck = f.Immutable && item.New != nil
		}
	}
	return out
}
