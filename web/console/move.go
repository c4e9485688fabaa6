package console

import (
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
	"commander/views/ui"
	"commander/views/upgrade"
	"commander/web/respond"
)

// Move shows a move of many clusters as it happens.
func (c *Console) Move(w http.ResponseWriter, r *http.Request) error {
	moveID, err := id(r)
	if err != nil {
		return err
	}
	query := paths.ParseQuery(r.URL.Query())
	now := c.Fleet.Clock.Now()
	view, err := c.Fleet.BulkSwitch(r.Context(), actor(r), moveID, fleet.SwitchFilter{
		States: moveStates(query.Status), Search: query.Text, Sort: query.Order(), Limit: c.size(), Start: c.first(query),
	})
	if err != nil {
		return err
	}
	m := moveOf(view, actor(r), query)
	filters := m.Table.Filters
	m.Table = c.table(query, paths.Move(m.ID), upgrade.SortWave, "clusters.filter_name", len(view.Clusters), view.Found)
	m.Table.Kind, m.Table.Filters = "move", filters
	p := page{title: i18n.M("switch.to_version", m.Version), tab: i18n.Plain(m.Template), content: upgrade.MoveBody(m)}
	if view.FinishedAt == nil {
		p.live = paths.Live(now.UnixMilli(), paths.TopicMove(m.ID))
	}
	return c.templatePage(w, r, http.StatusOK, view.Workspace, p)
}

// CancelMove starts nothing more of a move.
func (c *Console) CancelMove(w http.ResponseWriter, r *http.Request) error {
	moveID, err := id(r)
	if err != nil {
		return err
	}
	if _, err := c.Fleet.CancelSwitch(r.Context(), actor(r), moveID); err != nil {
		return err
	}
	return respond.SeeOther(w, r, paths.Move(moveID.String()))
}

// renderMove draws a move's state and the lines that are news since a moment (Unix milliseconds):
// the page knows by itself which of them it shows.
func (c *Console) renderMove(ctx context.Context, who fleet.Actor, id uuid.UUID, since int64) ([]templ.Component, int64, error) {
	now := c.Fleet.Clock.Now()
	from := time.UnixMilli(since).Add(-clockSkew)
	view, err := c.Fleet.BulkSwitch(ctx, who, id, fleet.SwitchFilter{Since: &from, Limit: c.size()})
	if err != nil {
		return nil, since, err
	}
	m := moveOf(view, who, paths.Query{})
	out := upgrade.LiveMove(m)
	for _, line := range m.Lines {
		out = append(out, upgrade.LiveMoveLine(line))
	}
	return out, now.UnixMilli(), nil
}

// moveOrder is that of the states in the list of filters.
var moveOrder = []store.SwitchState{store.SwitchWaits, store.SwitchRuns, store.SwitchDone, store.SwitchFailed, store.SwitchRefused, store.SwitchSkipped}

func moveStates(name string) []store.SwitchState {
	for _, state := range moveOrder {
		if string(state) == name {
			return []store.SwitchState{state}
		}
	}
	return nil // an old bookmark shows everything
}

func moveOf(view fleet.SwitchView, who fleet.Actor, query paths.Query) upgrade.Move {
	m := upgrade.Move{
		ID: view.ID.String(), Slug: view.Workspace.Slug, TemplateID: view.Template.ID.String(), Template: view.Template.Name,
		Version: view.Version.Number, Status: moveStatus(view.Status), Text: i18n.M("switch.next." + string(view.Status)),
		Total: totalOf(view.Counts, nil), Who: view.Who, When: view.CreatedAt, Ended: moment(view.FinishedAt),
		Wave: view.WaveSize, Parallel: view.Parallel, Stop: view.StopAtFailure,
		CanCancel: view.Status == store.SwitchRunning && fleet.May(who.Role(view.WorkspaceID), fleet.ClustersEdit),
	}
	m.Over = m.Total - totalOf(view.Counts, []store.SwitchState{store.SwitchWaits, store.SwitchRuns})
	if m.Total > 0 {
		m.Percent = 100 * m.Over / m.Total
	}
	if view.Status == store.SwitchCancelled && view.FinishedAt == nil {
		m.Text = i18n.M("switch.next.cancelling")
	}
	m.Table.Filters = append(m.Table.Filters, ui.Filter{Name: "all", Label: i18n.M("filter.all"), Count: m.Total, Href: paths.Asked(paths.Move(m.ID), query.Only("")), Pressed: moveStates(query.Status) == nil})
	for _, state := range moveOrder {
		m.Table.Filters = append(m.Table.Filters, ui.Filter{
			Name: string(state), Label: i18n.M("switch.state." + string(state)), Count: int(view.Counts[state]),
			Href: paths.Asked(paths.Move(m.ID), query.Only(string(state))), Pressed: query.Status == string(state),
		})
	}
	for _, line := range view.Clusters {
		m.Lines = append(m.Lines, moveLine(m.ID, line))
	}
	return m
}

func moveLine(move string, line fleet.SwitchLine) upgrade.MoveLine {
	l := upgrade.MoveLine{
		Move: move, ID: line.ClusterID.String(), Name: line.Name, Gone: line.Archived, Wave: line.Wave,
		Status: moveState(line.Status), Percent: int(line.TaskProgress * 100), Running: line.Status == store.SwitchRuns,
	}
	if line.TaskID != nil {
		l.Task = line.TaskID.String()
	}
	if line.Status == store.SwitchRuns && line.TaskStatus == store.TaskWaitingApproval {
		l.Status = ui.TaskStatus(string(line.TaskStatus)) // a person must decide about it
	}
	if line.Reason != nil {
		l.Reason = respond.Sentence(*line.Reason)
	}
	return l
}

var moveTones = map[store.SwitchStatus]ui.Tone{
	store.SwitchRunning: ui.Busy, store.SwitchStopping: ui.Bad, store.SwitchFinished: ui.Good, store.SwitchStopped: ui.Bad, store.SwitchCancelled: ui.Neutral,
}

func moveStatus(status store.SwitchStatus) ui.Status {
	return ui.Status{Tone: moveTones[status], Word: i18n.M("switch.status." + string(status))}
}

var stateTones = map[store.SwitchState]ui.Tone{
	store.SwitchWaits: ui.Neutral, store.SwitchRuns: ui.Busy, store.SwitchDone: ui.Good, store.SwitchFailed: ui.Bad,
	store.SwitchRefused: ui.Warn, store.SwitchSkipped: ui.Neutral,
}

func moveState(state store.SwitchState) ui.Status {
	return ui.Status{Tone: stateTones[state], Word: i18n.M("switch.state." + string(state))}
}
