package ccm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cloudproviderapi "k8s.io/cloud-provider/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
	"commander/internal/kubetest"
	"commander/internal/run"
)

const uuid = "11111111-2222-3333-4444-555555555555"

// cluster is a cluster of its own API server, whose machines are a project of the emulator, and in
// which the real controllers run.
type cluster struct {
	*emulatortest.DVP
	t        *testing.T
	client   *kubernetes.Clientset
	provider *Provider
	clock    *clock.Fake
	faults   *faults
}

// faults answers requests to DVP in its place.
type faults struct {
	next   http.RoundTripper
	answer atomic.Pointer[func(*http.Request) (*http.Response, error)]
	count  atomic.Int64 // of those it answered
}

func (f *faults) RoundTrip(r *http.Request) (*http.Response, error) {
	if answer := f.answer.Load(); answer != nil {
		if response, err := (*answer)(r); response != nil || err != nil {
			f.count.Add(1)
			return response, err
		}
	}
	return f.next.RoundTrip(r)
}

func (f *faults) set(answer func(*http.Request) (*http.Response, error)) {
	f.count.Store(0)
	f.answer.Store(&answer)
}

func none(*http.Request) (*http.Response, error) { return nil, nil }

func status(code int, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r}, nil
	}
}

func broken(*http.Request) (*http.Response, error) { return nil, errors.New("connection reset") }

func newCluster(t *testing.T, controllers ...string) *cluster {
	t.Helper()
	c := &cluster{DVP: emulatortest.Start(t), t: t, faults: new(faults), clock: clock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	config := rest.CopyConfig(c.Access)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { c.faults.next = next; return c.faults })
	dvp, err := cloud.New(config, c.Namespace, uuid)
	if err != nil {
		t.Fatal(err)
	}
	if c.client, err = kubernetes.NewForConfig(kubetest.StartOwn(t).Config); err != nil {
		t.Fatal(err)
	}
	c.provider = New(dvp)
	c.provider.Clock, c.provider.AddressBound = c.clock, 5*time.Second
	var group run.Group
	err = c.provider.Join(&group, c.client, Settings{Controllers: controllers, ClusterName: "test", NodeStatus: 100 * time.Millisecond, NodeMonitor: 100 * time.Millisecond, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- group.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("stop controllers: %v", err)
		}
	})
	return c
}

// machine runs a machine that has the name of a node, and may have another of its own.
func (c *cluster) machine(name, node string) *v1alpha2.VirtualMachine {
	c.t.Helper()
	c.Make(c.Disk(name, emulatortest.Immediate, "1Gi"))
	vm := c.Machine(name, name)
	vm.Labels = map[string]string{cloud.LabelHostname: node, cloud.LabelClusterUUID: uuid, cloud.LabelManagedBy: cloud.ManagedBy}
	c.Make(vm)
	return emulatortest.AwaitPhase(c.DVP, vm, v1alpha2.MachineRunning)
}

// node registers a Node as kubelet does with an external provider.
func (c *cluster) node(name string) *corev1.Node {
	c.t.Helper()
	node, err := c.client.CoreV1().Nodes().Create(c.t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: cloudproviderapi.TaintExternalCloudProvider, Value: "true", Effect: corev1.TaintEffectNoSchedule}}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	c.ready(name, corev1.ConditionTrue)
	return node
}

// ready is what kubelet, or the node controller in its absence, says of a Node.
func (c *cluster) ready(name string, is corev1.ConditionStatus) {
	c.t.Helper()
	patch := `{"status":{"conditions":[{"type":"Ready","status":"` + string(is) + `"}]}}`
	if _, err := c.client.CoreV1().Nodes().Patch(c.t.Context(), name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		c.t.Fatal(err)
	}
}

// awaitNode waits until a Node is as a test says; so gets nil when there is none.
func (c *cluster) awaitNode(name, what string, so func(*corev1.Node) bool) *corev1.Node {
	c.t.Helper()
	var last *corev1.Node
	c.Eventually("node "+name+": "+what, func(ctx context.Context) bool {
		node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if client.IgnoreNotFound(err) != nil {
			c.t.Fatal(err)
		}
		if last = node; err != nil {
			last = nil
		}
		return so(last)
	})
	return last
}

func closed(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == cloudproviderapi.TaintExternalCloudProvider {
			return true
		}
	}
	return false
}
