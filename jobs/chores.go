package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"

	"commander/fleet"
)

// Chore is a periodic job. Each can also be run by hand: commander run <name>.
type Chore struct {
	Name  string
	Every time.Duration
	Run   func(ctx context.Context, f *fleet.Fleet) (removed int64, err error)
}

// taskAge is how long a finished task is kept.
const taskAge = 30 * 24 * time.Hour

// Chores are all periodic jobs of the queue default.
var Chores = []Chore{
	{"clean-tasks", 24 * time.Hour, func(ctx context.Context, f *fleet.Fleet) (int64, error) { return f.CleanTasks(ctx, taskAge) }},
	{"clean-notifications", 24 * time.Hour, func(ctx context.Context, f *fleet.Fleet) (int64, error) { return f.CleanNotifications(ctx, taskAge) }},
	{"tell-silence", time.Minute, func(ctx context.Context, f *fleet.Fleet) (int64, error) { return f.TellSilence(ctx) }},
	{"clean-sessions", time.Hour, func(ctx context.Context, f *fleet.Fleet) (int64, error) { return f.CleanSessions(ctx) }},
}

// RunChore runs one by its name.
func RunChore(ctx context.Context, f *fleet.Fleet, log *slog.Logger, name string) error {
	for _, chore := range Chores {
		if chore.Name != name {
			continue
		}
		removed, err := chore.Run(ctx, f)
		if err != nil {
			return fmt.Errorf("run %s: %w", name, err)
		}
		log.Info("chore done", "chore", name, "removed", removed)
		return nil
	}
	return fmt.Errorf("there is no periodic job %q", name)
}

// ChoreArgs name the chore to run.
type ChoreArgs struct {
	Name string `json:"name"`
}

// Kind names the job in River.
func (ChoreArgs) Kind() string { return "chore" }

type choreWorker struct {
	river.WorkerDefaults[ChoreArgs]
	fleet *fleet.Fleet
	log   *slog.Logger
}

// Timeout leaves room for many rows.
func (w *choreWorker) Timeout(*river.Job[ChoreArgs]) time.Duration { return longestSweep }

// Work runs the chore.
func (w *choreWorker) Work(ctx context.Context, job *river.Job[ChoreArgs]) error {
	return RunChore(ctx, w.fleet, w.log, job.Args.Name)
}
