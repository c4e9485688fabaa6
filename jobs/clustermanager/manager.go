// Package clustermanager carries out tasks on clusters: it drives an installer through its
// phases, keeps the state that each phase reached before the next begins, and keeps the
// processes that a managed cluster needs beside Commander.
package clustermanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"commander/fleet"
	"commander/store"
)

// Tasks is what the manager needs of the rules.
type Tasks interface {
	Claim(ctx context.Context, d fleet.Delivery, worker string) (fleet.Work, error)
	Beat(ctx context.Context, d fleet.Delivery) (stop bool, err error)
	Advance(ctx context.Context, d fleet.Delivery, p fleet.Progress) error
	EndPhase(ctx context.Context, d fleet.Delivery, end fleet.PhaseEnd) (stop bool, err error)
	AppendLog(ctx context.Context, d fleet.Delivery, part int, lines []string) error
	Finish(ctx context.Context, d fleet.Delivery, end fleet.Ending) error
	HandBack(ctx context.Context, d fleet.Delivery, state []byte) error
}

// Operation is what an installer is asked to do.
type Operation struct {
	Kind                                      store.TaskKind
	ClusterID                                 string
	ClusterConfig, ProviderConfig, InitConfig string
	Resources                                 string
	// Connection is how the machines are reached when they are installed or deleted, as documents
	// SSHConfig and SSHHost; for a cluster that is to be attached it is a kubeconfig.
	Connection     string
	State          []byte
	ApprovedChange string
	CommanderUUID  string
}

// Result is how an operation ended. Err is for people; an operation that needs approval has
// ChangeID and no Err.
type Result struct {
	State    []byte
	Err      string
	ChangeID string
	// Found is what the installer found, as JSON; nil for nothing.
	Found json.RawMessage
	// Actual are the documents that a check read in the cluster; nil when it read none.
	Actual *store.Actual
	// OutOfSync says that a check found a difference.
	OutOfSync bool
	// Stopped says that the operation ended at the end of a phase because it was told to.
	Stopped bool
	// Unheard says that the installer stopped by itself, at a safe point, because it heard nothing
	// of this worker, which was waiting for the database.
	Unheard bool
}

// Hooks are called while an operation goes on, one at a time.
type Hooks struct {
	Logs     func(lines []string)
	Progress func(p fleet.Progress)
	// PhaseEnd is called with the state that a phase reached. The installer waits for its answer.
	PhaseEnd func(end fleet.PhaseEnd) (goOn bool, err error)
	// Alive is called every BeatEvery while the installer can be heard; an error keeps the sign of
	// life from it.
	Alive func() error
}

// Installer carries out operations. An error says that it is not known how the operation ended.
type Installer interface {
	Run(ctx context.Context, op Operation, hooks Hooks) (Result, error)
}

// Manager works on tasks. Its zero value is not usable: fill the fields.
type Manager struct {
	Tasks     Tasks
	Installer Installer
	Log       *slog.Logger
	// Worker names this process in the tasks that it holds.
	Worker string
	// PublicURL and CABundle tell a cluster's agent where to report.
	PublicURL, CABundle string
	// UUID is this Commander's own, with which it marks the clusters that it owns.
	UUID string
	// EnsureConnector makes sure that the agent of a cluster has somewhere to dial to; may be nil.
	EnsureConnector func(ctx context.Context, clusterID string) error

	draining atomic.Bool
}

// Drain lets every task stop at its next phase end and go back to the queue.
func (m *Manager) Drain() { m.draining.Store(true) }

// Work carries out one attempt of a task. An error means that the attempt ended without a word:
// the task checker will find it silent.
func (m *Manager) Work(ctx context.Context, d fleet.Delivery) error {
	work, err := m.Tasks.Claim(ctx, d, m.Worker)
	if errors.Is(err, fleet.ErrSuperseded) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("claim task %s: %w", d.TaskID, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &attempt{Manager: m, delivery: d, work: work, redactor: fleet.NewRedactor(work.Secrets), cancel: cancel, kept: work.State}
	a.startLog(ctx)
	result, err := a.run(ctx)
	a.log.stop()
	if err == nil {
		err = a.end(ctx, result)
	}
	if errors.Is(err, fleet.ErrSuperseded) || errors.Is(context.Cause(ctx), fleet.ErrSuperseded) {
		m.Log.Info("attempt superseded", "task", d.TaskID, "attempt", d.Attempt)
		return nil
	}
	return err
}
