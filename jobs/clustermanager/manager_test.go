package clustermanager_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"commander/fleet"
	"commander/fleet/fleettest"
	"commander/jobs/clustermanager"
	"commander/store"
)

// scripted is an installer that follows a script.
type scripted func(ctx context.Context, op clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error)

func (s scripted) Run(ctx context.Context, op clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
	return s(ctx, op, h)
}

func manager(b *fleettest.Bench, installer clustermanager.Installer) *clustermanager.Manager {
	return &clustermanager.Manager{
		Tasks: b.Fleet, Installer: installer, Log: slog.New(slog.DiscardHandler), Worker: "test", PublicURL: "https://commander.test",
	}
}

func first(task store.Task) fleet.Delivery { return fleet.Delivery{TaskID: task.ID, Attempt: 1} }

func read(t *testing.T, b *fleettest.Bench, task store.Task) store.Task {
	t.Helper()
	row, err := b.Store.Task(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	return row.Task
}

func logOf(t *testing.T, b *fleettest.Bench, task store.Task) string {
	t.Helper()
	chunks, err := b.TaskLog(t.Context(), b.Admin, task.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, c := range chunks {
		text.WriteString(c.Body + "\n")
	}
	return text.String()
}

func TestABootstrapGoesThroughItsPhases(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "live", store.Values{"adminPassword": "hunter2-hunter2"})
	var asked clustermanager.Operation
	m := manager(b, scripted(func(ctx context.Context, op clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		asked = op
		h.Logs([]string{"the password is hunter2-hunter2", "and the token is in " + op.Resources})
		h.Progress(fleet.Progress{Fraction: 0.2, Current: "BaseInfra", Plan: []fleet.PlannedPhase{{Name: "BaseInfra"}, {Name: "Finalization"}}})
		goOn, err := h.PhaseEnd(fleet.PhaseEnd{Completed: "BaseInfra", Next: "Finalization", State: []byte("half")})
		if !goOn || err != nil {
			t.Errorf("got %v, %v at the phase end", goOn, err)
		}
		state, err := b.Store.ClusterState(ctx, cluster.ID)
		if err != nil || state.Phase != "BaseInfra" {
			t.Errorf("the state was not stored before the next phase: %v, %v", state.Phase, err)
		}
		return clustermanager.Result{State: []byte("whole")}, h.Alive()
	}))
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b, task); got.Status != store.TaskSucceeded || got.Progress != 1 {
		t.Errorf("got %s at %v", got.Status, got.Progress)
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterInSync || !c.WasCreated {
		t.Errorf("got %s, created %v", c.Status, c.WasCreated)
	}
	if !strings.Contains(asked.Resources, `"commanderUrl":"https://commander.test/agent_api/`+cluster.ID.String()) || !strings.Contains(asked.Resources, fleet.AgentTokenPrefix) {
		t.Errorf("the agent was not told where to dial: %s", asked.Resources)
	}
	if text := logOf(t, b, task); strings.Contains(text, "hunter2") || strings.Contains(text, fleet.AgentTokenPrefix) || !strings.Contains(text, "the password is [redacted]") {
		t.Errorf("the log holds a secret or lacks its lines:\n%s", text)
	}
}

func TestHowOperationsEnd(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		result clustermanager.Result
		task   store.TaskStatus
		status store.ClusterStatus
	}{
		{"failed", clustermanager.Result{Err: "no machines left"}, store.TaskFailed, store.ClusterSynchronizationFailure},
		{"destructive", clustermanager.Result{ChangeID: "abc", Found: []byte(`{"a":1}`)}, store.TaskWaitingApproval, store.ClusterDestructiveChanges},
		{"succeeded", clustermanager.Result{}, store.TaskSucceeded, store.ClusterInSync},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := fleettest.New(t)
			cluster := b.Installed(t, "live", nil)
			task, err := b.Converge(t.Context(), b.Admin, cluster.ID)
			if err != nil {
				t.Fatal(err)
			}
			m := manager(b, scripted(func(context.Context, clustermanager.Operation, clustermanager.Hooks) (clustermanager.Result, error) {
				return c.result, nil
			}))
			if err := m.Work(t.Context(), first(task)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, b, task); got.Status != c.task {
				t.Errorf("got task %s, want %s", got.Status, c.task)
			}
			if got, _ := b.Store.Cluster(t.Context(), cluster.ID); got.Status != c.status {
				t.Errorf("got cluster %s, want %s", got.Status, c.status)
			}
		})
	}
}

func TestADrainingManagerHandsTheTaskBack(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "moved", nil)
	var m *clustermanager.Manager
	m = manager(b, scripted(func(_ context.Context, _ clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		m.Drain()
		goOn, err := h.PhaseEnd(fleet.PhaseEnd{Completed: "BaseInfra", Next: "Finalization", State: []byte("half")})
		return clustermanager.Result{State: []byte("half"), Stopped: !goOn}, err
	}))
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Fatal(err)
	}
	got := read(t, b, task)
	if got.Status != store.TaskQueued || got.Attempt != 2 || got.Delivery == nil {
		t.Fatalf("got %s, attempt %d, delivery %v", got.Status, got.Attempt, got.Delivery)
	}
	var state []byte
	next := manager(b, scripted(func(_ context.Context, op clustermanager.Operation, _ clustermanager.Hooks) (clustermanager.Result, error) {
		state = op.State
		return clustermanager.Result{}, nil
	}))
	if err := next.Work(t.Context(), fleet.Delivery{TaskID: task.ID, Attempt: 2}); err != nil {
		t.Fatal(err)
	}
	if string(state) != "half" || read(t, b, task).Status != store.TaskSucceeded {
		t.Errorf("got state %q and task %s", state, read(t, b, task).Status)
	}
}

func TestAPersonStopsATaskAtItsPhaseEnd(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "stopped", nil)
	m := manager(b, scripted(func(ctx context.Context, _ clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		if _, err := b.StopTask(ctx, b.Admin, task.ID); err != nil {
			t.Error(err)
		}
		goOn, err := h.PhaseEnd(fleet.PhaseEnd{Completed: "BaseInfra", Next: "Finalization", State: []byte("half")})
		return clustermanager.Result{State: []byte("half"), Stopped: !goOn}, err
	}))
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b, task).Status; got != store.TaskCancelled {
		t.Errorf("got %s", got)
	}
	if c, _ := b.Store.Cluster(t.Context(), cluster.ID); c.Status != store.ClusterCreationFailed {
		t.Errorf("got %s", c.Status)
	}
}

func TestALostInstallerLeavesTheTaskToTheChecker(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "lost", nil)
	broken := errors.New("the stream broke")
	m := manager(b, scripted(func(context.Context, clustermanager.Operation, clustermanager.Hooks) (clustermanager.Result, error) {
		return clustermanager.Result{}, broken
	}))
	if err := m.Work(t.Context(), first(task)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if got := read(t, b, task).Status; got != store.TaskRunning {
		t.Errorf("got %s: whether the installer lives is not known yet", got)
	}
	if text := logOf(t, b, task); !strings.Contains(text, "connection to the installer was lost") {
		t.Errorf("the log does not say what happened:\n%s", text)
	}
}

func TestASupersededAttemptStopsItsInstaller(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "fenced", nil)
	m := manager(b, scripted(func(ctx context.Context, _ clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		b.Silence(t, task.ID, time.Hour)
		if _, err := b.MarkLost(ctx, task.ID); err != nil {
			t.Error(err)
		}
		if err := h.Alive(); !errors.Is(err, fleet.ErrSuperseded) {
			t.Errorf("got %v", err)
		}
		<-ctx.Done()
		return clustermanager.Result{}, ctx.Err()
	}))
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Errorf("got %v: an attempt that was superseded ends quietly", err)
	}
	if got := read(t, b, task).Status; got != store.TaskLost {
		t.Errorf("got %s", got)
	}
}

// flaky is a set of rules whose database is away for a while.
type flaky struct {
	*fleet.Fleet
	mu   sync.Mutex
	away int // calls that still fail
}

func (f *flaky) fails() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away > 0 {
		f.away--
		return errAway
	}
	return nil
}

func (f *flaky) EndPhase(ctx context.Context, d fleet.Delivery, end fleet.PhaseEnd) (bool, error) {
	if err := f.fails(); err != nil {
		return false, err
	}
	return f.Fleet.EndPhase(ctx, d, end)
}

func TestADatabaseThatIsAwayIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "patient", nil)
	tasks := &flaky{Fleet: b.Fleet, away: 2}
	m := manager(b, scripted(func(_ context.Context, _ clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		if _, err := h.PhaseEnd(fleet.PhaseEnd{Completed: "BaseInfra", Next: "Finalization", State: []byte("half")}); err != nil {
			t.Error(err)
		}
		return clustermanager.Result{State: []byte("half"), Unheard: true}, nil
	}))
	m.Tasks = tasks
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Fatal(err)
	}
	got := read(t, b, task)
	if got.Status != store.TaskQueued || got.Attempt != 2 {
		t.Errorf("got %s, attempt %d: the task must go on from the stored state", got.Status, got.Attempt)
	}
}

// Nobody knows what an installer does that can no longer be heard, whatever else was away before.
func TestALostInstallerIsNotReplacedBecauseTheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	_, task := b.Create(t, "cut", nil)
	tasks := &flaky{Fleet: b.Fleet, away: 2}
	cut := errors.New("the line broke")
	m := manager(b, scripted(func(_ context.Context, _ clustermanager.Operation, h clustermanager.Hooks) (clustermanager.Result, error) {
		_, err := h.PhaseEnd(fleet.PhaseEnd{Completed: "BaseInfra", Next: "Finalization", State: []byte("half")})
		return clustermanager.Result{}, errors.Join(err, cut)
	}))
	m.Tasks = tasks
	if err := m.Work(t.Context(), first(task)); !errors.Is(err, cut) {
		t.Fatalf("got %v, want that the line broke", err)
	}
	if got := read(t, b, task); got.Status != store.TaskRunning || got.Attempt != 1 {
		t.Errorf("got %s, attempt %d: another attempt must wait until this one is surely over", got.Status, got.Attempt)
	}
}

func TestAnUnheardWorkerGoesOnFromTheState(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster, task := b.Create(t, "unheard", nil)
	m := manager(b, scripted(func(context.Context, clustermanager.Operation, clustermanager.Hooks) (clustermanager.Result, error) {
		return clustermanager.Result{State: []byte("half"), Unheard: true}, nil
	}))
	if err := m.Work(t.Context(), first(task)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, b, task); got.Status != store.TaskQueued || got.Attempt != 2 || got.Delivery == nil {
		t.Errorf("got %s, attempt %d, delivery %v", got.Status, got.Attempt, got.Delivery)
	}
	if state, err := b.Store.ClusterState(t.Context(), cluster.ID); err != nil || state.Attempt != 1 {
		t.Errorf("got the state of attempt %d, %v", state.Attempt, err)
	}
}

// A check returns the state that it was given: it is not sealed and written once more.
func TestAStateThatIsTheSameIsNotWritten(t *testing.T) {
	t.Parallel()
	b := fleettest.New(t)
	cluster := b.Installed(t, "live", nil)
	for _, state := range []string{"one", "one", "two"} {
		before, err := b.Store.ClusterState(t.Context(), cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Store.Pool.Exec(t.Context(), "update clusters set checked_at = now() - interval '1 hour'"); err != nil {
			t.Fatal(err)
		}
		if started, err := b.StartChecks(t.Context(), 1); started != 1 || err != nil {
			t.Fatalf("%d checks started, %v", started, err)
		}
		active, err := b.Store.ActiveTasks(t.Context(), cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		var given string
		m := manager(b, scripted(func(_ context.Context, op clustermanager.Operation, _ clustermanager.Hooks) (clustermanager.Result, error) {
			given = string(op.State)
			return clustermanager.Result{State: []byte(state)}, nil
		}))
		if err := m.Work(t.Context(), first(active[0])); err != nil {
			t.Fatal(err)
		}
		after, err := b.Store.ClusterState(t.Context(), cluster.ID)
		if err != nil {
			t.Fatal(err)
		}
		if written := after.TaskID == active[0].ID; written != (given != state) || !written && !after.WrittenAt.Equal(before.WrittenAt) {
			t.Errorf("after %s came %s: written %v", given, state, written)
		}
	}
}
