package runner_test

import (
	"context"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/api/v1alpha2"
)

func (m *machine) has(annotation string) bool {
	_, is := m.node().Annotations[annotation]
	return is
}

func (m *machine) condition(ctx context.Context, kind string) string {
	instance := new(v1alpha2.Instance)
	m.must(m.client.Get(ctx, client.ObjectKey{Name: m.name}, instance))
	for _, c := range instance.Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

// The whole protocol; the test plays node-controller.
func TestUpdateWithADisruption(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "asking")
	m.must(m.client.Create(t.Context(), &v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: "asking"}}))
	m.settled("old")
	m.annotate(`{"` + api.AnnotationChecksum + `":"old"}`)
	m.publish("new", map[string]string{
		"000_early.sh":   `touch "$TEST_DIR/early"`,
		"001_wait.sh":    "bb-wait-for-approval\n",
		"010_count.sh":   count,
		"050_disturb.sh": "bb-deckhouse-get-disruptive-update-approval\n" + `touch "$TEST_DIR/disturbed"` + "\nbb-deckhouse-get-disruptive-update-approval\nbb-flag-set reboot\n",
		"099_reboot.sh":  "bb-reboot-if-needed\n",
	})
	m.must(os.Chmod(m.path("state/bashible.sh"), 0o700))
	wait, kill := m.start(m.path("state/bashible.sh"))
	t.Cleanup(kill)
	apitest.Eventually(t, "the node asks", func(context.Context) bool { return m.has(api.UpdateWaiting) })
	m.expectAnnotations(api.UpdateWaiting)
	if _, err := os.Stat(m.path("early")); err != nil || m.count() != 0 {
		t.Errorf("ran %d steps, the one before the question %v: want that one only", m.count(), err == nil)
	}
	apitest.Eventually(t, "the condition says so", func(ctx context.Context) bool {
		return m.condition(ctx, api.ConditionWaitingApproval) == "True "+api.ReasonUpdateApprovalRequired
	})
	m.annotate(`{"` + api.UpdateApproved + `":"","` + api.UpdateWaiting + `":null}`)
	apitest.Eventually(t, "the node asks for a disruption", func(context.Context) bool { return m.has(api.UpdateDisruptionRequired) })
	if _, err := os.Stat(m.path("disturbed")); err == nil || m.count() != 1 {
		t.Errorf("ran %d steps, disturbed %v: want one, and not disturbed", m.count(), err == nil)
	}
	apitest.Eventually(t, "the condition says so", func(ctx context.Context) bool {
		return m.condition(ctx, api.ConditionWaitingDisruptionApproval) == "True "+api.ReasonDisruptionApprovalRequired &&
			m.condition(ctx, api.ConditionWaitingApproval) == "False "+api.ReasonUpdateApprovalNotRequired
	})
	m.annotate(`{"` + api.UpdateDisruptionApproved + `":"","` + api.UpdateDisruptionRequired + `":null}`)
	if o := wait(); o.code != 0 {
		t.Fatalf("ended with %d:\n%s", o.code, o.said)
	}
	m.expectAnnotations(api.UpdateApproved, api.UpdateDisruptionApproved, api.AnnotationChecksum)
	if got := m.node().Annotations[api.AnnotationChecksum]; got != "new" {
		t.Errorf("the node tells checksum %q, want new", got)
	}
	// It started anew: kubelet ended first, and the node was marked.
	if got := m.read("systemctl.log"); got != "stop kubelet.service\nreboot\n" {
		t.Errorf("systemctl was called with %q", got)
	}
	ready := false
	for _, c := range m.node().Status.Conditions {
		ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionFalse
	}
	if !ready {
		t.Errorf("conditions of the node are %v, want it not ready", m.node().Status.Conditions)
	}
	if _, err := os.Stat(m.path("state/flags/reboot")); err == nil {
		t.Error("it would start anew for ever")
	}
}

func TestWaitingEndsQuietly(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "waiting")
	m.settled("old")
	m.publish("new", map[string]string{"001_wait.sh": "bb-wait-for-approval\n", "010_count.sh": count})
	if o := m.runs(75, "--max-retries=2"); strings.Contains(o.said, "step failed") || m.count() != 0 {
		t.Errorf("waiting counts as a failure:\n%s", o.said)
	}
	m.expectAnnotations(api.UpdateWaiting)
	if m.read("state/bashible.sh") != script("old") {
		t.Error("a script whose steps did not run took the place of the old one")
	}
}

// Somebody changes the node all the time; the node's own question must not undo that.
func TestQuestionAmongOtherChanges(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "busy")
	m.settled("old")
	m.publish("new", map[string]string{"001_wait.sh": "bb-wait-for-approval\n"})
	ctx, cancel := context.WithCancel(t.Context())
	changed := make(chan int)
	go func() {
		changes := 0
		for ; ctx.Err() == nil; changes++ {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.name}}
			_ = m.client.Patch(ctx, n, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"n":"x`+strings.Repeat("x", changes%50)+`"}}}`)))
		}
		changed <- changes
	}()
	m.runs(75, "--max-retries=3")
	cancel()
	if <-changed == 0 {
		t.Fatal("nobody changed the node")
	}
	if !m.has(api.UpdateWaiting) {
		t.Errorf("the node does not ask; annotations are %v", m.node().Annotations)
	}
}

func TestNodeThatIsReplaced(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "replaced")
	m.settled("old")
	m.annotate(`{"` + api.UpdateApproved + `":""}`)
	m.publish("new", map[string]string{"050_disturb.sh": "bb-flag-set rolling-update\nbb-deckhouse-get-disruptive-update-approval\n" + count})
	m.runs(75, "--max-retries=2")
	m.expectAnnotations(api.UpdateApproved, api.UpdateRolling)
	if m.count() != 0 {
		t.Error("the node was disturbed")
	}
}
