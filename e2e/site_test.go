package e2e

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"commander/agents/lab"
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
	lab   *exec.Cmd
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
	s.startLab()
	return s
}

// startLab starts the daemon that owns the clusters; one that was killed leaves them running.
func (s *site) startLab() {
	s.t.Helper()
	s.lab = s.start(shared.program("lab"), "serve", "--dir="+s.path("lab"), "--socket="+s.path("lab.sock"), "--stop-clusters",
		"--cache="+shared.cache, "--source="+shared.root+"/agents/lab", "--agent-binary="+shared.program("commander-agent"))
	client := lab.NewClient(s.path("lab.sock"))
	s.t.Cleanup(client.Close)
	await(s.t, "the lab answers", time.Minute, func(ctx context.Context) (bool, error) {
		err := client.Ping(ctx)
		return err == nil, err
	})
}

// fresh is a cluster of the template Lab that is installed at once.
func (s *site) fresh(name string, values store.Values) fleet.NewCluster {
	s.t.Helper()
	workspace, err := s.fleet.Workspace(s.t.Context(), fleet.System, "site")
	if err != nil {
		s.t.Fatal(err)
	}
	templates, err := s.fleet.Templates(s.t.Context(), fleet.System, workspace.ID, false)
	if err != nil || len(templates) == 0 {
		s.t.Fatalf("got %d templates, %v", len(templates), err)
	}
	return fleet.NewCluster{
		WorkspaceID: workspace.ID, Name: name, TemplateVersionID: *templates[0].ClusterTemplate.CurrentVersionID, Install: true, Values: values,
	}
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
