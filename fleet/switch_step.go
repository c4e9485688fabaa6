package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"commander/internal/fault"
	"commander/store"
)

// mostAtOnce bounds what one look at a move starts or refuses, so that a job never runs for long.
const mostAtOnce = 100

// ContinueSwitch notes what became of the changes of a move and starts those that may start now. done
// is true when nothing is left to do. It can be repeated, and by several at once: what each cluster is
// at stands in its row, which changes in the transaction that changes the cluster.
func (f *Fleet) ContinueSwitch(ctx context.Context, id uuid.UUID) (done bool, err error) {
	move, err := f.Store.BulkSwitch(ctx, id)
	if notThere(err) {
		return true, nil // gone with its workspace
	}
	if err != nil {
		return false, fmt.Errorf("read move %s: %w", id, store.AsFault(err))
	}
	// Pages show how far the changes that run have come, so each look is news.
	defer f.Store.Publish(store.SwitchTopic(id))
	for range mostAtOnce {
		// A version that may not be used any more refuses the clusters that are left.
		version, unusable := f.usableVersion(ctx, move.WorkspaceID, move.TemplateVersionID)
		if unusable != nil && !fault.Is(unusable, fault.Invalid) {
			return false, fmt.Errorf("continue move %s: %w", id, unusable)
		}
		var step switchStep
		err := f.Store.InTx(ctx, func(tx *store.Tx) error {
			var err error
			step, err = f.stepSwitch(ctx, tx, id, version, unusable)
			return err
		})
		reason, refused := refusal(err)
		switch {
		case refused && step.cluster != uuid.Nil:
			// The transaction is gone with all that it began; only the refusal is kept.
			if err := f.refuseSwitch(ctx, id, step.cluster, reason); err != nil {
				return false, err
			}
		case err != nil:
			return false, fmt.Errorf("continue move %s: %w", id, err)
		case step.cluster == uuid.Nil:
			return step.done, nil
		}
	}
	return false, nil
}

// switchStep is what one step did: it started a cluster, or found none to start.
type switchStep struct {
	cluster uuid.UUID
	done    bool
}

func (f *Fleet) stepSwitch(ctx context.Context, tx *store.Tx, id uuid.UUID, version store.ClusterTemplateVersion, unusable error) (switchStep, error) {
	move, err := tx.BulkSwitchForUpdate(ctx, id)
	if err != nil || move.FinishedAt != nil {
		return switchStep{done: err == nil}, err
	}
	rows, err := tx.OpenBulkSwitchClusters(ctx, id)
	if err != nil {
		return switchStep{}, err
	}
	if err := settleSwitch(ctx, tx, &move, rows); err != nil {
		return switchStep{}, err
	}
	next, running := nextInSwitch(move, rows)
	if next == nil {
		if running > 0 {
			return switchStep{}, nil
		}
		return switchStep{done: true}, endSwitch(ctx, tx, move)
	}
	// From here on a refusal is about this cluster.
	step := switchStep{cluster: next.ClusterID}
	if unusable != nil {
		return step, unusable
	}
	actor, err := plannedBy(ctx, tx, move)
	if err != nil {
		return step, err
	}
	_, task, err := f.upgradeIn(ctx, tx, actor, step.cluster, version, UpgradeChoice{
		Revision: next.Revision, VersionID: move.TemplateVersionID,
	})
	if err != nil {
		return step, err
	}
	row := store.StartBulkSwitchClusterParams{SwitchID: id, ClusterID: step.cluster, Status: store.SwitchDone}
	if task != nil {
		row.Status, row.TaskID = store.SwitchRuns, &task.ID
	}
	if err := tx.StartBulkSwitchCluster(ctx, row); err != nil {
		return step, err
	}
	return step, tx.TouchBulkSwitch(ctx, id)
}

// plannedBy is in whose name a move acts: it was allowed when it was planned, and can be cancelled.
func plannedBy(ctx context.Context, tx store.Querier, move store.BulkSwitch) (actor Actor, err error) {
	actor = Actor{Type: ActorType(move.ActorType), Name: move.ActorName, Roles: map[uuid.UUID]store.Role{move.WorkspaceID: store.RoleFull}}
	if move.ActorID != nil {
		actor.ID = *move.ActorID
	}
	actor.Owner, err = owner(ctx, tx, actor.Type, move.ActorID)
	return actor, err
}

// ended are the statuses of a task with which the change of a cluster is over.
var ended = map[store.TaskStatus]store.SwitchState{
	store.TaskSucceeded: store.SwitchDone, store.TaskFailed: store.SwitchFailed, store.TaskCancelled: store.SwitchFailed,
	store.TaskLost: store.SwitchFailed, store.TaskLostInCritical: store.SwitchFailed,
	"": store.SwitchFailed, // removed since: nobody knows any more
}

var switchReasons = map[store.TaskStatus]string{
	store.TaskFailed: "cluster.switch.task_failed", store.TaskCancelled: "cluster.switch.task_cancelled",
	store.TaskLost: "cluster.switch.task_lost", store.TaskLostInCritical: "cluster.switch.task_lost", "": "cluster.switch.task_gone",
}

// settleSwitch notes the changes that are over, in rows as well, and stops a move that has failed.
func settleSwitch(ctx context.Context, tx *store.Tx, move *store.BulkSwitch, rows []store.OpenBulkSwitchClustersRow) error {
	var failed string
	for i := range rows {
		row := &rows[i].BulkSwitchCluster
		state, over := ended[rows[i].TaskStatus]
		if row.Status != store.SwitchRuns || !over {
			continue
		}
		if err := endInSwitch(ctx, tx, *row, state, switchReasons[rows[i].TaskStatus]); err != nil {
			return err
		}
		if row.Status = state; state == store.SwitchFailed && failed == "" {
			failed = rows[i].Name
		}
	}
	if failed == "" || !move.StopAtFailure || move.Status != store.SwitchRunning {
		return nil
	}
	for i := range rows {
		if rows[i].BulkSwitchCluster.Status == store.SwitchWaits {
			rows[i].BulkSwitchCluster.Status = store.SwitchSkipped
		}
	}
	var err error
	*move, err = stopSwitch(ctx, tx, *move, store.SwitchStopping, fault.Message{Key: "cluster.switch.stopped", Args: []any{failed}})
	return err
}

func endInSwitch(ctx context.Context, tx *store.Tx, row store.BulkSwitchCluster, state store.SwitchState, key string) error {
	end := store.EndBulkSwitchClusterParams{SwitchID: row.SwitchID, ClusterID: row.ClusterID, Status: state, Seen: store.SwitchRuns}
	if key != "" {
		var err error
		if end.Reason, err = json.Marshal(fault.Message{Key: key}); err != nil {
			return err
		}
	}
	if _, err := tx.EndBulkSwitchCluster(ctx, end); err != nil {
		return fmt.Errorf("note the end of the change of cluster %s: %w", row.ClusterID, err)
	}
	return tx.TouchBulkSwitch(ctx, row.SwitchID)
}

// stopSwitch starts nothing more; what runs goes on.
func stopSwitch(ctx context.Context, tx *store.Tx, move store.BulkSwitch, status store.SwitchStatus, reason fault.Message) (store.BulkSwitch, error) {
	body, err := json.Marshal(reason)
	if err != nil {
		return move, err
	}
	if err := tx.SkipBulkSwitchClusters(ctx, store.SkipBulkSwitchClustersParams{SwitchID: move.ID, Reason: body}); err != nil {
		return move, fmt.Errorf("stop move %s: %w", move.ID, err)
	}
	tx.Changed(store.SwitchTopic(move.ID))
	return tx.SetBulkSwitchStatus(ctx, store.SetBulkSwitchStatusParams{ID: move.ID, Status: status})
}

// nextInSwitch is the cluster to start now: the first that waits in a wave before which all is over,
// while fewer than allowed are running.
func nextInSwitch(move store.BulkSwitch, rows []store.OpenBulkSwitchClustersRow) (next *store.BulkSwitchCluster, running int) {
	earliest := 0 // wave that runs
	for i := range rows {
		row := &rows[i].BulkSwitchCluster
		switch {
		case row.Status == store.SwitchRuns:
			running++
			if earliest == 0 {
				earliest = row.Wave
			}
		case row.Status == store.SwitchWaits && next == nil:
			next = row
		}
	}
	if next == nil || running >= move.Parallel || earliest != 0 && earliest < next.Wave {
		return nil, running
	}
	return next, running
}

func endSwitch(ctx context.Context, tx *store.Tx, move store.BulkSwitch) error {
	status := move.Status
	switch status {
	case store.SwitchRunning:
		status = store.SwitchFinished
	case store.SwitchStopping:
		status = store.SwitchStopped
	}
	_, err := tx.SetBulkSwitchStatus(ctx, store.SetBulkSwitchStatusParams{ID: move.ID, Status: status, Ended: true})
	return err
}

// refuseSwitch notes why a cluster was not moved, unless somebody else went on with it since.
func (f *Fleet) refuseSwitch(ctx context.Context, id, clusterID uuid.UUID, reason *fault.Message) error {
	body, err := json.Marshal(reason)
	if err != nil {
		return err
	}
	return f.Store.InTx(ctx, func(tx *store.Tx) error {
		if _, err := tx.BulkSwitchForUpdate(ctx, id); err != nil {
			return err
		}
		if _, err := tx.EndBulkSwitchCluster(ctx, store.EndBulkSwitchClusterParams{
			SwitchID: id, ClusterID: clusterID, Status: store.SwitchRefused, Reason: body, Seen: store.SwitchWaits,
		}); err != nil {
			return fmt.Errorf("note why cluster %s was not moved: %w", clusterID, err)
		}
		return tx.TouchBulkSwitch(ctx, id)
	})
}

// refusal is what an error says about the cluster itself, in one message; other errors are none.
func refusal(err error) (*fault.Message, bool) {
	var known *fault.Error
	if !errors.As(err, &known) || known.Kind != fault.Invalid && known.Kind != fault.Conflict && known.Kind != fault.NotFound {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(known.Fields)) {
		problem := known.Fields[name]
		return &fault.Message{Key: "cluster.switch.problem", Args: []any{strings.TrimPrefix(name, ValueField("")), problem}}, true
	}
	return &known.Message, true
}
