package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/daemon"
)

// The test's own binary also plays the daemon, which has to be killed, and the agent.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "--commander-url="):
		playAgent()
	case os.Getenv(asDaemon) != "":
		playDaemon()
	default:
		os.Exit(m.Run())
	}
}

const asDaemon = "LAB_TEST_DAEMON" // holds the directory

func playDaemon() {
	syscall.Umask(0o077)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	dir := os.Getenv(asDaemon)
	self, _ := os.Executable()
	d, err := daemon.New(daemon.Config{
		Dir: filepath.Join(dir, "c"), Socket: filepath.Join(dir, "s"), Agent: self, StopClusters: os.Getenv("LAB_TEST_STOP") != "",
		Builder: builder(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err == nil {
		err = d.Run(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playAgent tells what it was given and stays, as an agent would.
func playAgent() {
	given := map[string]string{}
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		given[name] = value
	}
	for _, name := range []string{"token-file", "ca-file", "kubeconfig"} {
		content, err := os.ReadFile(given[name])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		given[name] = string(content)
	}
	_ = json.NewEncoder(os.Stdout).Encode(given)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
}

// builder uses the cache of the source tree or LAB_CACHE; what is missing there is built.
func builder() build.Builder {
	cache := os.Getenv("LAB_CACHE")
	if cache == "" {
		cache = filepath.Join("..", "..", "..", ".cache")
	}
	return build.Builder{Cache: cache, Source: ".."}
}

// labDaemon is a daemon in a process of its own.
type labDaemon struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	client *lab.Client
}

// startDaemon starts a daemon on a directory and waits until it answers.
func startDaemon(t *testing.T, dir string, env ...string) *labDaemon {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d := &labDaemon{t: t, dir: dir, cmd: exec.Command(self), client: lab.NewClient(filepath.Join(dir, "s"))}
	d.cmd.Env = append(append(os.Environ(), asDaemon+"="+dir), env...)
	d.cmd.Stdout, d.cmd.Stderr = t.Output(), t.Output()
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.client.Close)
	t.Cleanup(func() { _ = d.cmd.Process.Kill(); _ = d.cmd.Wait() })
	eventually(t, "daemon answers", func() error { return d.client.Ping(t.Context()) })
	return d
}

func (d *labDaemon) end(signal syscall.Signal) {
	d.t.Helper()
	if err := d.cmd.Process.Signal(signal); err != nil {
		d.t.Fatal(err)
	}
	_ = d.cmd.Wait() // it tells that it was killed, if it was
}

// eventually polls until the check passes or the test's patience is over.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-ticker.C:
		}
	}
}

type kubectl struct {
	t        *testing.T
	programs build.Programs
	config   string
}

func (k kubectl) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(k.t.Context(), k.programs.APIServer.Path, append([]string{"kubectl", "--kubeconfig=" + k.config}, args...)...)
	if k.programs.APIServer.Argv0 == "" { // an API server from outside: its kubectl is beside it
		cmd = exec.CommandContext(k.t.Context(), "kubectl", append([]string{"--kubeconfig=" + k.config}, args...)...)
	}
	return cmd
}

func (k kubectl) run(args ...string) string {
	k.t.Helper()
	out, err := k.command(args...).CombinedOutput()
	if err != nil {
		k.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// address is where the API server listens.
func (k kubectl) address() string {
	k.t.Helper()
	return strings.TrimPrefix(k.run("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"), "https://")
}

func ready(t *testing.T, d *labDaemon, id string) error {
	t.Helper()
	s, err := d.client.State(t.Context(), id)
	if err != nil {
		return err
	}
	if !s.Ready {
		return fmt.Errorf("cluster is not ready: %+v", s.Processes)
	}
	for _, p := range s.Processes {
		if p.PID == 0 {
			return fmt.Errorf("%s does not run", p.Name)
		}
	}
	return nil
}

func processes(t *testing.T, d *labDaemon, id string) map[string]int {
	t.Helper()
	s, err := d.client.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, p := range s.Processes {
		pids[p.Name] = p.PID
	}
	return pids
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("nothing to kill: the process does not run")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// noneOf checks that no process of the lab has one of the ids any more. Orphans of a killed
// daemon stay as zombies until their new parent looks after them.
func noneOf(t *testing.T, pids map[string]int) {
	t.Helper()
	for name, pid := range pids {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			t.Errorf("%s still runs: %s", name, stat)
		}
	}
}

// occupy listens on an address, which must be free.
func occupy(t *testing.T, address string) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// endAll makes sure that a failed test leaves nothing running either.
func endAll(t *testing.T, dir string) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		content, _ := os.ReadFile(name)
		if strings.Contains(string(content), "LAB_PROCESS="+dir+"/") {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			t.Logf("killing what is left: %d", pid)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
