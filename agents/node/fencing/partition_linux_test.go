package fencing

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

// isolated is an agent in a process and a network of its own; this binary is its program.
type isolated struct {
	Name, Group, Address, Socket string
	Host, Token, CAFile          string // the API server, by the way that this node has to it
}

const isolatedVariable = "FENCING_TEST_AGENT"

// shortTimeout makes resets quick: the watchdog of these tests waits so long.
const shortTimeout = 4 * time.Second

func TestMain(m *testing.M) {
	if text := os.Getenv(isolatedVariable); text != "" {
		if err := runIsolated(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// spoken is a watchdog that says when it is fed.
type spoken struct {
	*MemoryWatchdog
	log *slog.Logger
}

func (s spoken) Feed() error {
	s.log.Info("fed")
	return s.MemoryWatchdog.Feed()
}

func runIsolated(text string) error {
	var i isolated
	if err := json.Unmarshal([]byte(text), &i); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: i.Host, BearerToken: i.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: i.CAFile, ServerName: "127.0.0.1"},
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	dog := NewMemoryWatchdog(shortTimeout, clock.System{})
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			if dog.Expired() {
				log.Error("expired")
				os.Exit(0) // as the kernel would
			}
		}
	}()
	gossip := quick
	gossip.Port = 8500
	return Run(ctx, Options{
		Node: i.Name, Group: i.Group, Mode: v1.FencingWatchdog, Timeout: shortTimeout, Watchdog: spoken{dog, log},
		APIBound: 500 * time.Millisecond, APIEvery: 200 * time.Millisecond, Gossip: gossip, MinEventInterval: time.Millisecond,
		Socket: i.Socket, Client: client, Clock: clock.System{}, Log: log,
	})
}

// networks are namespaces of the kernel: a hub by which agents hear each other, and one for each
// node, which also has a line of its own to the API server.
type networks struct {
	t      *testing.T
	id     int
	server *kubetest.Server
	client kubernetes.Interface
	nodes  []*networkNode
}

// lineCount counts lines to the API server, so that each has addresses of its own.
var lineCount atomic.Int32

type networkNode struct {
	isolated
	n     int
	space string
	mu    sync.Mutex // protects said
	said  []string
	done  chan struct{}
	kill  func(os.Signal) error
}

func ip(args ...string) error {
	if said, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(said)))
	}
	return nil
}

// newNetworks makes as many nodes in a group. It needs root and a kernel that lets namespaces be made.
func newNetworks(t *testing.T, group string, count int) *networks {
	t.Helper()
	w := &networks{t: t, id: os.Getpid() % 100000, server: kubetest.Start(t)}
	hub := fmt.Sprintf("cf%d%s", w.id, group)
	if err := ip("netns", "add", hub); err != nil {
		if os.Getenv("COMMANDER_TEST_REQUIRE_DOCKER") == "1" {
			t.Fatalf("not run: no namespaces of networks: %v", err)
		}
		t.Skipf("not run: no namespaces of networks: %v", err)
	}
	t.Cleanup(func() { _ = ip("netns", "delete", hub) })
	var err error
	if w.client, err = kubernetes.NewForConfig(w.server.Config); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(errors.Join(ip("-n", hub, "link", "add", "hub", "type", "bridge"), ip("-n", hub, "link", "set", "hub", "up")))
	_, err = w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	for n := range count {
		node := &networkNode{n: n, space: fmt.Sprintf("%s-%d", hub, n)}
		node.Name, node.Group, node.Address = fmt.Sprintf("%s-%d", group, n), group, fmt.Sprintf("10.213.0.%d", n+1)
		node.Socket, node.Token, node.CAFile = filepath.Join(t.TempDir(), "s"), w.server.Config.BearerToken, w.server.Config.CAFile
		line := fmt.Sprintf("%s%d", hub, n)
		subnet := 4 * lineCount.Add(1) // of four addresses; the third byte keeps processes apart
		outer, inner := fmt.Sprintf("10.214.%d.%d", w.id%250, subnet+1), fmt.Sprintf("10.214.%d.%d", w.id%250, subnet+2)
		must(errors.Join(
			ip("netns", "add", node.space),
			ip("-n", hub, "link", "add", fmt.Sprintf("g%d", n), "type", "veth", "peer", "name", "gossip", "netns", node.space),
			ip("-n", hub, "link", "set", fmt.Sprintf("g%d", n), "master", "hub", "up"),
			ip("-n", node.space, "address", "add", node.Address+"/24", "dev", "gossip"), ip("-n", node.space, "link", "set", "gossip", "up"),
			ip("link", "add", line, "type", "veth", "peer", "name", "api", "netns", node.space),
			ip("address", "add", outer+"/30", "dev", line), ip("link", "set", line, "up"),
			ip("-n", node.space, "address", "add", inner+"/30", "dev", "api"), ip("-n", node.space, "link", "set", "api", "up"),
			ip("-n", node.space, "link", "set", "lo", "up"),
		))
		t.Cleanup(func() { _ = errors.Join(ip("link", "delete", line), ip("netns", "delete", node.space)) }) // what is left is no harm
		node.Host = "https://" + w.forward(outer)
		w.register(node)
		w.nodes = append(w.nodes, node)
	}
	ctx, cancel := context.WithCancel(context.Background())
	renewed := make(chan struct{})
	go func() { defer close(renewed); w.renew(ctx) }()
	t.Cleanup(func() { cancel(); <-renewed })
	for _, node := range w.nodes {
		w.start(node)
	}
	for _, node := range w.nodes {
		node.until(t, "all are heard", `"action":"feed","members":`+fmt.Sprint(count))
	}
	return w
}

// forward carries what comes to an address of this machine to the API server.
func (w *networks) forward(address string) string {
	w.t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = listener.Close() }) // nothing is kept
	go func() {
		for {
			in, err := listener.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(w.server.Config.Host, "https://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					_, _ = io.Copy(pair[0], pair[1]) // until either end goes
					_ = errors.Join(in.Close(), out.Close())
				}()
			}
		}
	}()
	return listener.Addr().String()
}

func (w *networks) register(node *networkNode) {
	w.t.Helper()
	nodes := w.client.CoreV1().Nodes()
	made, err := nodes.Create(w.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: map[string]string{api.LabelGroup: node.Group}}}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	made.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: node.Address}}
	if _, err := nodes.UpdateStatus(w.t.Context(), made, metav1.UpdateOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// renew plays the kubelets, which are well.
func (w *networks) renew(ctx context.Context) {
	leases := w.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	for {
		for _, node := range w.nodes {
			now := metav1.NewMicroTime(time.Now())
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: coordinationv1.LeaseSpec{RenewTime: &now}}
			if _, err := leases.Create(ctx, lease, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
				_, _ = leases.Patch(ctx, node.Name, "application/merge-patch+json", // it is done again soon
					fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro)), metav1.PatchOptions{})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(2 * time.Second):
		}
	}
}

// start runs the agent of a node in the node's network.
func (w *networks) start(node *networkNode) {
	w.t.Helper()
	text, err := json.Marshal(node.isolated)
	if err != nil {
		w.t.Fatal(err)
	}
	command := exec.Command("ip", "netns", "exec", node.space, os.Args[0])
	command.Env = append(os.Environ(), isolatedVariable+"="+string(text))
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := command.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	command.Stderr = w.t.Output()
	if err := command.Start(); err != nil {
		w.t.Fatal(err)
	}
	done := make(chan struct{})
	node.done, node.kill = done, command.Process.Signal
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			node.mu.Lock()
			node.said = append(node.said, lines.Text())
			node.mu.Unlock()
		}
		_ = command.Wait() // how it ended is in what it said
	}()
	w.t.Cleanup(func() {
		_ = command.Process.Kill() // it may be over
		<-done
		if w.t.Failed() {
			w.t.Logf("%s said:\n%s", node.Name, strings.Join(node.said, "\n"))
		}
	})
}

// count is how many lines a node has said that have a text in them, from a line on.
func (n *networkNode) count(from int, text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := 0
	for _, line := range n.said[min(from, len(n.said)):] {
		if strings.Contains(line, text) {
			found++
		}
	}
	return found
}

func (n *networkNode) now() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.said)
}

func (n *networkNode) until(t *testing.T, what, text string) {
	t.Helper()
	eventually(t, n.Name+": "+what, func() bool { return n.count(0, text) > 0 })
}

// live waits until nodes were fed for three times as long as their watchdogs wait.
func live(t *testing.T, what string, nodes ...*networkNode) {
	t.Helper()
	from := make([]int, len(nodes))
	for i, n := range nodes {
		from[i] = n.now()
	}
	for i, n := range nodes {
		eventually(t, n.Name+" goes on: "+what, func() bool { return n.count(from[i], `"fed"`) >= 3*int(shortTimeout/TickOf(shortTimeout)) || n.reset() })
		if n.reset() {
			t.Errorf("%s was reset: %s", n.Name, what)
		}
	}
}

// undisturbed says that nothing was wrong between the last two times that the node was fed.
func (n *networkNode) undisturbed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := n.said[max(0, len(n.said)-2):]
	return len(last) == 2 && strings.Contains(last[0], `"fed"`) && strings.Contains(last[1], `"fed"`)
}

func (n *networkNode) reset() bool { return n.count(0, `"expired"`) > 0 }

func (n *networkNode) dies(t *testing.T, what string) {
	t.Helper()
	eventually(t, n.Name+" is reset: "+what, n.reset)
}

func (w *networks) api(state string, nodes ...*networkNode) {
	w.t.Helper()
	for _, n := range nodes {
		if err := ip("-n", n.space, "link", "set", "api", state); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *networks) gossip(state string, nodes ...*networkNode) {
	w.t.Helper()
	for _, n := range nodes {
		if err := ip("-n", n.space, "link", "set", "gossip", state); err != nil {
			w.t.Fatal(err)
		}
	}
}

// Three agents and each way in which they can be cut off.
func TestPartitions(t *testing.T) {
	t.Parallel()
	w := newNetworks(t, "three", 3)
	a, b, c := w.nodes[0], w.nodes[1], w.nodes[2]
	w.api("down", w.nodes...)
	live(t, "the API server is away for all, a majority hears each other", w.nodes...)
	w.api("up", w.nodes...)
	for _, n := range w.nodes {
		eventually(t, n.Name+" has the API server back", n.undisturbed)
	}

	w.gossip("down", a)
	a.until(t, "only the API server keeps it", `"action":"fallback"`)
	live(t, "one of three is cut off from its peers only", w.nodes...)
	w.api("down", a)
	a.dies(t, "cut off from its peers and the API server")
	if b.reset() || c.reset() {
		t.Error("others were reset with it")
	}
	// An agent that is killed feeds nobody; its peers find out.
	if err := b.kill(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-b.done
	c.until(t, "alone with the API server", `"action":"fallback"`)
	live(t, "the last one with the API server", c)
	// It ends well: the label is taken back, and the watchdog disarmed.
	if err := c.kill(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-c.done
	node, err := w.client.CoreV1().Nodes().Get(t.Context(), c.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, left := node.Labels[api.LabelFencingEnabled]; left || c.reset() {
		t.Errorf("label left %t, reset %t, want neither", left, c.reset())
	}
}

// Two halves that both see the API server live; without it neither is a majority. A group of one
// has nobody who would take over.
func TestEvenSplitAndLoneNode(t *testing.T) {
	t.Parallel()
	w := newNetworks(t, "pair", 2)
	w.gossip("down", w.nodes...)
	for _, n := range w.nodes {
		n.until(t, "only the API server keeps it", `"action":"fallback"`)
	}
	live(t, "an even split, both halves see the API server", w.nodes...)
	w.api("down", w.nodes...)
	for _, n := range w.nodes {
		n.dies(t, "an even split, no half sees the API server")
	}
	lone := newNetworks(t, "lone", 1)
	lone.api("down", lone.nodes...)
	lone.gossip("down", lone.nodes...)
	live(t, "a group of one that is cut off from everything", lone.nodes...)
}
