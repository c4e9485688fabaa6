// Package jobs holds the River workers: each is shallow and calls the rules or a client. Read
// this file to know what runs when.
package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"commander/fleet"
)

// Deps are what the workers work with.
type Deps struct {
	Pool  *pgxpool.Pool
	Fleet *fleet.Fleet
	Log   *slog.Logger
	// Clusters works on clusters; nil when this process does not.
	Clusters ClusterWorker
	// ClusterWorkers is how many clusters are worked on at once.
	ClusterWorkers int
	// Housekeeping runs the periodic jobs here.
	Housekeeping bool
	// Mail is how notifications leave by mail.
	Mail Mail
	// WebhookNetworks are networks inside that webhooks may go to.
	WebhookNetworks []netip.Prefix
}

// ClusterWorker carries out one attempt of a task.
type ClusterWorker interface {
	Work(ctx context.Context, d fleet.Delivery) error
}

const (
	// longestOperation bounds the work on one cluster, beyond the quiet limit at which the task
	// checker judges long before.
	longestOperation = 12 * time.Hour
	// longestSweep bounds jobs that go through many rows, and longestJob all others. Each goes on
	// from where it stopped.
	longestSweep = 10 * time.Minute
	longestJob   = time.Minute
	// rescueAfter is when a job counts as stuck whose process was killed, if its own bound has passed
	// as well: it is delivered again.
	rescueAfter = longestJob + 30*time.Second
	// keepDone is how long a job that is done is kept, for whoever looks into a problem. Thirty checks a
	// second would be millions of rows in River's own day.
	keepDone = 10 * time.Minute
	// pollEvery is how soon a job is found when its notice was lost.
	pollEvery = 500 * time.Millisecond
	// FetchEvery is how soon after a look for jobs the next one may follow. A look costs PostgreSQL a
	// fraction of a millisecond and happens only for a notice or a worker that is free; in River's own
	// 100 ms, sixteen workers would end no more than 160 tasks a second.
	FetchEvery = 10 * time.Millisecond
	// noticeEvery is how soon after a notice the next one may follow: River leaves out what comes sooner,
	// and a job without a notice is only found by polling.
	noticeEvery = time.Millisecond
)

// Insert makes a client that only hands jobs in, for roles that work on none.
func Insert(pool *pgxpool.Pool, log *slog.Logger) (*river.Client[pgx.Tx], error) {
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: log, FetchCooldown: noticeEvery})
	if err != nil {
		return nil, fmt.Errorf("make a job client: %w", err)
	}
	return client, nil
}

// New makes the client that works on jobs in this process. Whatever it works on, it knows every kind
// of job and every periodic one: the one client that River lets lead plans the periodic ones, and
// throws stuck jobs away whose kind it does not know.
func New(d Deps) (*river.Client[pgx.Tx], error) {
	workers := river.NewWorkers()
	addClusterWorkers(workers, d.Clusters)
	river.AddWorker(workers, &choreWorker{fleet: d.Fleet, log: d.Log})
	river.AddWorker(workers, &rerenderWorker{fleet: d.Fleet})
	river.AddWorker(workers, &notifyWorker{fleet: d.Fleet, client: newWebhookClient(d.WebhookNetworks), mail: d.Mail, limit: notifyLimit})
	river.AddWorker(workers, &switchWorker{fleet: d.Fleet})
	queues := map[string]river.QueueConfig{}
	if d.Clusters != nil {
		queues[fleet.ClustersQueue] = river.QueueConfig{MaxWorkers: d.ClusterWorkers}
	}
	if d.Housekeeping {
		queues[river.QueueDefault] = river.QueueConfig{MaxWorkers: 2}
		queues[fleet.NotificationsQueue] = river.QueueConfig{MaxWorkers: 4}
	}
	var periodic []*river.PeriodicJob
	for _, chore := range Chores {
		periodic = append(periodic, river.NewPeriodicJob(river.PeriodicInterval(chore.Every),
			func() (river.JobArgs, *river.InsertOpts) { return ChoreArgs{Name: chore.Name}, nil }, nil))
	}
	client, err := river.NewClient(riverpgxv5.New(d.Pool), &river.Config{
		Queues: queues, Workers: workers, PeriodicJobs: periodic, Logger: d.Log,
		JobTimeout: longestJob, RescueStuckJobsAfter: rescueAfter, FetchPollInterval: pollEvery, FetchCooldown: FetchEvery,
		CompletedJobRetentionPeriod: keepDone,
	})
	if err != nil {
		return nil, fmt.Errorf("make a job client: %w", err)
	}
	return client, nil
}
