package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"commander/store"
)

// A planted fault changes an answer of the database or leaves something out of what it is told, as
// one mistake in a query or a rule would. Each breaks a rule in some schedule: a rule that no fault
// can break would hold nothing. They stand between the rules and the rows of a run in memory, where
// no product comes.

// unlocked is the fault that is planted in the engine.
const unlocked = "the engine's lock holds nothing"

// unnoticed is the fault for which a database that is away looks like any other error.
const unnoticed = "a verdict right after the checker was blind"

// overlooks is planted in the engine as well.
const overlooks = "a check overlooks a difference"

// rash is the fault that is planted around the worker.
const rash = "the worker tries again what it lost sight of"

// Planted are the names of all faults.
func Planted() []string {
	return append(slices.Sorted(maps.Keys(faults)), unlocked, overlooks, rash)
}

var faults = map[string]func(mistake) store.Querier{
	"a heartbeat by the worker's clock":            func(f mistake) store.Querier { return beatsByOwnClock{f} },
	"a verdict by the checker's clock":             func(f mistake) store.Querier { return judgesByOwnClock{f} },
	unnoticed:                                      func(f mistake) store.Querier { return neverBlind{f} },
	"a verdict long before the limit":              func(f mistake) store.Querier { return impatient{f} },
	"the fence holds nothing":                      func(f mistake) store.Querier { return unfenced{f} },
	"a second delivery is taken":                   func(f mistake) store.Querier { return claimsAgain{f} },
	"another attempt has the number of the last":   func(f mistake) store.Querier { return sameAttempt{f} },
	"a running task is forgotten by those who ask": func(f mistake) store.Querier { return forgets{f, []store.TaskStatus{store.TaskRunning}} },
	"a lost task is forgotten by those who ask": func(f mistake) store.Querier {
		return forgets{f, []store.TaskStatus{store.TaskLost, store.TaskLostInCritical}}
	},
	"a silent deletion is forgotten by the checker": func(f mistake) store.Querier { return forgetsDeletions{f} },
	"a delivery counts for ever":                    func(f mistake) store.Querier { return deliveredForEver{f} },
	"a stop is lost":                                func(f mistake) store.Querier { return losesStops{f} },
	"an approval is for whatever comes":             func(f mistake) store.Querier { return approvesAll{f} },
	"progress goes back":                            func(f mistake) store.Querier { return goesBack{f} },
	"a task is whole however it ended":              func(f mistake) store.Querier { return alwaysWhole{f} },
	"checks pile up":                                func(f mistake) store.Querier { return keepsChecks{f} },
}

// mistake is what one is planted in: the rows of a transaction, and who asks.
type mistake struct {
	*rows
	c *connection
}

// planted puts the run's fault between a transaction and its rows.
func (c *connection) planted(fn func(pgx.Tx, store.Querier) error) func(pgx.Tx, store.Querier) error {
	plant, is := faults[c.w.fault]
	if !is {
		return fn
	}
	return func(tx pgx.Tx, q store.Querier) error { return fn(tx, plant(mistake{q.(*rows), c})) }
}

type beatsByOwnClock struct{ mistake }

func (f beatsByOwnClock) BeatTask(_ context.Context, p store.BeatTaskParams) (bool, error) {
	f.now = f.c.p.Now()
	return f.rows.BeatTask(context.Background(), p)
}

type judgesByOwnClock struct{ mistake }

func (f judgesByOwnClock) QuietTaskForUpdate(ctx context.Context, p store.QuietTaskForUpdateParams) (store.Task, error) {
	p.QuietLimit -= f.c.p.skew
	return f.rows.QuietTaskForUpdate(ctx, p)
}

func (f judgesByOwnClock) QuietTasks(ctx context.Context, limit time.Duration) ([]uuid.UUID, error) {
	return f.rows.QuietTasks(ctx, limit-f.c.p.skew)
}

type neverBlind struct{ mistake }

// Now goes on by the same step each time, as if there had been no pause.
func (f neverBlind) Now(context.Context) (time.Time, error) {
	f.c.asked++
	return time.Time{}.Add(time.Duration(f.c.asked) * judgeEvery), nil
}

type impatient struct{ mistake }

func (f impatient) QuietTaskForUpdate(ctx context.Context, p store.QuietTaskForUpdateParams) (store.Task, error) {
	p.QuietLimit /= 8
	return f.rows.QuietTaskForUpdate(ctx, p)
}

func (f impatient) QuietTasks(ctx context.Context, limit time.Duration) ([]uuid.UUID, error) {
	return f.rows.QuietTasks(ctx, limit/8)
}

type unfenced struct{ mistake }

// now is the attempt that a task is at, whatever attempt asks.
func (f unfenced) at(id uuid.UUID) int {
	if task := f.task(id); task != nil {
		return task.Attempt
	}
	return 0
}

func (f unfenced) TaskForUpdate(ctx context.Context, id uuid.UUID) (store.Task, error) {
	task, err := f.rows.TaskForUpdate(ctx, id)
	if f.c.delivery.TaskID == id {
		task.Attempt = f.c.delivery.Attempt
	}
	return task, err
}

func (f unfenced) BeatTask(ctx context.Context, p store.BeatTaskParams) (bool, error) {
	p.Attempt = f.at(p.ID)
	return f.rows.BeatTask(ctx, p)
}

func (f unfenced) SetTaskPhaseEnd(ctx context.Context, p store.SetTaskPhaseEndParams) (int64, error) {
	p.Attempt = f.at(p.ID)
	return f.rows.SetTaskPhaseEnd(ctx, p)
}

func (f unfenced) FinishTask(ctx context.Context, p store.FinishTaskParams) (store.Task, error) {
	p.Attempt = f.at(p.ID)
	return f.rows.FinishTask(ctx, p)
}

type claimsAgain struct{ mistake }

func (f claimsAgain) ClaimTask(ctx context.Context, p store.ClaimTaskParams) (store.Task, error) {
	if task := f.held(p.ID, p.Attempt, store.TaskRunning); task != nil {
		task.Status = store.TaskQueued
	}
	return f.rows.ClaimTask(ctx, p)
}

type sameAttempt struct{ mistake }

func (f sameAttempt) RequeueTask(ctx context.Context, p store.RequeueTaskParams) (store.Task, error) {
	f.tasks.change(taskOf(p.ID)).Attempt--
	return f.rows.RequeueTask(ctx, p)
}

type forgets struct {
	mistake
	what []store.TaskStatus
}

func (f forgets) ActiveTasks(ctx context.Context, cluster uuid.UUID) ([]store.Task, error) {
	all, err := f.rows.ActiveTasks(ctx, cluster)
	return slices.DeleteFunc(all, func(t store.Task) bool { return is(t.Status, f.what...) }), err
}

type forgetsDeletions struct{ mistake }

func (f forgetsDeletions) QuietTasks(ctx context.Context, limit time.Duration) ([]uuid.UUID, error) {
	ids, err := f.rows.QuietTasks(ctx, limit)
	return slices.DeleteFunc(ids, func(id uuid.UUID) bool { return f.task(id).Kind == store.TaskDestroy }), err
}

type deliveredForEver struct{ mistake }

func (f deliveredForEver) UndeliveredTasks(ctx context.Context, grace time.Duration) ([]uuid.UUID, error) {
	ids, err := f.rows.UndeliveredTasks(ctx, grace)
	return slices.DeleteFunc(ids, func(id uuid.UUID) bool { return f.task(id).Delivery != nil }), err
}

type losesStops struct{ mistake }

func (losesStops) RequestTaskStop(context.Context, uuid.UUID) error { return nil }

type approvesAll struct{ mistake }

func (f approvesAll) ClaimTask(ctx context.Context, p store.ClaimTaskParams) (store.Task, error) {
	task, err := f.rows.ClaimTask(ctx, p)
	if err == nil {
		row, _ := f.ClusterRevision(ctx, store.ClusterRevisionParams{ClusterID: task.ClusterID, Revision: task.Revision})
		task.ChangeID = fmt.Sprintf("change-%v", row.Parameters["size"])
	}
	return task, err
}

type goesBack struct{ mistake }

func (f goesBack) SetTaskProgress(ctx context.Context, p store.SetTaskProgressParams) (int64, error) {
	if task := f.held(p.ID, p.Attempt, store.TaskRunning); task != nil {
		task.Progress = 0
	}
	return f.rows.SetTaskProgress(ctx, p)
}

type alwaysWhole struct{ mistake }

func (f alwaysWhole) FinishTask(ctx context.Context, p store.FinishTaskParams) (store.Task, error) {
	if task := f.held(p.ID, p.Attempt, store.TaskRunning); task != nil {
		task.Progress = 1
	}
	return f.rows.FinishTask(ctx, p)
}

type keepsChecks struct{ mistake }

func (keepsChecks) DeleteOlderChecks(context.Context, store.DeleteOlderChecksParams) error {
	return nil
}
