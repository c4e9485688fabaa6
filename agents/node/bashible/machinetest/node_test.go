package machinetest

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	"commander/agents/node/api/v1alpha1"
)

// From a bare machine to a node that is ready, by nothing but the script that the cluster has for
// it; then a new configuration comes by itself.
func TestBareMachineBecomesANode(t *testing.T) {
	gateway, kubelet := Needs(t, "")
	c := NewCluster(t, gateway, kubelet)
	c.must(c.Client.Create(t.Context(), &v1alpha1.NodeGroupConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "network.sh"},
		Spec:       v1alpha1.NodeGroupConfigurationSpec{Content: Network, Weight: 35, NodeGroups: []string{Group}, Bundles: []string{"debian"}},
	}))
	c.must(c.Client.Create(t.Context(), &v1.NodeUser{
		ObjectMeta: metav1.ObjectMeta{Name: "eve"},
		Spec:       v1.NodeUserSpec{UID: 1500, SSHPublicKey: "ssh-ed25519 AAAA eve", PasswordHash: "*", IsSudoer: true, NodeGroups: []string{"*"}},
	}))
	manual := new(corev1.Secret)
	Eventually(t, "the script for machines is there, with all of it", func(ctx context.Context) bool {
		err := c.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: "manual-bootstrap-for-" + Group}, manual)
		checksums := new(corev1.Secret)
		return err == nil && c.Client.Get(ctx, client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, checksums) == nil
	})
	m := newMachine(t, "bare")
	began := time.Now()
	t.Logf("the machine said:\n%s", m.run(string(manual.Data["bootstrap.sh"]), "cat >/root/bootstrap.sh && bash /root/bootstrap.sh"))
	node := new(corev1.Node)
	Eventually(t, "the node is ready", func(ctx context.Context) bool {
		return c.Client.Get(ctx, client.ObjectKey{Name: "bare"}, node) == nil && Ready(node)
	})
	t.Logf("from a bare machine to a ready node: %s", time.Since(began).Round(100*time.Millisecond))
	checksums := new(corev1.Secret)
	c.must(c.Client.Get(t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: api.ChecksumsSecret}, checksums))
	if got := node.Annotations[api.AnnotationChecksum]; got == "" || got != string(checksums.Data[Group]) {
		t.Errorf("the node tells checksum %q, the cluster has %q", got, checksums.Data[Group])
	}
	if node.Labels[api.LabelGroup] != Group || node.Labels[api.LabelType] != "CloudPermanent" || node.Labels[api.LabelFirstRunFinished] != "true" {
		t.Errorf("the node has labels %v", node.Labels)
	}
	if got := m.run("", "id -u eve; id -Gn eve; systemctl is-active bashible.timer bashible-watch kubelet containerd; ls /var/lib/bashible/bootstrap-token 2>&1 || true"); !strings.HasPrefix(got, "1500\neve sudo\nactive\nactive\nactive\nactive\n") || !strings.Contains(got, "No such file") {
		t.Errorf("on the machine:\n%s", got)
	}
	if got := m.run("", "systemctl show -p TimersMonotonic bashible.timer"); !strings.Contains(got, "OnBootUSec=1min ") || !strings.Contains(got, "OnUnitActiveUSec=1min ") {
		t.Errorf("the timer is %s, want one of a minute, also after the start", got)
	}

	// A change comes by the watch; the node asks, and is let.
	eve := &v1.NodeUser{ObjectMeta: metav1.ObjectMeta{Name: "eve"}}
	c.must(c.Client.Delete(t.Context(), eve))
	Eventually(t, "the node asks", func(ctx context.Context) bool {
		c.must(c.Client.Get(ctx, client.ObjectKeyFromObject(node), node))
		_, asks := node.Annotations[api.UpdateWaiting]
		return asks
	})
	c.must(c.Client.Patch(t.Context(), node, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+api.UpdateApproved+`":"","`+api.UpdateWaiting+`":null}}}`))))
	Eventually(t, "the node is up to date", func(ctx context.Context) bool {
		c.must(c.Client.Get(ctx, client.ObjectKeyFromObject(checksums), checksums))
		c.must(c.Client.Get(ctx, client.ObjectKeyFromObject(node), node))
		return node.Annotations[api.AnnotationChecksum] == string(checksums.Data[Group])
	})
	if got := m.run("", "getent passwd eve || echo gone"); got != "gone" {
		t.Errorf("the user is still there: %s", got)
	}
	if !Ready(node) {
		t.Error("the node is not ready after its update")
	}
}
