//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"commander/agents/dhctl"
	"commander/agents/lab"
	"commander/agents/lab/build"
	"commander/agents/lab/daemon"
	client "commander/jobs/clustermanager/dhctl"
)

const labResources = `
apiVersion: example.com/v1
kind: Shop
metadata: {name: corner, namespace: shop}
spec: {open: true}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: shops, singular: shop, kind: Shop}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func labRequest(workers int, state string) client.Request {
	return client.Request{
		UUID: id, ClusterConfig: strings.Replace(clusterDoc, "World", "Lab", 1), State: state, Resources: labResources,
		ProviderConfig: fmt.Sprintf(`
apiVersion: lab.commander.io/v1alpha1
kind: LabClusterConfiguration
masterNodeGroup: {replicas: 1, instanceClass: {cpu: 2, memoryGiB: 4, rootDiskGiB: 20}}
nodeGroups:
- {name: worker, replicas: %d, instanceClass: {cpu: 4, memoryGiB: 8, rootDiskGiB: 40}}
`, workers),
	}
}

// labYard is a yard whose servers work on a real lab.
func labYard(t *testing.T) (*yard, *lab.Client) {
	t.Helper()
	y := newYard(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	y.binary = self
	socket := filepath.Join(y.dir, "lab.sock")
	d, err := daemon.New(daemon.Config{
		Dir: filepath.Join(y.dir, "lab"), Socket: socket, StopClusters: true, Log: discard,
		Builder: build.Builder{Cache: "../../.cache", Source: "../../agents/lab"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if testing.Verbose() {
		t.Log("the lab is at " + socket)
	}
	y.servers = y.newServers("--lab-socket", socket)
	c := lab.NewClient(socket)
	t.Cleanup(c.Close)
	await(t, func() bool { return c.Ping(t.Context()) == nil })
	return y, c
}

// logged is a handler that also shows what happens.
func logged(t *testing.T, k *keeper) client.Handler {
	h := k.handler()
	begin := time.Now()
	inner := h.OnPhaseEnd
	h.OnPhaseEnd = func(ctx context.Context, e client.PhaseEnd) (client.Continue, error) {
		t.Logf("%6.2fs %s > %s critical=%v", time.Since(begin).Seconds(), e.Completed, e.Next, e.NextCritical)
		return inner(ctx, e)
	}
	h.OnLogs = func(lines []string) {
		for _, line := range lines {
			t.Logf("%6.2fs   %s", time.Since(begin).Seconds(), line)
		}
	}
	return h
}

func nodeNames(t *testing.T, l *lab.Client) []string {
	t.Helper()
	kubeconfig, err := l.Kubeconfig(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range nodes.Items {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

func TestLabClusterFromCradleToGrave(t *testing.T) {
	y, l := labYard(t)
	c := y.client()
	k := newKeeper()
	begin := time.Now()
	made, err := c.Bootstrap(t.Context(), labRequest(1, ""), logged(t, k))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %s", time.Since(begin))
	if got := nodeNames(t, l); !slices.Equal(got, []string{"blue-master-0", "blue-worker-0"}) {
		t.Errorf("nodes: got %v, want a master and a worker", got)
	}
	checked, err := c.Check(t.Context(), labRequest(1, made.State), client.Handler{})
	if err != nil || !strings.Contains(checked.CheckJSON, `{"status":"InSync"`) {
		t.Fatalf("check: got %s, %v; want in sync", checked.CheckJSON, err)
	}
	grown, err := c.Converge(t.Context(), labRequest(3, made.State), logged(t, k))
	if err != nil || len(nodeNames(t, l)) != 4 {
		t.Fatalf("three workers: got %v, %v", nodeNames(t, l), err)
	}
	less := labRequest(2, grown.State)
	asked, err := c.Converge(t.Context(), less, logged(t, k))
	if err != nil {
		t.Fatal(err)
	}
	var said dhctl.ConvergeResult
	if err := json.Unmarshal([]byte(asked.CheckJSON), &said); err != nil || said.Status != dhctl.ConvergeNeedApproval {
		t.Fatalf("two workers: got %s, %v; want to be asked", asked.CheckJSON, err)
	}
	less.Approved = said.CheckResult.DestructiveChangeID
	shrunk, err := c.Converge(t.Context(), less, logged(t, k))
	if err != nil || len(nodeNames(t, l)) != 3 {
		t.Fatalf("two workers: got %v, %v", nodeNames(t, l), err)
	}
	if _, err := c.Destroy(t.Context(), labRequest(2, shrunk.State), logged(t, k)); err != nil {
		t.Fatal(err)
	}
	if s, err := l.State(t.Context(), id); err != nil || s.Exists {
		t.Errorf("afterwards: got %+v, %v; want nothing", s, err)
	}
}

func TestLabBootstrapIsKilledInItsFirstPhase(t *testing.T) {
	y, l := labYard(t)
	c := y.client()
	k := newKeeper()
	h := k.handler()
	h.OnLogs = func(lines []string) { // the first line is of the control plane at work
		for _, child := range children(t, "_server") {
			_ = syscall.Kill(child, syscall.SIGKILL)
		}
	}
	var lost *client.Lost
	if _, err := c.Bootstrap(t.Context(), labRequest(1, ""), h); !errors.As(err, &lost) {
		t.Fatalf("got %v, want the conversation lost", err)
	}
	if _, err := c.Bootstrap(t.Context(), labRequest(1, k.state), logged(t, newKeeper())); err != nil {
		t.Fatal(err)
	}
	if got := nodeNames(t, l); len(got) != 2 {
		t.Errorf("nodes: got %v, want two", got)
	}
	if _, err := c.Destroy(t.Context(), labRequest(1, ""), logged(t, newKeeper())); err != nil {
		t.Fatal(err)
	}
}

// children finds the processes of operations of this test's servers.
func children(t *testing.T, command string) (pids []int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(raw), self+"\x00"+command+"\x00") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
