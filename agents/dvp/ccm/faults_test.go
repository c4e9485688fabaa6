package ccm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/kubetest"
	"commander/internal/run"
)

// life is that of one process: it is over after so many requests to either API server, of which the
// last may still be carried out.
type life struct {
	left atomic.Int64
	end  context.CancelFunc
}

var errKilled = errors.New("the process was killed")

// through is a way to an API server that ends with a life.
func (l *life) through(access *rest.Config) *rest.Config {
	config := rest.CopyConfig(access)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			left := l.left.Add(-1)
			if left < 0 {
				return nil, errKilled
			}
			answer, err := next.RoundTrip(r)
			if left == 0 { // it dies before it sees the answer
				l.end()
				if err == nil {
					answer.Body.Close() //nolint:errcheck // nobody reads it
				}
				return nil, errKilled
			}
			return answer, err
		})
	})
	return config
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// mortals run the controllers as processes that are killed after a random number of requests, each
// followed by another, with faults on the ways to both API servers.
type mortals struct {
	tenant, dvp *rest.Config
	namespace   string
	random      *rand.Rand
	killed      atomic.Int64
	all         sync.WaitGroup
}

func (m *mortals) run(ctx context.Context, t *testing.T) {
	for n := uint64(1); ctx.Err() == nil; n++ {
		alive, end := context.WithCancel(ctx)
		l := &life{end: end}
		l.left.Store(int64(15 + m.random.IntN(150)))
		if n == 1 {
			l.left.Store(60) // it certainly dies
		}
		access, err := cloud.New(l.through(emulatortest.Faulty(m.dvp, n, 0.1)), m.namespace, uuid)
		if err != nil {
			t.Error(err)
		}
		client, err := kubernetes.NewForConfig(l.through(emulatortest.Faulty(m.tenant, n, 0.05)))
		if err != nil {
			t.Error(err)
		}
		var group run.Group
		provider := New(access)
		provider.AddressBound = 2 * time.Second
		err = provider.Join(&group, client, Settings{Controllers: Controllers, ClusterName: "test", NodeStatus: 200 * time.Millisecond, NodeMonitor: 200 * time.Millisecond, Workers: 2})
		if err != nil {
			t.Error(err)
		}
		// A process that was killed says nothing, and can do nothing any more: the next need not wait
		// for its end.
		m.all.Go(func() { _ = group.Run(alive) })
		<-alive.Done()
		end()
		m.killed.Add(1)
	}
	m.all.Wait()
}

// Whatever fails on the way to either API server and at whatever step the program is killed, Nodes
// and load balancers end as they do without that: Nodes whose machine is there stay the same, and
// nothing is left of what was removed.
func TestControllersUnderFaults(t *testing.T) {
	t.Parallel()
	server := kubetest.StartOwn(t)
	c := &cluster{DVP: emulatortest.Start(t), t: t}
	var err error
	if c.client, err = kubernetes.NewForConfig(server.Config); err != nil {
		t.Fatal(err)
	}
	m := &mortals{tenant: server.Config, dvp: c.Access, namespace: c.Namespace, random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // nothing to guess
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { m.run(ctx, t) })
	t.Cleanup(func() { cancel(); running.Wait() })

	names := []string{"f-0", "f-1", "f-2"}
	uids := map[string]types.UID{}
	for _, name := range names {
		c.machine(name, name)
		uids[name] = c.node(name).UID
	}
	first, second := c.service("first", nil), c.service("second", nil)
	c.settles("nodes are open and services have addresses", func() string {
		for _, name := range names {
			node, err := c.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil || closed(node) || node.Spec.ProviderID != "dvp://"+name || len(node.Status.Addresses) != 3 {
				return fmt.Sprintf("node %s: %v", name, err)
			}
		}
		for _, s := range []*corev1.Service{first, second} {
			now, err := c.client.CoreV1().Services("default").Get(t.Context(), s.Name, metav1.GetOptions{})
			if err != nil || len(now.Status.LoadBalancer.Ingress) != 1 {
				return fmt.Sprintf("service %s: %v", s.Name, err)
			}
			if got := c.selected(selectorKey(c.parent(s).Name)); !slices.Equal(got, names) {
				return fmt.Sprintf("service %s has machines %v", s.Name, got)
			}
		}
		return ""
	})

	// A machine goes, a Service goes, and another changes.
	if err := c.Delete(t.Context(), c.DVP.Machine("f-2")); err != nil {
		t.Fatal(err)
	}
	c.ready("f-2", corev1.ConditionUnknown)
	c.ready("f-1", corev1.ConditionUnknown) // whose machine is there
	if err := c.client.CoreV1().Services("default").Delete(t.Context(), "second", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	patch := `{"spec":{"ports":[{"name":"http","port":80},{"name":"more","port":81}]}}`
	if _, err := c.client.CoreV1().Services("default").Patch(t.Context(), "first", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.settles("what was removed is gone, and the change made", func() string {
		if _, err := c.client.CoreV1().Nodes().Get(t.Context(), "f-2", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("node f-2: %v", err)
		}
		if _, err := c.client.CoreV1().Services("default").Get(t.Context(), "second", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("service second: %v", err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(c.parent(second)), c.parent(second)); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("load balancer of second: %v", err)
		}
		parent := c.parent(first)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(parent), parent); err != nil || len(parent.Spec.Ports) != 2 {
			return fmt.Sprintf("load balancer of first: %v, %v", err, parent.Spec.Ports)
		}
		return ""
	})
	if got := c.selected(selectorKey(c.parent(second).Name)); len(got) != 0 {
		t.Errorf("machines %v have the label of a load balancer that is gone", got)
	}
	for _, name := range names[:2] {
		node, err := c.client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || node.UID != uids[name] {
			t.Errorf("node %s was removed though its machine is there: %v", name, err)
		}
	}

	if err := c.client.CoreV1().Services("default").Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.settles("nothing is left", func() string {
		var all corev1.ServiceList
		if err := c.List(t.Context(), &all, client.InNamespace(c.Namespace)); err != nil || len(all.Items) > 0 {
			return fmt.Sprintf("%d load balancers, %v", len(all.Items), err)
		}
		if _, err := c.client.CoreV1().Services("default").Get(t.Context(), "first", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("service first: %v", err)
		}
		return ""
	})
	for _, s := range []*corev1.Service{first, second} {
		if got := c.selected(selectorKey(c.parent(s).Name)); len(got) != 0 {
			t.Errorf("machines %v have the label of %s, which is gone", got, s.Name)
		}
	}
	if m.killed.Load() < 2 {
		t.Errorf("the program was killed %d times, want more", m.killed.Load())
	}
	t.Logf("the program was killed %d times", m.killed.Load())
}

// settles waits until nothing is to be complained of. It may take long: controllers wait between
// attempts, each time longer.
func (c *cluster) settles(what string, complaint func() string) {
	c.t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(c.t.Context(), 50*time.Millisecond, 4*time.Minute, true, func(context.Context) (bool, error) {
		last = complaint()
		return last == "", nil
	})
	if err != nil {
		c.t.Fatalf("%s: waited in vain: %s", what, last)
	}
}
