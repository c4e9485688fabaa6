package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"commander/fleet"
	"commander/internal/clock"
	"commander/jobs"
	"commander/store"
	"commander/store/storetest"
)

// site is an installation of separate processes over one database, without the demo.
type site struct {
	t     *testing.T
	dir   string
	url   string
	fleet *fleet.Fleet
}

func newSite(t *testing.T) *site {
	t.Helper()
	// Not t.TempDir: its path is too long for the sockets below it.
	dir, err := os.MkdirTemp("", "cw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &site{t: t, dir: dir, url: storetest.URL(t)}
	s.once("seed", "--workspace=site", "--name=Site", "--keys-dir="+s.path("keys"))
	keys, err := store.LoadKeys(s.path("keys"))
	if err != nil {
		t.Fatal(err)
	}
	pool, err := store.Connect(t.Context(), s.url, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	opened, err := store.Open(t.Context(), pool, keys)
	if err != nil {
		t.Fatal(err)
	}
	queue, err := jobs.Insert(pool, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s.fleet = &fleet.Fleet{Store: opened, Queue: queue, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler)}
	s.start(shared.program("lab"), "serve", "--dir="+s.path("lab"), "--socket="+s.path("lab.sock"), "--stop-clusters",
		"--cache="+shared.cache, "--source="+shared.root+"/agents/lab", "--agent-binary="+shared.program("commander-agent"))
	await(t, "the lab answers", time.Minute, func(context.Context) (bool, error) {
		_, err := os.Stat(s.path("lab.sock"))
		return err == nil, err
	})
	return s
}

func (s *site) path(name string) string { return filepath.Join(s.dir, name) }

func (s *site) environment() []string {
	return append(os.Environ(), "COMMANDER_DATABASE_URL="+s.url, "COMMANDER_TASK_QUIET_LIMIT="+quietLimit.String())
}

func (s *site) once(args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), shared.program("commander"), args...)
	cmd.Env = s.environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("commander %s: %v\n%s", args[0], err, out)
	}
}

// start runs a program until the test ends.
func (s *site) start(binary string, args ...string) *exec.Cmd {
	s.t.Helper()
	log, err := os.Create(s.path(fmt.Sprintf("%s-%d.log", filepath.Base(binary), time.Now().UnixNano())))
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.environment(), log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if body, err := os.ReadFile(log.Name()); err == nil && s.t.Failed() {
			s.t.Logf("%s printed:\n%s", filepath.Base(log.Name()), body[max(0, len(body)-6000):])
		}
		_ = log.Close()
	})
	return cmd
}

func (s *site) manager() *exec.Cmd {
	s.t.Helper()
	return s.start(shared.program("commander"), "cluster-manager", "--keys-dir="+s.path("keys"), "--public-url=https://localhost:1",
		"--run-dir="+s.path("run"), "--dhctl-binary="+shared.program("dhctl"), "--connector-binary="+shared.program("ampg-connector"),
		"--lab-socket="+s.path("lab.sock"))
}

func (s *site) status(taskID fmt.Stringer) func(want ...store.TaskStatus) func(context.Context) (bool, error) {
	return func(want ...store.TaskStatus) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			var now store.TaskStatus
			err := s.fleet.Store.Pool.QueryRow(ctx, "select status from tasks where id = $1", taskID.String()).Scan(&now)
			if err == nil && !slices.Contains(want, now) {
				err = fmt.Errorf("it is %s", now)
			}
			return err == nil, err
		}
	}
}

// TestAWorkerThatIsKilled takes the cluster manager away in the middle of an installation. The
// task checker, a process of its own, says that the task is lost; another manager takes the retry
// and goes on with the same machines.
func TestAWorkerThatIsKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	workspace, err := s.fleet.Workspace(t.Context(), fleet.System, "site")
	if err != nil {
		t.Fatal(err)
	}
	templates, err := s.fleet.Templates(t.Context(), fleet.System, workspace.ID, false)
	if err != nil || len(templates) == 0 {
		t.Fatalf("got %d templates, %v", len(templates), err)
	}
	s.start(shared.program("commander"), "task-checker", "--keys-dir="+s.path("keys"))
	first := s.manager()
	cluster, task, err := s.fleet.CreateCluster(t.Context(), fleet.System, fleet.NewCluster{
		WorkspaceID: workspace.ID, Name: "survivor", TemplateVersionID: *templates[0].ClusterTemplate.CurrentVersionID, Install: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	is := s.status(task.ID)
	await(t, "etcd of the cluster runs", time.Minute, func(context.Context) (bool, error) {
		return len(processesWith(cluster.ID.String(), "--data-dir")) > 0, nil
	})
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	await(t, "the task is lost", quietLimit*5, is(store.TaskLost, store.TaskLostInCritical))
	s.manager()
	if _, err := s.fleet.Retry(t.Context(), fleet.System, task.ID); err != nil {
		t.Fatal(err)
	}
	await(t, "the retry succeeds", 2*time.Minute, is(store.TaskSucceeded))
	if etcds := processesWith(cluster.ID.String(), "--data-dir"); len(etcds) != 1 {
		t.Errorf("got etcd processes %v: the retry must go on with the first", etcds)
	}
	_, gone, err := s.fleet.DeleteCluster(t.Context(), fleet.System, cluster.ID)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "the cluster is deleted", time.Minute, s.status(gone.ID)(store.TaskSucceeded))
	dead := strconv.Itoa(first.Process.Pid)
	await(t, "what the killed manager had started is gone", time.Minute, func(context.Context) (bool, error) {
		left := processesWith("dhctl/"+dead, s.dir)
		return len(left) == 0, fmt.Errorf("processes %v", left)
	})
}
