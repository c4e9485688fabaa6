package ccm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/kubetest"
	"commander/internal/run"
)

// The test binary is the program when it is started so.
func TestMain(m *testing.M) {
	emulatortest.Live(live)
	klog.SetLogger(logr.Discard()) // what the controllers say about themselves is no part of a test
	os.Exit(m.Run())
}

// live runs the controllers.
func live(ctx context.Context, l emulatortest.Life, tenant, dvp *rest.Config) error {
	access, err := cloud.New(dvp, l.Project, uuid)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(tenant)
	if err != nil {
		return err
	}
	provider := New(access)
	provider.AddressBound = 2 * time.Second
	var group run.Group
	err = provider.Join(&group, client, Settings{Controllers: Controllers, ClusterName: "test", NodeStatus: 200 * time.Millisecond, NodeMonitor: 200 * time.Millisecond, Workers: 2})
	if err != nil {
		return err
	}
	return group.Run(ctx)
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
	m := emulatortest.RunMortals(t, emulatortest.Life{
		Tenant: emulatortest.Kubeconfig(t, server.Config), DVP: emulatortest.Kubeconfig(t, c.Access), Project: c.Namespace, Seed: 1,
	}, 12, 130)

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
	// The service controller of Kubernetes writes to its list of Services while it reads it.
	killed, found := m.End("service.(*serviceCache).allServices")
	if killed < 3 {
		t.Errorf("the program was killed %d times, want more", killed)
	}
	for _, report := range found {
		t.Error(report)
	}
	t.Logf("the program was killed %d times", killed)
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
