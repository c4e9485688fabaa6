package fleet

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"commander/store"
)

// ClustersQueue is the River queue of work on clusters.
const ClustersQueue = "clusters"

// Delivery says which attempt of which task to work on. It is all that a job holds: never a secret.
type Delivery struct {
	TaskID  uuid.UUID `json:"task_id"`
	Attempt int       `json:"attempt"`
}

// Of is the delivery itself, for whoever works on all kinds alike.
func (d Delivery) Of() Delivery { return d }

// BootstrapArgs and the other args deliver one kind of task each.
type (
	BootstrapArgs struct{ Delivery }
	ConvergeArgs  struct{ Delivery }
	DestroyArgs   struct{ Delivery }
	CheckArgs     struct{ Delivery }
	AbortArgs     struct{ Delivery }
	AttachArgs    struct{ Delivery }
	DetachArgs    struct{ Delivery }
)

// Kind names the job in River.
func (BootstrapArgs) Kind() string { return "cluster.bootstrap" }

// Kind names the job in River.
func (ConvergeArgs) Kind() string { return "cluster.converge" }

// Kind names the job in River.
func (DestroyArgs) Kind() string { return "cluster.destroy" }

// Kind names the job in River.
func (CheckArgs) Kind() string { return "cluster.check" }

// Kind names the job in River.
func (AbortArgs) Kind() string { return "cluster.abort" }

// Kind names the job in River.
func (AttachArgs) Kind() string { return "cluster.attach" }

// Kind names the job in River.
func (DetachArgs) Kind() string { return "cluster.detach" }

func argsFor(kind store.TaskKind, d Delivery) (river.JobArgs, error) {
	switch kind {
	case store.TaskBootstrap:
		return BootstrapArgs{d}, nil
	case store.TaskConverge:
		return ConvergeArgs{d}, nil
	case store.TaskDestroy:
		return DestroyArgs{d}, nil
	case store.TaskCheck:
		return CheckArgs{d}, nil
	case store.TaskAbort:
		return AbortArgs{d}, nil
	case store.TaskAttach:
		return AttachArgs{d}, nil
	case store.TaskDetach:
		return DetachArgs{d}, nil
	}
	return nil, fmt.Errorf("no job delivers tasks of kind %s", kind)
}

// delivered says how River delivers a task of a priority. It tries once: what happens to an attempt that
// ends without a word is the task checker's.
func delivered(priority int) *river.InsertOpts {
	return &river.InsertOpts{MaxAttempts: 1, Priority: priority, Queue: ClustersQueue}
}

// deliver hands a queued task's current attempt to River, in the transaction that made it.
func (f *Fleet) deliver(ctx context.Context, tx *store.Tx, task store.Task) error {
	args, err := argsFor(task.Kind, Delivery{TaskID: task.ID, Attempt: task.Attempt})
	if err != nil {
		return err
	}
	job, err := f.Queue.InsertTx(ctx, tx.Tx, args, delivered(task.Priority))
	if err != nil {
		return fmt.Errorf("deliver task %s: %w", task.ID, err)
	}
	if err := tx.SetTaskDelivery(ctx, store.SetTaskDeliveryParams{ID: task.ID, Delivery: &job.Job.ID}); err != nil {
		return fmt.Errorf("note the delivery of task %s: %w", task.ID, err)
	}
	return nil
}
