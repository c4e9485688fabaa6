package console

import (
	"context"
	"net/http"
	"strconv"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/clusters"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
	"commander/web/respond"
)

// ClusterSettings is the form of how a cluster is kept as declared.
func (c *Console) ClusterSettings(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	fields := settingsFields(r.Context(), string(view.SyncMode), strconv.Itoa(view.CheckIntervalMinutes), nil)
	return c.settingsPage(w, r, http.StatusOK, view, clusters.Settings{Fields: fields, Saved: r.URL.Query().Has(saved)})
}

// saved is the query parameter that says a form was just saved.
const saved = "saved"

func (c *Console) settingsPage(w http.ResponseWriter, r *http.Request, status int, view fleet.ClusterView, s clusters.Settings) error {
	s.Head, s.Locked = c.head(view, actor(r), clusters.TabSettings), view.IsLocked
	s.CanEdit = s.Can.Edit
	return c.clusterPage(w, r, status, view, partsHead, page{tab: i18n.M("cluster.tab.settings"), content: clusters.SettingsBody(s)})
}

func settingsFields(ctx context.Context, mode, every string, problems map[string]fault.Message) []ui.Field {
	fields := []ui.Field{
		{
			Name: clusters.FieldMode, Kind: ui.Select, Span: 4, Title: i18n.T(ctx, "cluster.settings.mode_title"), Hint: i18n.T(ctx, "cluster.settings.mode_hint"),
			Value: mode, Options: []ui.Option{
				{Value: clusters.ModeAuto, Text: i18n.T(ctx, "cluster.settings.auto")},
				{Value: clusters.ModeManual, Text: i18n.T(ctx, "cluster.settings.manual")},
			},
		},
		{
			Name: clusters.FieldCheckEvery, Kind: ui.Number, Span: 2, Title: i18n.T(ctx, "cluster.settings.check_title"),
			Hint: i18n.T(ctx, "cluster.settings.check_hint"), Value: every,
		},
	}
	focusProblem(fields, problems)
	return fields
}

// focusProblem puts problems beside their fields and the cursor into the first one.
func focusProblem(fields []ui.Field, problems map[string]fault.Message) {
	focused := false
	for i := range fields {
		fields[i].Problem = i18n.Message(problems[fields[i].Name])
		if !fields[i].Problem.IsZero() && !focused {
			fields[i].Focus, focused = true, true
		}
	}
}

// SaveClusterSettings changes how a cluster is kept as declared.
func (c *Console) SaveClusterSettings(w http.ResponseWriter, r *http.Request) error {
	view, done, err := c.managed(w, r)
	if done {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	mode, every := r.PostForm.Get(clusters.FieldMode), r.PostForm.Get(clusters.FieldCheckEvery)
	minutes, err := strconv.Atoi(every)
	if err != nil {
		minutes = 0 // no number is no interval: the rules say what is
	}
	_, err = c.Fleet.SetClusterSettings(r.Context(), actor(r), view.ID, fleet.ClusterSettings{Mode: store.SyncMode(mode), CheckEvery: minutes})
	if refusal, is := refused(err); is {
		return c.settingsPage(w, r, respond.Status(refusal), view, clusters.Settings{Fields: settingsFields(r.Context(), mode, every, refusal.Fields)})
	}
	if err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.ClusterSettings(view.ID.String())+"?"+saved)
}

// ProtectCluster protects a cluster from deletion, or lifts the protection.
func (c *Console) ProtectCluster(w http.ResponseWriter, r *http.Request) error {
	cluster, err := id(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	if _, err := c.Fleet.LockCluster(r.Context(), actor(r), cluster, r.PostForm.Get(clusters.FieldLocked) == "true"); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.ClusterSettings(cluster.String()))
}
