package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"commander/agents/dhctl"
	"commander/agents/dhctl/worldtest"
	"commander/internal/run"
	client "commander/jobs/clustermanager/dhctl"
)

// worldVariable names the folder of the world that this program's servers and operations work on.
const worldVariable = "DHCTL_TEST_WORLD"

// TestMain lets this program be the server and the operation's process too: they are started
// from the same executable, as the real ones are.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasSuffix(os.Args[1], "server") {
		if dir := os.Getenv(worldVariable); dir != "" {
			world := worldtest.World{Dir: dir}
			engines = func(Common) (map[string]dhctl.Engine, dhctl.Connect) {
				return map[string]dhctl.Engine{"World": world}, world.Connect
			}
		}
		run.Main("dhctl", start)
		return
	}
	goleak.VerifyTestMain(m)
}

const id = "6c1c2a3e-9f0d-4f8e-8d0c-0a7d4a1b2c3d"

const clusterDoc = `
apiVersion: deckhouse.io/v1
kind: ClusterConfiguration
clusterType: Cloud
cloud: {provider: World, prefix: blue}
podSubnetCIDR: 10.111.0.0/16
serviceSubnetCIDR: 10.222.0.0/16
kubernetesVersion: "1.37"
`

// yard is a world with servers that work on it.
type yard struct {
	t       *testing.T
	world   worldtest.World
	servers *client.Servers
	dir     string
	binary  string
}

// newYard makes a world; flags are given to its servers.
func newYard(t *testing.T, flags ...string) *yard {
	t.Helper()
	dir, err := os.MkdirTemp("", "yard") // short, since sockets are in it
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{t: t, dir: dir, world: worldtest.World{Dir: t.TempDir()}, binary: filepath.Join(dir, "dhctl")}
	// The world is told by a script in between, since tests run beside each other.
	script := "#!/bin/sh\n" + worldVariable + "='" + y.world.Dir + "' exec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(y.binary, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	y.servers = y.newServers(flags...)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return y
}

func (y *yard) newServers(flags ...string) *client.Servers {
	y.t.Helper()
	s := &client.Servers{
		Dir: y.dir, Args: append([]string{"--tmp-dir", y.dir, "--lock-dir", filepath.Join(y.dir, "locks")}, flags...),
		Output: y.t.Output(), Log: discard,
	}
	y.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			y.t.Error(err)
		}
	})
	return s
}

func (y *yard) client() *client.Client {
	y.t.Helper()
	c, err := y.servers.EnsureServer(y.t.Context(), y.binary, "v1")
	if err != nil {
		y.t.Fatal(err)
	}
	y.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (y *yard) fault(method, what string) {
	y.t.Helper()
	if err := y.world.Break(method, what); err != nil {
		y.t.Fatal(err)
	}
}

// calls counts how often a method of the world was called.
func (y *yard) calls(method string) (n int) {
	for _, call := range y.world.Calls() {
		if call == method {
			n++
		}
	}
	return n
}

// request asks for a cluster of one machine.
func request(state string) client.Request {
	return client.Request{
		UUID: id, ClusterConfig: clusterDoc, State: state,
		ProviderConfig: "apiVersion: v1\nkind: WorldConfiguration\nmachines: {a: small}\n",
	}
}

// keeper stores states as Commander does, and the id of a process that has a fault.
type keeper struct {
	state string
	ends  []string
	pid   chan int
}

func newKeeper() *keeper { return &keeper{pid: make(chan int, 1)} }

func (k *keeper) handler() client.Handler {
	return client.Handler{
		OnPhaseEnd: func(_ context.Context, e client.PhaseEnd) (client.Continue, error) {
			k.state = e.State
			k.ends = append(k.ends, e.Completed)
			return client.Next, nil
		},
		OnLogs: func(lines []string) {
			for _, line := range lines {
				if _, text, found := strings.Cut(line, " in process "); found {
					pid, err := strconv.Atoi(text)
					if err == nil {
						k.pid <- pid
					}
				}
			}
		},
	}
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	await(t, func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) })
}

// zombie tells a process that ended and was not waited for, as that of a killed parent in a
// container without an init.
func zombie(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.HasPrefix(rest, "Z")
}

// await looks again and again until something is so, or the test's time is over.
func await(t *testing.T, so func() bool) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !so() {
		select {
		case <-again.C:
		case <-ctx.Done():
			t.Fatal("waited in vain")
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func must(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}
