package process

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKeeper(t *testing.T, dir string) *Keeper {
	t.Helper()
	k, err := NewKeeper(dir, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sleeper is a program that stays.
func sleeper(env ...string) Plan {
	return func(bool) (Spec, error) { return Spec{Path: "/bin/sleep", Args: []string{"1000"}, Env: env}, nil }
}

func ensure(t *testing.T, k *Keeper, plan Plan) int {
	t.Helper()
	if err := k.Ensure(t.Context(), "p", plan); err != nil {
		t.Fatal(err)
	}
	return pid(k)
}

func pid(k *Keeper) int {
	for _, s := range k.Status() {
		return s.PID
	}
	return 0
}

func until(t *testing.T, what string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		case <-ticker.C:
		}
	}
}

func alive(pid int) bool {
	_, err := Identify(pid)
	return err == nil
}

// stopAll ends what the test started, whatever became of its keepers.
func stopAll(t *testing.T, k *Keeper) {
	t.Helper()
	if err := k.Stop(context.WithoutCancel(t.Context()), "p"); err != nil {
		t.Error(err)
	}
	if strays, err := k.Strays(); err != nil || len(strays) > 0 {
		t.Errorf("got strays %v, %v, want none", strays, err)
	}
}

func TestEnsureKeepsWhatRunsAsWanted(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	defer stopAll(t, k)
	first := ensure(t, k, sleeper())
	if again := ensure(t, k, sleeper()); again != first {
		t.Errorf("got pid %d for the same plan, want the running %d", again, first)
	}
	changed := ensure(t, k, sleeper("A=1"))
	if changed == first || alive(first) {
		t.Errorf("got pid %d for another plan with %d alive %t, want a new one alone", changed, first, alive(first))
	}
}

func TestInputsAreReadAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := newKeeper(t, dir)
	defer stopAll(t, k)
	input := filepath.Join(dir, "token")
	plan := func(bool) (Spec, error) {
		return Spec{Path: "/bin/sleep", Args: []string{"1000"}, Inputs: []string{input}}, nil
	}
	pids := map[int]bool{}
	for _, content := range []string{"a", "a", "b"} {
		if err := os.WriteFile(input, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		pids[ensure(t, k, plan)] = true
	}
	if len(pids) != 2 {
		t.Errorf("got %d processes for contents a, a, b, want 2", len(pids))
	}
}

func TestDeadProcessStartsAgain(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	defer stopAll(t, k)
	first := ensure(t, k, sleeper())
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "it runs again", func() bool { return pid(k) != 0 && pid(k) != first })
	if s := k.Status()[0]; s.Restarts != 1 {
		t.Errorf("got %d restarts, want 1", s.Restarts)
	}
	second := pid(k)
	k.Restart("p")
	until(t, "it was restarted", func() bool { return pid(k) != 0 && pid(k) != second })
}

func TestPlanIsAskedAgainAfterItFailed(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	defer stopAll(t, k)
	asked, starts := 0, 0 // only the keeper's goroutine asks after Ensure
	failed := make(chan struct{})
	first := ensure(t, k, func(starting bool) (Spec, error) {
		asked++
		if starting {
			starts++
		}
		if starts == 2 {
			close(failed)
			starts++
			return Spec{}, errors.New("port taken")
		}
		return sleeper()(starting)
	})
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-failed
	until(t, "it runs again", func() bool { return pid(k) != 0 && pid(k) != first })
}

func TestNextKeeperAdopts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := newKeeper(t, dir)
	first := ensure(t, k, sleeper())
	k.Close()
	if !alive(first) {
		t.Fatal("the process did not survive its keeper")
	}
	k = newKeeper(t, dir)
	defer stopAll(t, k)
	if adopted := ensure(t, k, sleeper()); adopted != first {
		t.Errorf("got pid %d, want the adopted %d", adopted, first)
	}
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "the adopted process was started again", func() bool { return pid(k) != 0 && pid(k) != first })
}

func TestProcessWithoutRecordIsFound(t *testing.T) {
	t.Parallel()
	for _, torn := range []bool{false, true} {
		dir := t.TempDir()
		k := newKeeper(t, dir)
		first := ensure(t, k, sleeper())
		k.Close()
		record := filepath.Join(dir, "run", "p.json")
		if torn {
			if err := os.WriteFile(record, []byte(`{"pid":`), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(record); err != nil {
			t.Fatal(err)
		}
		k = newKeeper(t, dir)
		if strays, err := k.Strays(); err != nil || len(strays) != 1 || strays[0] != "p" {
			t.Errorf("got strays %v, %v, want p", strays, err)
		}
		if second := ensure(t, k, sleeper()); second == first || alive(first) {
			t.Errorf("got pid %d with %d alive %t, want one process alone", second, first, alive(first))
		}
		stopAll(t, k)
	}
}

func TestStopEndsTheDeafAndTheirChildren(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := newKeeper(t, dir)
	deaf := ensure(t, k, func(bool) (Spec, error) {
		return Spec{Path: "/bin/sh", Args: []string{"-c", `trap "" TERM; sleep 1000 & echo $!; wait; wait`}, Env: []string{"PATH=/bin:/usr/bin"}}, nil
	})
	var out []byte
	until(t, "the shell has its child", func() bool {
		out, _ = os.ReadFile(k.LogFile("p"))
		return bytes.HasSuffix(out, []byte("\n"))
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no patience: what does not end is killed
	if err := k.Stop(ctx, "p"); err != nil {
		t.Fatal(err)
	}
	var child int
	for _, digit := range bytes.TrimSpace(out) {
		child = child*10 + int(digit-'0')
	}
	until(t, "shell and child are gone", func() bool { return !alive(deaf) && !alive(child) })
}

func TestProgramThatIsMissing(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, t.TempDir())
	err := k.Ensure(t.Context(), "p", func(bool) (Spec, error) { return Spec{Path: "/nowhere/program"}, nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that it does not exist", err)
	}
}
