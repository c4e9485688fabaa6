package fencing

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"commander/agents/node/api"
	v1 "commander/agents/node/api/v1"
	agent "commander/agents/node/fencing"
)

func fenced(name string, labels map[string]string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{api.AnnotationFencingTotal: "3"},
		Labels: map[string]string{api.LabelFencingEnabled: "", api.LabelFencingMode: "Watchdog", api.LabelGroup: "worker", api.LabelType: "CloudPermanent"},
	}}
	for key, value := range labels {
		node.Labels[key] = value
	}
	return node
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const timeout = 60 * time.Second
	for _, test := range []struct {
		name   string
		change func(*View)
		want   Reason
	}{
		{"lost", func(*View) {}, Lost},
		{"not labeled", func(v *View) { delete(v.Node.Labels, api.LabelFencingEnabled) }, NotFenced},
		{"update approved", func(v *View) { v.Node.Annotations[api.UpdateApproved] = "" }, Maintenance},
		{"disruption approved", func(v *View) { v.Node.Annotations[api.UpdateDisruptionApproved] = "" }, Maintenance},
		{"fencing disabled", func(v *View) { v.Node.Annotations[api.AnnotationFencingDisable] = "x" }, Maintenance},
		{"no lease", func(v *View) { v.Known = false }, NoLease},
		{"lease of 60 seconds", func(v *View) { v.Age = 60 * time.Second }, Alive},
		{"watchdog may still wait", func(v *View) { v.Age = agent.ReleaseAfter(timeout) - 1 }, Alive},
		{"others renew again for a short time", func(v *View) { v.LostFor = agent.ReleaseAfter(timeout) - 1 }, Early},
		{"longer watchdog", func(v *View) { v.Timeout = time.Hour }, Alive},
		{"nobody renews", func(v *View) { v.Others = false }, NobodyElse},
		{"a quorum is stale", func(v *View) { v.Stale = 2 }, TooMany},
		{"half of four is stale", func(v *View) {
			v.Stale, v.Blind, v.Total, v.Node.Annotations[api.AnnotationFencingTotal] = 2, 2, 4, "4"
		}, Lost},
		{"a quorum is blind", func(v *View) { v.Blind = 2 }, TooMany},
		{"a quorum of those that its agent knew is blind", func(v *View) {
			v.Blind, v.Total, v.Node.Annotations[api.AnnotationFencingTotal] = 2, 5, "3"
		}, TooMany},
		{"its agent never said what it knows", func(v *View) { delete(v.Node.Annotations, api.AnnotationFencingTotal) }, TooMany},
		{"the only node", func(v *View) { v.Total = 1 }, TooMany},
	} {
		v := View{Node: fenced("a", nil), Timeout: timeout, Age: agent.ReleaseAfter(timeout), LostFor: agent.ReleaseAfter(timeout), Known: true, Others: true, Stale: 1, Blind: 1, Total: 3}
		test.change(&v)
		if got := Judge(v); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

func TestWhichNodesAreDeleted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind v1.NodeType
		mode v1.FencingMode
		want bool
	}{
		{v1.CloudEphemeral, v1.FencingWatchdog, true},
		{v1.CloudPermanent, v1.FencingWatchdog, true},
		{v1.CloudStatic, v1.FencingWatchdog, false},
		{v1.Static, v1.FencingWatchdog, false},
		{v1.CloudEphemeral, v1.FencingNotify, false},
		{v1.CloudPermanent, v1.FencingNotify, false},
		{v1.Static, v1.FencingNotify, false},
	} {
		node := fenced("a", map[string]string{api.LabelType: string(test.kind), api.LabelFencingMode: string(test.mode)})
		if got := DeletesNode(node); got != test.want {
			t.Errorf("%s %s: got %t, want %t", test.kind, test.mode, got, test.want)
		}
	}
}

func TestTimeoutOf(t *testing.T) {
	t.Parallel()
	group := func(timeout string) *v1.NodeGroup {
		return &v1.NodeGroup{Spec: v1.NodeGroupSpec{NodeGroupSettings: v1.NodeGroupSettings{
			Fencing: &v1.Fencing{Watchdog: &v1.FencingWatchdogSettings{Timeout: timeout}},
		}}}
	}
	for _, test := range []struct {
		armed string
		group *v1.NodeGroup
		want  time.Duration
	}{
		{"", nil, time.Minute},
		{"", group("30s"), 30 * time.Second},
		{"10m0s", group("30s"), 10 * time.Minute}, // the group was changed, the agent not started anew yet
		{"30s", group("10m"), 10 * time.Minute},
		{"30s", nil, 30 * time.Second},
	} {
		node := fenced("a", nil)
		node.Annotations[api.AnnotationFencingTimeout] = test.armed
		if got := TimeoutOf(node, test.group); got != test.want {
			t.Errorf("%q: got %s, want %s", test.armed, got, test.want)
		}
	}
}
