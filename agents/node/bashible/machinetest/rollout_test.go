package machinetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/controller/approval"
	"commander/agents/node/controller/drain"
	"commander/agents/node/controller/groupstatus"
	"commander/agents/node/controller/template"
	"commander/internal/clock"
)

// control runs the controllers that an update needs, until the test ends.
func (c *Cluster) control() {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(c.t.Output(), &slog.HandlerOptions{Level: slog.LevelError})))
	manager, err := ctrl.NewManager(c.Server.Config, ctrl.Options{
		Scheme: apitest.Scheme(c.t), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: map[string]cache.Config{api.Namespace: {}}}}},
	})
	c.must(err)
	now := clock.System{}
	c.must(errors.Join(groupstatus.Setup(manager, now), approval.Setup(manager, now), template.Setup(manager),
		drain.Setup(ctx, manager, now, prometheus.NewRegistry())))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	c.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Errorf("controllers ended with %v", err)
		}
	})
}

// nodes are those of the cluster, with the checksum that they shall have.
func (c *Cluster) nodes(ctx context.Context) ([]corev1.Node, string) {
	c.t.Helper()
	nodes, checksums := new(corev1.NodeList), new(corev1.Secret)
	c.must(c.Client.List(ctx, nodes))
	c.must(client.IgnoreNotFound(c.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, checksums)))
	return nodes.Items, string(checksums.Data[Group])
}

// settled says that so many nodes are ready, up to date, and done with talking about it.
func (c *Cluster) settled(ctx context.Context, count int) bool {
	nodes, checksum := c.nodes(ctx)
	for _, n := range nodes {
		if !Ready(&n) || n.Spec.Unschedulable || len(n.Spec.Taints) > 0 || n.Annotations[api.AnnotationChecksum] != checksum {
			return false
		}
		for key := range n.Annotations {
			if strings.HasPrefix(key, api.UpdatePrefix) {
				return false
			}
		}
	}
	return len(nodes) == count && checksum != ""
}

// told counts events of a reason by node, of both kinds of events.
func (c *Cluster) told(ctx context.Context, reason string) map[string]int {
	c.t.Helper()
	all := new(eventsv1.EventList)
	c.must(c.Client.List(ctx, all, client.InNamespace("default")))
	count := map[string]int{}
	for _, e := range all.Items {
		if e.Reason == reason {
			count[e.Regarding.Name]++
		}
	}
	return count
}

// Three machines take a change that disturbs them one after the other, each drained first; then a
// change that fails stops at the first of them.
func TestRollOut(t *testing.T) {
	gateway, kubelet := Needs(t, "")
	c := NewCluster(t, gateway, kubelet)
	c.must(c.Client.Create(t.Context(), &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: Group}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}))
	c.Script("network.sh", Network)
	c.control()
	manual := new(corev1.Secret)
	Eventually(t, "the script for machines is there", func(ctx context.Context) bool {
		_, checksum := c.nodes(ctx)
		return checksum != "" && c.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: "manual-bootstrap-for-" + Group}, manual) == nil
	})
	const count = 3
	for i := range count {
		m := newMachine(t, fmt.Sprintf("roll-%d", i))
		m.run(string(manual.Data["bootstrap.sh"]), "cat >/root/bootstrap.sh; systemd-run -q --unit=bootstrap bash /root/bootstrap.sh")
	}
	Eventually(t, "all nodes are ready and up to date", func(ctx context.Context) bool { return c.settled(ctx, count) })

	_, before := c.nodes(t.Context())
	c.Script("disturb.sh", "[[ -e /root/disturbed ]] || { bb-deckhouse-get-disruptive-update-approval; touch /root/disturbed; }\n")
	Eventually(t, "the change is rendered", func(ctx context.Context) bool { _, now := c.nodes(ctx); return now != before })
	most := 0
	Eventually(t, "all nodes have the change", func(ctx context.Context) bool {
		nodes, _ := c.nodes(ctx)
		approved := 0
		for _, n := range nodes {
			if _, is := n.Annotations[api.UpdateApproved]; is {
				approved++
			}
		}
		most = max(most, approved)
		return c.settled(ctx, count)
	})
	if most != 1 {
		t.Errorf("%d nodes changed at once, want one", most)
	}
	for _, reason := range []string{approval.EventApproved, approval.EventDraining, approval.EventDisruptionApproved, approval.EventUpToDate} {
		if told := c.told(t.Context(), reason); len(told) != count {
			t.Errorf("event %s was told of %v, want of every node", reason, told)
		}
	}

	c.Script("broken.sh", "echo 'it is broken on purpose' >&2\nfalse\n")
	Eventually(t, "a node fails twice", func(ctx context.Context) bool {
		for _, times := range c.told(ctx, "BashibleStepFailed") {
			if times >= 2 {
				return true
			}
		}
		return false
	})
	Eventually(t, "the others ask", func(ctx context.Context) bool {
		nodes, _ := c.nodes(ctx)
		asking := 0
		for _, n := range nodes {
			if _, is := n.Annotations[api.UpdateWaiting]; is {
				asking++
			}
		}
		return asking == count-1
	})
	nodes, _ := c.nodes(t.Context())
	approved := 0
	for _, n := range nodes {
		if _, is := n.Annotations[api.UpdateApproved]; is {
			approved++
		}
		if !Ready(&n) {
			t.Errorf("node %s is not ready", n.Name)
		}
	}
	if failed := c.told(t.Context(), "BashibleStepFailed"); approved != 1 || len(failed) != 1 {
		t.Errorf("%d nodes are approved and %v failed, want one", approved, failed)
	}
}
