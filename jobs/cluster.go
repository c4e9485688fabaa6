package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// clusterArgs are the args of a job that delivers a task.
type clusterArgs interface {
	river.JobArgs
	Of() fleet.Delivery
}

// clusterWorker works on the deliveries of one kind of task. They differ in nothing here: what a
// kind means is said by the installer and by the rules at its end.
type clusterWorker[A clusterArgs] struct {
	river.WorkerDefaults[A]
	clusters ClusterWorker
}

// Work carries out the attempt. An attempt without a word is not tried again by River: the task
// checker finds its task silent, and a person or a sweep makes the next attempt.
func (w *clusterWorker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	return w.clusters.Work(ctx, job.Args.Of())
}

// Timeout is that of one operation.
func (w *clusterWorker[A]) Timeout(*river.Job[A]) time.Duration { return longestOperation }

func addClusterWorkers(workers *river.Workers, clusters ClusterWorker) {
	river.AddWorker(workers, &clusterWorker[fleet.BootstrapArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.ConvergeArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.CheckArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.DestroyArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.AbortArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.AttachArgs]{clusters: clusters})
	river.AddWorker(workers, &clusterWorker[fleet.DetachArgs]{clusters: clusters})
}
