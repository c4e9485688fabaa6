package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/internal/fault"
	"commander/store"
	"commander/views/paths"
)

// together are the addresses of moves of many clusters to a version of a template.
func (a *api) together(r chi.Router) {
	const switches = paths.RouteAPI + "/cluster_switches"
	r.Get(switches+"/candidates", a.handler(a.switchCandidates))
	r.Post(switches+"/preview", a.handler(a.previewSwitch))
	r.Get(switches, a.handler(a.listSwitches))
	r.Post(switches, a.handler(a.createSwitch))
	r.Get(switches+"/{id}", a.handler(a.showSwitch))
	r.Post(switches+"/{id}/cancel", a.handler(a.cancelSwitch))
}

// switchCandidate is a cluster that could be moved.
type switchCandidate struct {
	ID              uuid.UUID           `json:"id"`
	Name            string              `json:"name"`
	CurrentRevision int                 `json:"current_revision"`
	Status          store.ClusterStatus `json:"status"`
	Version         int                 `json:"version"`
}

// switchCandidates lists the clusters of a template that have another version of it.
func (a *api) switchCandidates(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get(fleet.VersionField)
	if err := require(attribute{fleet.VersionField, text != ""}); err != nil {
		return err
	}
	id, err := versionIn(text)
	if err != nil {
		return err
	}
	c := callerOf(r.Context())
	_, version, _, err := a.fleet.TemplateVersion(r.Context(), c.actor, c.workspace.ID, id)
	if err != nil {
		return err
	}
	rows, total, err := a.fleet.SwitchCandidates(r.Context(), c.actor, version, fleet.SwitchSearch{Text: r.URL.Query().Get("search")})
	if err != nil {
		return err
	}
	out := struct {
		Total    int               `json:"total"`
		Clusters []switchCandidate `json:"clusters"`
	}{total, []switchCandidate{}}
	for _, row := range rows {
		out.Clusters = append(out.Clusters, switchCandidate{row.ID, row.Name, row.Revision, row.Status, row.VersionNumber})
	}
	send(w, http.StatusOK, out)
	return nil
}

// switchPreview is what a move would make of one cluster. Without a refusal it would be moved.
type switchPreview struct {
	ClusterID uuid.UUID `json:"cluster_id"`
	Name      string    `json:"name"`
	Refusal   *string   `json:"refusal"`
	// Upgrade is null for a cluster that the workspace does not have.
	Upgrade *upgrade `json:"upgrade"`
}

func (a *api) previewSwitch(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ClusterTemplateVersionID *string     `json:"cluster_template_version_id"`
		ClusterIDs               []uuid.UUID `json:"cluster_ids"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{fleet.VersionField, body.ClusterTemplateVersionID != nil}, attribute{"cluster_ids", body.ClusterIDs != nil}); err != nil {
		return err
	}
	version, err := versionIn(*body.ClusterTemplateVersionID)
	if err != nil {
		return err
	}
	lines, err := a.fleet.PreviewSwitch(r.Context(), callerOf(r.Context()).actor, version, body.ClusterIDs)
	if err != nil {
		return err
	}
	out := make([]switchPreview, 0, len(lines))
	for _, line := range lines {
		preview := switchPreview{ClusterID: line.ClusterID, Name: line.Cluster.Name, Refusal: reasonOf(r.Context(), line.Refusal)}
		if line.To.ID != uuid.Nil {
			plan := upgradeOf(r.Context(), line.Upgrade)
			preview.Upgrade = &plan
		}
		out = append(out, preview)
	}
	send(w, http.StatusOK, out)
	return nil
}

// What a move does when its body does not say, as in the console.
const (
	usualWave     = 10
	usualParallel = 5
)

func (a *api) createSwitch(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		ClusterTemplateVersionID *string `json:"cluster_template_version_id"`
		Clusters                 []struct {
			ID              *uuid.UUID `json:"id"`
			CurrentRevision *int       `json:"current_revision"`
		} `json:"clusters"`
		WaveSize      *int       `json:"wave_size"`
		Parallel      *int       `json:"parallel"`
		StopAtFailure *bool      `json:"stop_at_failure"`
		RequestID     *uuid.UUID `json:"request_id"`
	}
	if err := read(w, r, &body); err != nil {
		return err
	}
	if err := require(attribute{fleet.VersionField, body.ClusterTemplateVersionID != nil}, attribute{"clusters", body.Clusters != nil}); err != nil {
		return err
	}
	version, err := versionIn(*body.ClusterTemplateVersionID)
	if err != nil {
		return err
	}
	plan := fleet.SwitchPlan{
		VersionID: version, WaveSize: orUsual(body.WaveSize, usualWave), Parallel: orUsual(body.Parallel, usualParallel),
		StopAtFailure: orUsual(body.StopAtFailure, true), Nonce: body.RequestID,
	}
	for _, c := range body.Clusters {
		if err := require(attribute{"clusters.id", c.ID != nil}, attribute{"clusters.current_revision", c.CurrentRevision != nil}); err != nil {
			return err
		}
		plan.Clusters = append(plan.Clusters, fleet.SwitchTarget{ID: *c.ID, Revision: *c.CurrentRevision})
	}
	c := callerOf(r.Context())
	move, err := a.fleet.SwitchClusters(r.Context(), c.actor, plan)
	if err != nil {
		return err
	}
	w.Header().Set("Location", r.URL.Path+"/"+move.ID.String())
	return a.answerSwitch(w, r, http.StatusCreated, move.ID, fleet.SwitchFilter{})
}

func orUsual[T any](given *T, usual T) T {
	if given != nil {
		return *given
	}
	return usual
}

func (a *api) showSwitch(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	filter := fleet.SwitchFilter{}
	for _, state := range r.URL.Query()["status"] {
		filter.States = append(filter.States, store.SwitchState(state))
	}
	return a.answerSwitch(w, r, http.StatusOK, id, filter)
}

func (a *api) cancelSwitch(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := a.fleet.CancelSwitch(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.answerSwitch(w, r, http.StatusOK, id, fleet.SwitchFilter{})
}

// answerSwitch sends a move with those of its clusters that a filter chooses.
func (a *api) answerSwitch(w http.ResponseWriter, r *http.Request, code int, id uuid.UUID, filter fleet.SwitchFilter) error {
	view, err := a.fleet.BulkSwitch(r.Context(), callerOf(r.Context()).actor, id, filter)
	if err != nil {
		return err
	}
	send(w, code, switchOf(r.Context(), view))
	return nil
}

func (a *api) listSwitches(w http.ResponseWriter, r *http.Request) error {
	text := r.URL.Query().Get("cluster_template_id")
	if err := require(attribute{"cluster_template_id", text != ""}); err != nil {
		return err
	}
	template, err := uuid.Parse(text)
	if err != nil {
		return fault.Wrap(fault.NotFound, err, "fault.not_found")
	}
	rows, _, err := a.fleet.BulkSwitches(r.Context(), callerOf(r.Context()).actor, template, fleet.SwitchesFilter{})
	if err != nil {
		return err
	}
	out := make([]switchSummary, 0, len(rows))
	for _, row := range rows {
		out = append(out, summaryOfSwitch(row.BulkSwitch, row.VersionNumber, fleet.SwitchAuthor(row)))
	}
	send(w, http.StatusOK, out)
	return nil
}
