package fencing

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/fencing/fencingpb"
	"commander/internal/clock"
	"commander/internal/kubetest"
)

// lone is a real Node that is alone in its group, and an agent for it that runs.
type lone struct {
	client   kubernetes.Interface
	name     string
	watchdog *MemoryWatchdog
	socket   string
	stop     func()
}

func newLone(t *testing.T, name string, mode v1.FencingMode, annotations map[string]string) *lone {
	t.Helper()
	client, err := kubernetes.NewForConfig(kubetest.Start(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	// Where agents keep their Leases; others of these tests need it as well.
	_, err = client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelGroup: name}, Annotations: annotations},
		Status:     corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}}},
	}
	nodes := client.CoreV1().Nodes()
	made, err := nodes.Create(t.Context(), node, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Status = node.Status
	if _, err := nodes.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	l := &lone{client: client, name: name, watchdog: NewMemoryWatchdog(2*time.Second, clock.System{}), socket: filepath.Join(t.TempDir(), "s")}
	gossip := quick // port 0: any that is free
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- Run(ctx, Options{
			Node: name, Group: name, Mode: mode, Timeout: 2 * time.Second, Watchdog: l.watchdog,
			APIBound: 5 * time.Second, APIEvery: 100 * time.Millisecond, Gossip: gossip, MinEventInterval: time.Millisecond,
			Socket: l.socket, Client: client, Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		})
	}()
	l.stop = func() {
		t.Helper()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the agent ended with %v", err)
		}
	}
	return l
}

func (l *lone) labels(t *testing.T) map[string]string {
	t.Helper()
	node, err := l.client.CoreV1().Nodes().Get(t.Context(), l.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node.Labels
}

func (l *lone) annotate(t *testing.T, patch string) {
	t.Helper()
	_, err := l.client.CoreV1().Nodes().Patch(t.Context(), l.name, types.MergePatchType, []byte(`{"metadata":{"annotations":`+patch+`}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAgentOnARealNode(t *testing.T) {
	t.Parallel()
	l := newLone(t, "fenced", v1.FencingWatchdog, nil)
	eventually(t, "the node is labeled", func() bool {
		labels := l.labels(t)
		_, enabled := labels[api.LabelFencingEnabled]
		return enabled && labels[api.LabelFencingMode] == "Watchdog"
	})
	if !l.watchdog.Armed() {
		t.Error("labeled before the watchdog was armed")
	}
	for _, key := range api.Maintenance {
		l.annotate(t, `{"`+key+`":""}`)
		eventually(t, key+" disarms", func() bool { return !l.watchdog.Armed() })
		l.annotate(t, `{"`+key+`":null}`)
		eventually(t, "its end arms", l.watchdog.Armed)
	}
	if l.watchdog.Expired() {
		t.Error("the node was reset")
	}
	l.stop()
	if _, left := l.labels(t)[api.LabelFencingEnabled]; left || l.watchdog.Armed() {
		t.Errorf("label left %t, armed %t, want neither", left, l.watchdog.Armed())
	}
}

func TestNotifyOnlyTells(t *testing.T) {
	t.Parallel()
	l := newLone(t, "notified", v1.FencingNotify, nil)
	eventually(t, "the node is labeled", func() bool { return l.labels(t)[api.LabelFencingMode] == "Notify" })
	connection, err := grpc.NewClient("unix://"+l.socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	all, err := fencingpb.NewFencingClient(connection).GetAll(t.Context(), &fencingpb.Empty{}, grpc.WaitForReady(true))
	if err != nil || len(all.GetNodes()) != 1 || all.GetNodes()[0].GetName() != "notified" {
		t.Errorf("got %v, %v, want the node itself", all, err)
	}
	if l.watchdog.Armed() {
		t.Error("the watchdog was armed")
	}
	l.stop()
	if _, left := l.labels(t)[api.LabelFencingMode]; left {
		t.Error("the label is left")
	}
}
