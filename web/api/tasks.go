package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"commander/fleet"
	"commander/store"
	"commander/views/i18n"
	"commander/views/paths"
)

// tasks are the addresses of what is done to clusters.
func (a *api) tasks(r chi.Router) {
	const tasks = paths.RouteAPI + "/tasks"
	r.Get(paths.RouteAPI+"/clusters/{id}/tasks", a.handler(a.listClusterTasks))
	r.Get(tasks, a.handler(a.listTasks))
	r.Get(tasks+"/{id}", a.handler(a.showTask))
	r.Get(tasks+"/{id}/log", a.handler(a.taskLog))
	r.Post(tasks+"/{id}/retry", a.handler(a.retryTask))
	r.Post(tasks+"/{id}/stop", a.handler(a.stopTask))
	r.Post(tasks+"/{id}/give_up", a.handler(a.giveUpTask))
}

// task is an operation on a cluster.
type task struct {
	ID            uuid.UUID        `json:"id"`
	ClusterID     uuid.UUID        `json:"cluster_id"`
	Kind          store.TaskKind   `json:"kind"`
	Status        store.TaskStatus `json:"status"`
	Revision      int              `json:"revision"`
	Attempt       int              `json:"attempt"`
	Phase         string           `json:"phase"`
	SubPhase      string           `json:"sub_phase"`
	Progress      float64          `json:"progress"` // from 0 to 1
	Phases        store.Phases     `json:"phases"`
	StopRequested bool             `json:"stop_requested"`
	Failure       string           `json:"failure"`
	CreatedBy     string           `json:"created_by"`
	CreatedAt     moment           `json:"created_at"`
	UpdatedAt     moment           `json:"updated_at"`
	StartedAt     *moment          `json:"started_at"`
	HeartbeatAt   *moment          `json:"heartbeat_at"`
	FinishedAt    *moment          `json:"finished_at"`
}

func taskOf(ctx context.Context, t store.Task) task {
	out := task{
		ID: t.ID, ClusterID: t.ClusterID, Kind: t.Kind, Status: t.Status, Revision: t.Revision, Attempt: t.Attempt, Phase: t.Phase,
		SubPhase: t.SubPhase, Progress: t.Progress, Phases: append(store.Phases{}, t.Phases...), StopRequested: t.StopRequested, Failure: t.Error,
		CreatedBy: t.CreatedBy, CreatedAt: moment(t.CreatedAt), UpdatedAt: moment(t.ChangedAt),
		StartedAt: optional(t.StartedAt), HeartbeatAt: optional(t.HeartbeatAt), FinishedAt: optional(t.FinishedAt),
	}
	if i18n.Has(t.Error) { // said by us, not by an installer
		out.Failure = i18n.T(ctx, t.Error)
	}
	return out
}

// Bounds of what one answer lists.
const (
	usualTasks = 100
	mostTasks  = 1_000
	logChunks  = 200
)

func (a *api) listTasks(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit, err := bounded(query.Get("limit"), "limit", 1, mostTasks, usualTasks)
	if err != nil {
		return err
	}
	offset, err := bounded(query.Get("offset"), "offset", 0, 1<<30, 0)
	if err != nil {
		return err
	}
	filter := fleet.TaskFilter{Limit: limit, Start: offset}
	for _, status := range query["status"] {
		filter.Statuses = append(filter.Statuses, store.TaskStatus(status))
	}
	c := callerOf(r.Context())
	found, err := a.fleet.Tasks(r.Context(), c.actor, c.workspace.ID, filter)
	if err != nil {
		return err
	}
	out := make([]task, 0, len(found.Rows))
	for _, row := range found.Rows {
		out = append(out, taskOf(r.Context(), row.Task))
	}
	send(w, http.StatusOK, out)
	return nil
}

// bounded reads a number of a query; an empty one is the usual.
func bounded(text, name string, least, most, usual int) (int, error) {
	if text == "" {
		return usual, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < least || number > most {
		return 0, &badRequest{http.StatusBadRequest, problem{
			Error: "malformed", Message: "An attribute has the wrong type.",
			Details: map[string]string{name: "must be a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)},
		}}
	}
	return number, nil
}

func (a *api) listClusterTasks(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	view, err := a.fleet.Cluster(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	out := make([]task, 0, len(view.Tasks))
	for _, t := range view.Tasks {
		out = append(out, taskOf(r.Context(), t))
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) showTask(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	view, err := a.fleet.Task(r.Context(), callerOf(r.Context()).actor, id)
	if err != nil {
		return err
	}
	send(w, http.StatusOK, taskOf(r.Context(), view.Task))
	return nil
}

// logChunk is some lines of a log that came together.
type logChunk struct {
	Sequence  int    `json:"sequence"`
	FirstLine int    `json:"first_line"`
	Text      string `json:"text"`
	At        moment `json:"at"`
}

// taskLog tells a part of a log: a program follows it by asking for what is after the last sequence.
func (a *api) taskLog(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	after, err := bounded(r.URL.Query().Get("after"), "after", 0, 1<<30, 0)
	if err != nil {
		return err
	}
	chunks, err := a.fleet.TaskLog(r.Context(), callerOf(r.Context()).actor, id, after, logChunks)
	if err != nil {
		return err
	}
	out := make([]logChunk, 0, len(chunks))
	for _, chunk := range chunks {
		out = append(out, logChunk{chunk.Seq, chunk.Line, chunk.Body, moment(chunk.At)})
	}
	send(w, http.StatusOK, out)
	return nil
}

func (a *api) retryTask(w http.ResponseWriter, r *http.Request) error {
	return a.onTask(w, r, a.fleet.Retry)
}

func (a *api) stopTask(w http.ResponseWriter, r *http.Request) error {
	return a.onTask(w, r, a.fleet.StopTask)
}

func (a *api) giveUpTask(w http.ResponseWriter, r *http.Request) error {
	return a.onTask(w, r, a.fleet.GiveUp)
}

// onTask does something with a task and answers with it.
func (a *api) onTask(w http.ResponseWriter, r *http.Request, do func(context.Context, fleet.Actor, uuid.UUID) (store.Task, error)) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if _, err := do(r.Context(), callerOf(r.Context()).actor, id); err != nil {
		return err
	}
	return a.showTask(w, r)
}
