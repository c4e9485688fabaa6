package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"commander/store"
)

// ShareOfChecks is how many checks one of the looks that are a pause apart starts at most. All looks
// together start a little more than the intervals of all clusters ask for: clusters that are due at
// the same moment, like those of a whole night without a checker, are spread over most of their
// interval and stay so. None is started while as many wait for a manager as two looks start: what is
// due then slips, the longest overdue goes first, and pages say how late it is.
func (f *Fleet) ShareOfChecks(ctx context.Context, pause time.Duration) (int, error) {
	load, err := f.Store.CheckLoad(ctx)
	if err != nil {
		return 0, store.AsFault(err)
	}
	return shareOfChecks(load, pause), nil
}

func shareOfChecks(load store.CheckLoadRow, pause time.Duration) int {
	share := int(math.Ceil(load.PerMinute * pause.Minutes() * catchUp))
	return max(0, min(share, max(2*share, fewChecks)-load.Waiting))
}

const (
	// catchUp is how much faster than asked for checks are started when they are late.
	catchUp = 1.25
	// fewChecks may always wait for a manager.
	fewChecks = 10
)

// lateAfter is how overdue a check is called late: the looks are seconds apart.
const lateAfter = time.Minute

// LateChecks tells how many clusters of a workspace have waited too long for their check, and since
// when the check of the longest waiting is due: zero for none.
func (f *Fleet) LateChecks(ctx context.Context, actor Actor, workspaceID uuid.UUID) (clusters int, since time.Time, err error) {
	if err := Allowed(actor, ClustersView, workspaceID); err != nil {
		return 0, since, err
	}
	return f.lateChecks(ctx, store.LateChecksParams{WorkspaceID: workspaceID, Grace: lateAfter})
}

func (f *Fleet) lateChecks(ctx context.Context, of store.LateChecksParams) (clusters int, since time.Time, err error) {
	row, err := f.Store.LateChecks(ctx, of)
	if err != nil || row.Late == 0 {
		return 0, since, store.AsFault(err)
	}
	return row.Late, row.DueSince, nil
}

// StartChecks starts checks of clusters that are due, the longest overdue first, and reports how many.
// Those of one look are written together.
func (f *Fleet) StartChecks(ctx context.Context, batch int) (started int, err error) {
	err = f.Store.InTx(ctx, func(tx *store.Tx) error {
		due, err := tx.ClustersDueForCheck(ctx, batch)
		if err != nil || len(due) == 0 {
			return err
		}
		checks := store.InsertChecksParams{Priority: priorityRepair, CreatedBy: System.Name, ClusterIds: due}
		var jobs []river.InsertManyParams
		for range due {
			id := uuid.New()
			checks.Ids = append(checks.Ids, id)
			jobs = append(jobs, river.InsertManyParams{Args: CheckArgs{Delivery{TaskID: id, Attempt: 1}}, InsertOpts: delivered(priorityRepair)})
		}
		inserted, err := f.Queue.InsertManyTx(ctx, tx.Tx, jobs)
		if err != nil {
			return fmt.Errorf("deliver %d checks: %w", len(jobs), err)
		}
		for _, job := range inserted {
			checks.Deliveries = append(checks.Deliveries, job.Job.ID)
		}
		tasks, err := tx.InsertChecks(ctx, checks)
		if err != nil {
			return fmt.Errorf("write %d checks: %w", len(jobs), err)
		}
		for _, task := range tasks {
			changedTask(tx, task)
		}
		started = len(tasks)
		return nil
	})
	return started, err
}

// afterCheck notes that a cluster was looked at. A difference starts the change that ends it, or
// waits for a person in manual mode; the check before this one is forgotten.
func (f *Fleet) afterCheck(ctx context.Context, tx *store.Tx, task store.Task, cluster *store.Cluster, end Ending) error {
	if err := tx.SetClusterChecked(ctx, cluster.ID); err != nil {
		return err
	}
	if err := tx.DeleteOlderChecks(ctx, store.DeleteOlderChecksParams{ClusterID: cluster.ID, ID: task.ID}); err != nil {
		return err
	}
	if err := f.putFound(ctx, tx, task, end); err != nil {
		return err
	}
	switch {
	case goes(*cluster) || cluster.Status == store.ClusterDetaching:
		return nil // the deletion waits for this check to end, or has failed
	case cluster.Status == store.ClusterUpdating:
		return nil // a change waits for this check to end
	case cluster.Status == store.ClusterDestructiveChanges:
		return nil // a person is asked already
	case task.Status != store.TaskSucceeded:
		return f.move(ctx, tx, cluster, store.ClusterUnknown)
	case !end.OutOfSync:
		return f.move(ctx, tx, cluster, store.ClusterInSync)
	}
	_, err := f.changeNow(ctx, tx, System, cluster)
	return err
}

// changeNow starts the change of an installed cluster that is not as it is declared, or leaves it
// pending in manual mode: the task is nil then.
func (f *Fleet) changeNow(ctx context.Context, tx *store.Tx, actor Actor, cluster *store.Cluster) (*store.Task, error) {
	if cluster.SyncMode == store.SyncManual {
		return nil, f.pend(ctx, tx, cluster)
	}
	if actor.Type == ActorSystem { // a person may override the maintenance windows
		if may, err := f.mayStart(ctx, tx, cluster.ID); err != nil || !may {
			return nil, errors.Join(err, f.pend(ctx, tx, cluster))
		}
	}
	task, err := f.start(ctx, tx, actor, cluster, store.TaskConverge)
	return &task, err
}

// pend leaves a change to be started later. While a task runs nothing has to be done: its end
// finds that the configuration is another one. An approval that is asked for is void.
func (f *Fleet) pend(ctx context.Context, tx *store.Tx, cluster *store.Cluster) error {
	if cluster.Status != store.ClusterPendingChanges && !ClusterCanBecome(cluster.Status, store.ClusterPendingChanges) {
		return nil
	}
	active, err := tx.ActiveTasks(ctx, cluster.ID)
	if err != nil {
		return err
	}
	for _, task := range active {
		if task.Status != store.TaskWaitingApproval {
			continue
		}
		if err := f.close(ctx, tx, task, store.TaskCancelled, "task.superseded"); err != nil {
			return err
		}
	}
	return f.move(ctx, tx, cluster, store.ClusterPendingChanges)
}

// putFound keeps what a check found, for people to compare: what it read in the cluster is sealed.
func (f *Fleet) putFound(ctx context.Context, tx *store.Tx, task store.Task, end Ending) error {
	var said struct {
		Status  string          `json:"status"`
		Details json.RawMessage `json:"status_details"`
	}
	if task.Status != store.TaskSucceeded || json.Unmarshal(task.Result, &said) != nil || said.Status == "" {
		return nil // nothing was found
	}
	if said.Details == nil {
		said.Details = json.RawMessage("{}")
	}
	actual := store.Actual{}
	if end.Actual != nil {
		actual = *end.Actual
	}
	body, err := json.Marshal(actual)
	if err != nil {
		return fmt.Errorf("encode what is in cluster %s: %w", task.ClusterID, err)
	}
	sealed, key := tx.Keys.Seal("cluster_checks", "actual", task.ClusterID, body)
	if err := tx.SetClusterCheck(ctx, store.SetClusterCheckParams{
		ClusterID: task.ClusterID, Status: said.Status, Details: said.Details, Actual: sealed, ActualKey: key,
	}); err != nil {
		return fmt.Errorf("keep what a check found in cluster %s: %w", task.ClusterID, err)
	}
	return nil
}
