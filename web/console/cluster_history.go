package console

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"commander/fleet"
	"commander/fleet/schema"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/web/respond"
)

// ClusterHistory lists the configurations that a cluster was to have.
func (c *Console) ClusterHistory(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	_, rows, total, err := c.Fleet.History(r.Context(), actor(r), view.ID, fleet.HistoryFilter{
		Search: query.Text, OldestFirst: query.Sort == clusters.SortRevision && !query.Descending, Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	h := clusters.History{
		Head:  c.head(view, actor(r), clusters.TabHistory),
		Table: c.table(query, paths.ClusterHistory(view.ID.String()), "-"+clusters.SortRevision, "history.filter", len(rows), total),
	}
	h.CanRollback, h.Table.Kind = h.Can.Edit, "history"
	for _, row := range rows {
		revision := revisionOf(view, row.ClusterRevisionsRow)
		if row.Revision > 1 {
			revision.Changed = changedTitles(view.Wanted.Schema, row.Parameters, row.Before)
		}
		h.Revisions = append(h.Revisions, revision)
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsHead, page{tab: i18n.M("cluster.tab.history"), content: clusters.HistoryBody(h)})
}

func revisionOf(view fleet.ClusterView, row store.ClusterRevisionsRow) clusters.Revision {
	return clusters.Revision{
		Number: row.Revision, Template: row.TemplateName, TemplateVersion: row.TemplateNumber, Who: row.CreatedBy, When: row.CreatedAt,
		Desired: row.Revision == view.Revision, Applied: view.AppliedRevision != nil && row.Revision == *view.AppliedRevision,
		Broken: len(row.RenderErrors) > 0,
	}
}

// changedTitles names the parameters that differ; of those that are secret nothing is said.
func changedTitles(parameters schema.Schema, now, before store.Values) []string {
	titles := map[string]string{}
	for _, f := range parameters.Fields() {
		titles[f.Key] = f.Title
	}
	var out []string
	add := func(key string) {
		if title := titles[key]; title != "" {
			key = title
		}
		out = append(out, key)
	}
	for key, value := range now {
		if !reflect.DeepEqual(before[key], value) {
			add(key)
		}
	}
	for key := range before {
		if _, kept := now[key]; !kept {
			add(key)
		}
	}
	slices.Sort(out)
	return out
}

// ClusterComparison shows in what two configurations differ.
func (c *Console) ClusterComparison(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	from, to := r.URL.Query().Get(clusters.FieldFrom), r.URL.Query().Get(clusters.FieldTo)
	if to == "" {
		to = fleet.SideDesired
	}
	if from == "" {
		from = fleet.SideApplied
		if view.AppliedRevision == nil {
			from = fleet.SideDesired
		}
	}
	before, after, err := c.Fleet.Sides(r.Context(), actor(r), view.ID, from, to)
	if err != nil {
		return err
	}
	_, rows, _, err := c.Fleet.History(r.Context(), actor(r), view.ID, fleet.HistoryFilter{})
	if err != nil {
		return err
	}
	comparison := clusters.Comparison{
		Head: c.head(view, actor(r), clusters.TabHistory), Choices: choices(view, rows, from, to), From: from, To: to,
		Diffs: differences(after.Shown, before.Shown),
	}
	return c.clusterPage(w, r, http.StatusOK, view, partsHead, page{tab: i18n.M("history.comparison"), content: clusters.ComparisonBody(comparison)})
}

// choices are the sides that can be compared, those that are compared now among them.
func choices(view fleet.ClusterView, rows []fleet.Past, chosen ...string) []clusters.Choice {
	out := []clusters.Choice{{Value: fleet.SideDesired, Label: i18n.M("history.side.desired")}}
	if view.AppliedRevision != nil {
		out = append(out, clusters.Choice{Value: fleet.SideApplied, Label: i18n.M("history.side.applied")})
	}
	if view.Found != nil {
		out = append(out, clusters.Choice{Value: fleet.SideActual, Label: i18n.M("history.side.actual")})
	}
	known := map[string]bool{}
	for _, choice := range out {
		known[choice.Value] = true
	}
	number := func(text string) {
		if !known[text] {
			known[text] = true
			out = append(out, clusters.Choice{Value: text, Label: i18n.M("history.number", text)})
		}
	}
	for _, row := range rows {
		number(strconv.Itoa(row.Revision))
	}
	for _, name := range chosen { // older than the history is long
		number(name)
	}
	return out
}

// RollbackPage asks before an earlier configuration becomes the wanted one again.
func (c *Console) RollbackPage(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	return c.rollback(w, r, http.StatusOK, view, r.URL.Query().Get(clusters.FieldTo), i18n.Message{})
}

func (c *Console) rollback(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, to string, problem i18n.Message) error {
	now, then, err := c.Fleet.Sides(r.Context(), actor(r), view.ID, fleet.SideDesired, to)
	if err != nil {
		return err
	}
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("rollback.tab"), content: clusters.RollbackBody(clusters.Rollback{
		Head: c.head(view, actor(r), clusters.TabNone), Current: strconv.Itoa(view.Revision), Problem: problem,
		To: clusters.Revision{
			Number: then.Revision, Template: then.TemplateName, TemplateVersion: then.TemplateNumber, Who: then.By, When: then.At,
		},
		Diffs: differences(then.Shown, now.Shown),
	})})
}

// Rollback makes an earlier configuration the wanted one again.
func (c *Console) Rollback(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	current, err := strconv.Atoi(r.PostForm.Get(clusters.FieldRevision))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "fault.form")
	}
	to, err := strconv.Atoi(r.PostForm.Get(clusters.FieldTo))
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "fault.form")
	}
	_, task, err := c.Fleet.Rollback(r.Context(), actor(r), view.ID, current, to)
	if refusal, is := refused(err); is {
		if view, err = c.cluster(r.Context(), actor(r), view.ID); err != nil {
			return err
		}
		return c.rollback(w, r, respond.Status(refusal), view, strconv.Itoa(to), rollbackProblem(refusal))
	}
	switch {
	case err != nil:
		return err
	case task != nil:
		return respond.SeeOther(w, r, paths.Task(task.ID.String()))
	}
	return respond.SeeOther(w, r, paths.Cluster(view.ID.String()))
}

// rollbackProblem says why an earlier configuration cannot be had any more: itself, or the first
// of its parameters that the inventory or the template no longer allows.
func rollbackProblem(refusal *fault.Error) i18n.Message {
	for _, key := range slices.Sorted(maps.Keys(refusal.Fields)) {
		return i18n.M("cluster.parameter_error", key, i18n.Message(refusal.Fields[key]))
	}
	return respond.Message(refusal)
}
