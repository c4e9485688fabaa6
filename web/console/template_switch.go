package console

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
	"commander/views/upgrade"
	"commander/web/respond"
)

// Switch chooses clusters of a template for a move to one of its versions.
func (c *Console) Switch(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	return c.switchPage(w, r, http.StatusOK, t, paths.ParseSwitching(r.URL.Query()), nil, i18n.Message{})
}

func (c *Console) switchPage(w http.ResponseWriter, r *http.Request, status int, t fleet.TemplateHead, q paths.Switching, chosen []string, problem i18n.Message) error {
	usable, err := c.usable(r, t)
	if err != nil {
		return err
	}
	all, err := c.Fleet.TemplateNumbers(r.Context(), actor(r), t.ClusterTemplate)
	if err != nil {
		return err
	}
	choice := upgrade.Choice{
		Slug: t.Workspace.Slug, ID: t.ID.String(), Template: t.Name, Query: q, From: all, Problem: problem,
		CanMove: fleet.May(actor(r).Role(t.WorkspaceID), fleet.ClustersEdit),
	}
	for _, v := range usable {
		choice.Versions = append(choice.Versions, v.Number)
	}
	if version, is := target(usable, t, &choice.Query); is {
		rows, total, err := c.Fleet.SwitchCandidates(r.Context(), actor(r), version, fleet.SwitchSearch{Text: q.Text, From: q.From})
		if err != nil {
			return err
		}
		choice.Total = total
		for _, row := range rows {
			id := row.ID.String()
			choice.Rows = append(choice.Rows, upgrade.Candidate{
				ID: id, Name: row.Name, Version: row.VersionNumber, Status: ui.ClusterStatus(string(row.Status)), Chosen: slices.Contains(chosen, id),
			})
		}
	}
	moves, _, err := c.Fleet.BulkSwitches(r.Context(), actor(r), t.ID, fleet.SwitchesFilter{Limit: newestMoves})
	if err != nil {
		return err
	}
	choice.Earlier = earlierMoves(moves)
	return c.templatePage(w, r, status, t.Workspace, page{title: i18n.Plain(t.Name), tab: i18n.M("switch.title"), content: upgrade.ChoiceBody(choice)})
}

// newestMoves is how many moves stand below the choice of clusters; all of them have a list.
const newestMoves = 5

func earlierMoves(moves []store.BulkSwitchesOfTemplateRow) []upgrade.Earlier {
	out := make([]upgrade.Earlier, 0, len(moves))
	for _, m := range moves {
		out = append(out, upgrade.Earlier{
			ID: m.BulkSwitch.ID.String(), Version: m.VersionNumber, Status: moveStatus(m.BulkSwitch.Status), Who: fleet.SwitchAuthor(m),
			When: m.BulkSwitch.CreatedAt, Clusters: int(m.Clusters), Done: int(m.Done), Failed: int(m.Failed), Refuse: int(m.Refused),
		})
	}
	return out
}

// TemplateMoves lists the moves to versions of a template.
func (c *Console) TemplateMoves(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	found, total, err := c.Fleet.BulkSwitches(r.Context(), actor(r), t.ID, fleet.SwitchesFilter{
		Search: query.Text, OldestFirst: query.Sort == upgrade.SortCreated && !query.Descending, Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	slug, id := t.Workspace.Slug, t.ID.String()
	moves := upgrade.Moves{
		Slug: slug, ID: id, Template: t.Name, Any: total > 0 || query.Text != "" || query.Page > 0, Rows: earlierMoves(found),
		Table: c.table(query, paths.TemplateMoves(slug, id), "-"+upgrade.SortCreated, "switch.filter_moves", len(found), total),
	}
	moves.Table.Kind = "moves"
	return c.templatePage(w, r, http.StatusOK, t.Workspace, page{title: i18n.Plain(t.Name), tab: i18n.M("switch.earlier"), content: upgrade.MovesBody(moves)})
}

// usable are the versions of a template that clusters may get, the newest first.
func (c *Console) usable(r *http.Request, t fleet.TemplateHead) ([]store.ClusterTemplateVersion, error) {
	if t.ArchivedAt != nil {
		return nil, nil
	}
	_, versions, err := c.Fleet.Template(r.Context(), actor(r), t.ID)
	return slices.DeleteFunc(versions, func(v store.ClusterTemplateVersion) bool { return !v.Available }), err
}

// target is the version that is asked for; without a usable one it is the current one, or the newest.
func target(usable []store.ClusterTemplateVersion, t fleet.TemplateHead, q *paths.Switching) (store.ClusterTemplateVersion, bool) {
	for _, number := range []int{q.Version, t.Current} {
		for _, v := range usable {
			if v.Number == number {
				q.Version = number
				return v, true
			}
		}
	}
	if len(usable) == 0 {
		return store.ClusterTemplateVersion{}, false
	}
	q.Version = usable[0].Number
	return usable[0], true
}

// moveForm is what a form says of a move.
type moveForm struct {
	paths.Switching
	clusters []string
	version  store.ClusterTemplateVersion
}

func (c *Console) moveForm(r *http.Request, t fleet.TemplateHead) (moveForm, error) {
	if err := parseForm(r); err != nil {
		return moveForm{}, err
	}
	form := moveForm{Switching: paths.ParseSwitching(r.PostForm), clusters: r.PostForm[upgrade.FieldCluster]}
	usable, err := c.usable(r, t)
	if err != nil {
		return form, err
	}
	for _, v := range usable {
		if v.Number == form.Version {
			form.version = v
			return form, nil
		}
	}
	return form, fault.New(fault.Conflict, "template.version.unavailable")
}

// PreviewSwitch shows what a move would make of the chosen clusters, or of all that the filter lets
// through. Nothing is changed.
func (c *Console) PreviewSwitch(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	form, err := c.moveForm(r, t)
	if err != nil {
		return err
	}
	ids, total := targetIDs(form.clusters), len(form.clusters)
	if r.PostForm.Get(upgrade.FieldScope) == upgrade.ScopeAll {
		rows, all, err := c.Fleet.SwitchCandidates(r.Context(), actor(r), form.version, fleet.SwitchSearch{Text: form.Text, From: form.From})
		if err != nil {
			return err
		}
		ids, total = nil, all
		for _, row := range rows {
			ids = append(ids, row.ID)
		}
	}
	switch {
	case len(ids) == 0:
		return c.switchPage(w, r, http.StatusUnprocessableEntity, t, form.Switching, form.clusters, i18n.M("cluster.switch.none"))
	case total > fleet.MostPreviewed:
		return c.switchPage(w, r, http.StatusUnprocessableEntity, t, form.Switching, form.clusters, i18n.M("cluster.switch.many", fleet.MostPreviewed))
	}
	return c.switchPreview(w, r, http.StatusOK, t, form, ids, upgrade.Preview{
		Nonce: uuid.NewString(), Wave: ui.Field{Value: "10"}, Parallel: ui.Field{Value: "5"}, Stop: ui.Field{Value: "true"},
	})
}

// targetIDs reads the ids in fields that may have a revision after each.
func targetIDs(fields []string) []uuid.UUID {
	var ids []uuid.UUID
	for _, field := range fields {
		text, _, _ := strings.Cut(field, " ")
		if id, err := uuid.Parse(text); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// switchPreview answers with the preview of some clusters; shown holds what was typed and what is
// wrong with it.
func (c *Console) switchPreview(w http.ResponseWriter, r *http.Request, status int, t fleet.TemplateHead, form moveForm, ids []uuid.UUID, shown upgrade.Preview) error {
	lines, err := c.Fleet.PreviewSwitch(r.Context(), actor(r), form.version.ID, ids)
	if err != nil {
		return err
	}
	shown.Slug, shown.ID, shown.Template = t.Workspace.Slug, t.ID.String(), t.Name
	shown.Version, shown.VersionID = form.version.Number, form.version.ID.String()
	ctx := r.Context()
	shown.Wave.Name, shown.Wave.Kind, shown.Wave.Title, shown.Wave.Hint = upgrade.FieldWave, ui.Number, i18n.T(ctx, "switch.wave"), i18n.T(ctx, "switch.wave_hint")
	shown.Parallel.Name, shown.Parallel.Kind, shown.Parallel.Title, shown.Parallel.Hint = upgrade.FieldParallel, ui.Number, i18n.T(ctx, "switch.parallel"), i18n.T(ctx, "switch.parallel_hint")
	shown.Stop.Name, shown.Stop.Kind, shown.Stop.Title, shown.Stop.Span = upgrade.FieldStop, ui.Checkbox, i18n.T(ctx, "switch.stop"), 2
	for _, line := range lines {
		l := upgrade.Line{ID: line.ClusterID.String(), Name: line.Cluster.Name, Revision: strconv.Itoa(line.Cluster.Revision)}
		if line.From != nil && line.From.TemplateID == t.ID {
			l.Version = line.From.Number
		}
		if line.Refusal != nil {
			l.Refusal = respond.Sentence(*line.Refusal)
			shown.Refused = append(shown.Refused, l)
			continue
		}
		l.Changes = i18n.M("switch.changes", changesOf(line.Upgrade))
		shown.Moved = append(shown.Moved, l)
	}
	return c.templatePage(w, r, status, t.Workspace, page{title: i18n.Plain(t.Name), tab: i18n.M("switch.title"), content: upgrade.PreviewBody(shown)})
}

// changesOf counts the parameters that do not simply stay.
func changesOf(u fleet.Upgrade) int {
	n := 0
	for _, item := range u.Items {
		if item.Outcome != "kept" {
			n++
		}
	}
	return n
}

// BeginSwitch begins a move that a person has confirmed.
func (c *Console) BeginSwitch(w http.ResponseWriter, r *http.Request) error {
	t, err := c.template(r)
	if err != nil {
		return err
	}
	form, err := c.moveForm(r, t)
	if err != nil {
		return err
	}
	plan := fleet.SwitchPlan{VersionID: form.version.ID, StopAtFailure: r.PostForm.Get(upgrade.FieldStop) == "true"}
	for _, field := range form.clusters {
		text, revision, _ := strings.Cut(field, " ")
		target := fleet.SwitchTarget{}
		if target.ID, err = uuid.Parse(text); err == nil {
			target.Revision, err = strconv.Atoi(revision)
		}
		if err != nil {
			return fault.Wrap(fault.Invalid, err, "fault.form")
		}
		plan.Clusters = append(plan.Clusters, target)
	}
	// What is no number is 0, which is out of bounds.
	plan.WaveSize, _ = strconv.Atoi(strings.TrimSpace(r.PostForm.Get(upgrade.FieldWave)))
	plan.Parallel, _ = strconv.Atoi(strings.TrimSpace(r.PostForm.Get(upgrade.FieldParallel)))
	if nonce, err := uuid.Parse(r.PostForm.Get(upgrade.FieldNonce)); err == nil {
		plan.Nonce = &nonce
	}
	move, err := c.Fleet.SwitchClusters(r.Context(), actor(r), plan)
	if refusal, is := refused(err); is && len(refusal.Fields) > 0 {
		shown := upgrade.Preview{
			Nonce:    r.PostForm.Get(upgrade.FieldNonce),
			Wave:     ui.Field{Value: r.PostForm.Get(upgrade.FieldWave), Problem: i18n.Message(refusal.Fields["wave_size"])},
			Parallel: ui.Field{Value: r.PostForm.Get(upgrade.FieldParallel), Problem: i18n.Message(refusal.Fields["parallel"])},
			Stop:     ui.Field{Value: r.PostForm.Get(upgrade.FieldStop)},
			Message:  i18n.Message(refusal.Fields["clusters"]),
		}
		ids := targetIDs(form.clusters)
		if len(ids) == 0 {
			return c.switchPage(w, r, respond.Status(refusal), t, form.Switching, nil, shown.Message)
		}
		return c.switchPreview(w, r, respond.Status(refusal), t, form, ids, shown)
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Move(move.ID.String()))
}
