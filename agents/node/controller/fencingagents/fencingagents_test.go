package fencingagents

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	v1 "commander/agents/node/api/v1"
)

// A DaemonSet comes with fencing in a group, follows its settings, and goes with it.
func TestAgentsOfAGroup(t *testing.T) {
	t.Parallel()
	_, c := apitest.Start(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(client.IgnoreAlreadyExists(c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: api.Namespace}})))
	group := &v1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "guarded"},
		Spec:       v1.NodeGroupSpec{NodeType: v1.CloudPermanent, NodeGroupSettings: v1.NodeGroupSettings{Fencing: &v1.Fencing{Mode: v1.FencingWatchdog}}},
	}
	plain := &v1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "unguarded"}, Spec: v1.NodeGroupSpec{NodeType: v1.CloudPermanent}}
	must(c.Create(t.Context(), group))
	must(c.Create(t.Context(), plain))
	r := &Reconciler{Client: c, Image: Image{Name: "registry.local/fencing-agent:1", PullSecrets: []string{"pull"}}}
	look := func(name string) (*appsv1.DaemonSet, bool) {
		t.Helper()
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: name}})
		must(err)
		found := new(appsv1.DaemonSet)
		err = c.Get(t.Context(), client.ObjectKey{Namespace: api.Namespace, Name: "fencing-agent-" + name}, found)
		if apierrors.IsNotFound(err) {
			return nil, false
		}
		must(err)
		return found, true
	}
	environment := func(set *appsv1.DaemonSet) map[string]string {
		all := map[string]string{}
		for _, e := range set.Spec.Template.Spec.Containers[0].Env {
			all[e.Name] = e.Value
		}
		return all
	}
	if _, there := look(plain.Name); there {
		t.Error("a group without fencing has agents")
	}
	set, there := look(group.Name)
	if !there {
		t.Fatal("a group with fencing has no agents")
	}
	pod := set.Spec.Template.Spec
	if pod.NodeSelector[api.LabelGroup] != group.Name || pod.PriorityClassName != "system-cluster-critical" || !pod.HostNetwork ||
		*pod.TerminationGracePeriodSeconds != 10 || pod.Tolerations[0].Operator != corev1.TolerationOpExists ||
		*pod.Volumes[1].HostPath.Type != corev1.HostPathCharDev || !*pod.Containers[0].SecurityContext.Privileged {
		t.Errorf("pods are %+v", pod)
	}
	if e := environment(set); e["WATCHDOG_TIMEOUT"] != "60" || e["FENCING_MODE"] != "Watchdog" || e["NODE_GROUP"] != group.Name {
		t.Errorf("agents are told %v", e)
	}
	if again, _ := look(group.Name); again.ResourceVersion != set.ResourceVersion {
		t.Error("a DaemonSet that is as it shall be was written again")
	}
	must(c.Get(t.Context(), client.ObjectKeyFromObject(group), group))
	group.Spec.Fencing = &v1.Fencing{Mode: v1.FencingNotify, Watchdog: &v1.FencingWatchdogSettings{Timeout: "2m"}}
	must(c.Update(t.Context(), group))
	set, _ = look(group.Name)
	if e := environment(set); e["WATCHDOG_TIMEOUT"] != "120" || e["FENCING_MODE"] != "Notify" {
		t.Errorf("after the group changed agents are told %v", e)
	}
	// Who only tells needs no device and no privileges.
	if pod := set.Spec.Template.Spec; len(pod.Volumes) != 1 || pod.Containers[0].SecurityContext.Privileged != nil {
		t.Errorf("in mode Notify pods are %+v", pod)
	}
	group.Spec.Fencing = nil
	must(c.Update(t.Context(), group))
	if _, there := look(group.Name); there {
		t.Error("agents stay when fencing is gone")
	}
	// Without an image, as when the module is switched off, they go as well.
	group.Spec.Fencing = &v1.Fencing{Mode: v1.FencingWatchdog}
	must(c.Update(t.Context(), group))
	if _, there := look(group.Name); !there {
		t.Fatal("agents do not come back")
	}
	r.Image = Image{}
	if _, there := look(group.Name); there {
		t.Error("agents stay when fencing is switched off")
	}
}
