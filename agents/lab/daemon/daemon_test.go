package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

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
	defer stop()
	dir := os.Getenv(asDaemon)
	self, _ := os.Executable()
	d, err := daemon.New(daemon.Config{
		Dir: filepath.Join(dir, "c"), Socket: filepath.Join(dir, "s"), Agent: self, StopClusters: os.Getenv("LAB_TEST_STOP") != "",
		Builder: builder(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	if err == nil {
		err = d.Run(ctx)
	}
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

var want = lab.ControlPlane{
	KubernetesVersion: "1.37", PodSubnet: "10.111.0.0/16", ServiceSubnet: "10.222.0.0/16", Domain: "cluster.local",
}

func wantNodes(t *testing.T, workers int) []lab.Node {
	t.Helper()
	nodes, err := lab.WantedNodes(
		lab.ClusterConfiguration{Prefix: "t", KubernetesVersion: "1.37", PodSubnet: want.PodSubnet},
		lab.Configuration{
			MasterNodeGroup: lab.MasterGroup{Replicas: 1, InstanceClass: lab.InstanceClass{CPU: 2, MemoryGiB: 4, RootDiskGiB: 20}},
			NodeGroups: []lab.NodeGroup{{
				Name: "worker", Replicas: workers, InstanceClass: lab.InstanceClass{CPU: 4, MemoryGiB: 8, RootDiskGiB: 50},
				Labels: map[string]string{"tier": "front"},
			}},
		})
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// TestClusterFromBirthToEnd is one story on real programs: a cluster is made, used, damaged,
// orphaned, found again, stopped, brought back and deleted.
func TestClusterFromBirthToEnd(t *testing.T) {
	t.Parallel()
	programs, err := builder().Ensure(t.Context(), "1.37")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "lab") // t.TempDir is too long for unix sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	d, id := startDaemon(t, dir), uuid.NewString()
	t.Cleanup(func() { endAll(t, dir) })
	say := func(line string) { t.Log(line) }
	ctx := t.Context()

	if err := d.client.EnsureControlPlane(ctx, id, want, say); err != nil {
		t.Fatal(err)
	}
	if err := d.client.EnsureNodes(ctx, id, lab.Nodes{Nodes: wantNodes(t, 2)}, say); err != nil {
		t.Fatal(err)
	}
	agent := lab.Agent{CommanderURL: "https://commander.test", Token: "secret", CABundle: "pem"}
	if err := d.client.EnsureAgent(ctx, id, agent, say); err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := d.client.Kubeconfig(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	k := kubectl{t, programs, filepath.Join(dir, "kubeconfig")}
	if err := os.WriteFile(k.config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}

	k.run("create", "deployment", "web", "--image=nowhere/web", "--replicas=3")
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	pod := strings.Fields(k.run("get", "pods", "-l", "app=web", "-o", "name"))[0]
	insideOfPods(t, k, pod)
	stateFollows(t, d, id)

	// Scaled down: what goes is named, its pods move.
	if err := d.client.EnsureNodes(ctx, id, lab.Nodes{Nodes: wantNodes(t, 1), Remove: []string{"t-worker-1"}}, say); err != nil {
		t.Fatal(err)
	}
	k.run("rollout", "status", "deployment/web", "--timeout=60s")
	if out := k.run("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}"); strings.Contains(out, "t-worker-1") {
		t.Fatalf("got pods on nodes %s, want none on the deleted t-worker-1", out)
	}

	// A component that dies comes back by itself.
	before := processes(t, d, id)
	kill(t, before["kube-controller-manager"])
	kill(t, before["etcd"])
	eventually(t, "components are back", func() error {
		now := processes(t, d, id)
		for _, name := range []string{"kube-controller-manager", "etcd"} {
			if now[name] == 0 || now[name] == before[name] {
				return fmt.Errorf("%s has pid %d, had %d", name, now[name], before[name])
			}
		}
		return ready(t, d, id)
	})

	// A killed daemon leaves its clusters running, and the next one finds them.
	before = processes(t, d, id)
	d.end(syscall.SIGKILL)
	d = startDaemon(t, dir, "LAB_TEST_STOP=1")
	eventually(t, "cluster is adopted", func() error { return ready(t, d, id) })
	for name, pid := range processes(t, d, id) {
		if pid != before[name] {
			t.Errorf("%s: got pid %d after the restart of the daemon, want the adopted %d", name, pid, before[name])
		}
	}

	// Told to stop its clusters, it leaves nothing running; with the next one they come back.
	before = processes(t, d, id)
	d.end(syscall.SIGTERM)
	noneOf(t, before)
	taken := occupy(t, k.address()) // somebody else takes the port meanwhile
	d = startDaemon(t, dir)
	eventually(t, "cluster comes back", func() error { return ready(t, d, id) })
	taken.Close()
	if kubeconfig, err = d.client.Kubeconfig(ctx, id); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	k.run("rollout", "status", "deployment/web", "--timeout=60s")

	// Deleted: no process, port or file is left.
	before = processes(t, d, id)
	if len(before) != 6 {
		t.Errorf("got processes %v, want five of the control plane and the agent", before)
	}
	if err := d.client.Delete(ctx, id, say); err != nil {
		t.Fatal(err)
	}
	noneOf(t, before)
	occupy(t, k.address()).Close()
	if left, err := filepath.Glob(filepath.Join(dir, "c", id+"*")); err != nil || len(left) > 0 {
		t.Errorf("got files %v left (%v), want none", left, err)
	}
	if s, err := d.client.State(ctx, id); err != nil || s.Exists {
		t.Errorf("got state %+v, %v, want nothing", s, err)
	}
	if err := d.client.Delete(ctx, id, say); err != nil {
		t.Errorf("delete again: got %v, want nil", err)
	}
	d.end(syscall.SIGTERM)
}

// insideOfPods looks into a played pod: there is a shell that reaches nothing of the host.
func insideOfPods(t *testing.T, k kubectl, pod string) {
	t.Helper()
	name := strings.TrimPrefix(pod, "pod/")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"exec", name, "--", "hostname"}, name},
		{[]string{"exec", name, "--", "sh", "-c", "echo 'a  b'"}, "a  b"},
		{[]string{"logs", name}, "played by the lab"},
	} {
		if out := k.run(c.args...); !strings.Contains(out, c.want) {
			t.Errorf("kubectl %v: got %q, want %q in it", c.args, out, c.want)
		}
	}
	out, err := k.command("exec", name, "--", "cat", "/etc/passwd").CombinedOutput()
	if strings.Contains(string(out), "root:") {
		t.Errorf("cat /etc/passwd in a pod reached the host's: %q", out)
	}
	out, err = k.command("exec", name, "--", "/bin/ls").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 127 {
		t.Errorf("/bin/ls in a pod: got %q, %v, want exit code 127", out, err)
	}
	forwarded(t, k, name)
}

func forwarded(t *testing.T, k kubectl, pod string) {
	t.Helper()
	cmd := k.command("port-forward", pod, ":8080", "--address=127.0.0.1")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var port int
	if _, err := fmt.Fscanf(stdout, "Forwarding from 127.0.0.1:%d -> 8080\n", &port); err != nil {
		t.Fatalf("read port of kubectl port-forward: %v", err)
	}
	answer, err := http.Get("http://127.0.0.1:" + strconv.Itoa(port) + "/hello")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if want := "port 8080 of pod default/" + pod; err != nil || !strings.Contains(string(body), want) {
		t.Errorf("got %q, %v through the forwarded port, want %q in it", body, err, want)
	}
}

// stateFollows checks what dhctl's check of a cluster looks at.
func stateFollows(t *testing.T, d *labDaemon, id string) {
	t.Helper()
	s, err := d.client.State(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Ready || !s.Agent || s.ControlPlane != want {
		t.Errorf("got state %+v, want a ready cluster with an agent", s)
	}
	wanted := wantNodes(t, 2)
	if len(s.Nodes) != len(wanted) {
		t.Fatalf("got nodes %+v, want %+v", s.Nodes, wanted)
	}
	for i, n := range s.Nodes {
		w := wanted[i]
		if n.Name != w.Name || n.Group != w.Group || n.Class != w.Class || n.KubernetesVersion != w.KubernetesVersion || !n.Ready ||
			fmt.Sprint(n.Labels) != fmt.Sprint(w.Labels) || fmt.Sprint(n.Taints) != fmt.Sprint(w.Taints) {
			t.Errorf("got node %+v, want %+v and ready", n, w)
		}
	}
	older := want
	older.KubernetesVersion = "1.36"
	other := want
	other.PodSubnet = "10.99.0.0/16"
	for _, w := range []lab.ControlPlane{older, other} {
		err := d.client.EnsureControlPlane(t.Context(), id, w, nil)
		if !errors.Is(err, &lab.Problem{Code: lab.Conflict}) {
			t.Errorf("ensure %+v: got %v, want a conflict", w, err)
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
