package daemon_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"commander/agents/lab"
)

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

	agentWasGiven(t, filepath.Join(dir, "c", id, "log", "commander-agent.log"), agent)
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

// agentWasGiven checks what the agent found in its arguments and files.
func agentWasGiven(t *testing.T, log string, want lab.Agent) {
	t.Helper()
	given := map[string]string{}
	eventually(t, "agent tells what it was given", func() error {
		said, err := os.ReadFile(log)
		if err != nil {
			return err
		}
		return json.Unmarshal(said, &given)
	})
	if given["commander-url"] != want.CommanderURL || given["token-file"] != want.Token || given["ca-file"] != want.CABundle {
		t.Errorf("got %v, want what %+v says", given, want)
	}
	if !strings.Contains(given["kubeconfig"], "token: ") {
		t.Errorf("got kubeconfig %q, want one with the token of the agent's account", given["kubeconfig"])
	}
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
	out, _ := k.command("exec", name, "--", "cat", "/etc/passwd").CombinedOutput() // it may fail, and must not tell
	if strings.Contains(string(out), "root:") {
		t.Errorf("cat /etc/passwd in a pod reached the host's: %q", out)
	}
	out, err := k.command("exec", name, "--", "/bin/ls").CombinedOutput()
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
