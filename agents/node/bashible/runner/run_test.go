package runner_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/node/api"
	"commander/agents/node/api/apitest"
	"commander/agents/node/api/v1alpha2"
)

const count = `echo ran >>"$TEST_DIR/count"` + "\n"

func (m *machine) count() int { return strings.Count(m.read("count"), "ran") }

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "idle")
	m.publish("one", map[string]string{"010_count.sh": count})
	m.settled("one")
	m.runs(0)
	if m.count() != 0 || m.node().Annotations[api.AnnotationChecksum] != "one" || strings.TrimSpace(m.read("state/uptime")) != "100.00" {
		t.Errorf("steps ran %d times, annotations %v, uptime %q: want none, the checksum and the present", m.count(), m.node().Annotations, m.read("state/uptime"))
	}
	// After the machine started anew all runs again, though the configuration is the same.
	m.put("uptime", "20.00 1.00\n")
	m.annotate(`{"` + api.UpdateApproved + `":""}`)
	m.runs(0)
	if m.count() != 1 || strings.TrimSpace(m.read("state/uptime")) != "20.00" || strings.TrimSpace(m.read("state/configuration_checksum")) != "one" {
		t.Errorf("after a reboot steps ran %d times, want once", m.count())
	}
	m.put("uptime", "30.00 1.00\n")
	m.runs(0)
	if m.count() != 1 {
		t.Error("it ran again without a reason")
	}
	// A person asks for it; the wish is taken once.
	m.annotate(`{"` + api.UpdateReboot + `":""}`)
	m.set("NodeGroupBundle", map[string]string{"010_count.sh": count + "bb-flag? reboot && bb-flag-unset reboot\n"})
	m.runs(0)
	m.put("uptime", "40.00 1.00\n")
	m.runs(0)
	if m.count() != 2 {
		t.Errorf("steps ran %d times, want a second time for the wish of a person", m.count())
	}
	m.expectAnnotations(api.AnnotationChecksum, api.UpdateApproved)
}

func TestOneRunAtATime(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "locked")
	m.publish("one", nil)
	m.settled("one")
	lock, err := os.OpenFile(m.path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	m.must(err)
	m.must(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	if o := m.run(); o.code != 1 || !strings.Contains(o.said, "another run of bashible is under way") {
		t.Errorf("got %d %q, want 1 and the reason", o.code, o.said)
	}
	m.must(lock.Close())
	m.runs(0)
}

func TestSelfUpdate(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "updated")
	m.settled("one")
	m.annotate(`{"` + api.UpdateApproved + `":""}`)
	m.set("NodeGroupBundle", map[string]string{"010_count.sh": count})
	for _, bad := range []string{"", "<html>oops</html>\n", "#!/bin/bash\n", "#!/usr/bin/perl\nprint 1\n"} {
		m.set("Bashible", map[string]string{"bashible.sh": bad})
		if o := m.run("--max-retries=1"); o.code != 1 || m.read("state/bashible.sh") != script("one") {
			t.Errorf("%q: ended with %d, the script is %q: want 1 and the old one", bad, o.code, m.read("state/bashible.sh"))
		}
	}
	// The new script runs, but its steps fail: the old one stays.
	m.publish("two", map[string]string{"010_count.sh": count, "020_fail.sh": "false\n"})
	if o := m.run("--max-retries=2"); o.code != 1 || m.read("state/bashible.sh") != script("one") {
		t.Errorf("ended with %d: want 1 and the old script:\n%s", o.code, o.said)
	}
	m.set("NodeGroupBundle", map[string]string{"010_count.sh": count})
	m.runs(0)
	if m.read("state/bashible.sh") != script("two") || m.read("state/bashible-new.sh") != "" {
		t.Errorf("the script is %q, want the new one in its place", m.read("state/bashible.sh"))
	}
	if m.count() != 2 || m.node().Annotations[api.AnnotationChecksum] != "two" {
		t.Errorf("steps ran %d times, annotations %v: want twice and the new checksum", m.count(), m.node().Annotations)
	}
}

func TestFirstRun(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "fresh")
	m.must(m.client.Create(t.Context(), &v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: "fresh"}}))
	m.put("state/first_run", "")
	m.put("state/bashible.sh", script("one"))
	m.publish("one", map[string]string{
		"001_wait.sh": "bb-wait-for-approval\n", "010_count.sh": count + `[[ "$FIRST_BASHIBLE_RUN" == yes ]]` + "\n",
		"090_disturb.sh": "bb-deckhouse-get-disruptive-update-approval\n",
	})
	m.runs(0)
	n := m.node()
	if n.Labels[api.LabelFirstRunFinished] != "true" || n.Annotations[api.AnnotationChecksum] != "one" || m.count() != 1 {
		t.Errorf("labels %v, annotations %v, ran %d times: want that the first run is told", n.Labels, n.Annotations, m.count())
	}
	m.expectAnnotations(api.AnnotationChecksum)
	if _, err := os.Stat(m.path("state/first_run")); err == nil {
		t.Error("the next run would be a first one again")
	}
	instance := new(v1alpha2.Instance)
	m.must(m.client.Get(t.Context(), client.ObjectKey{Name: "fresh"}, instance))
	if c := instance.Status.Conditions; len(c) != 1 || c[0].Type != api.ConditionBashibleReady || c[0].Reason != api.ReasonStepsCompleted {
		t.Errorf("conditions are %v, want only that it is ready", c)
	}
	// The taint that waits for it came back with an old object: it is told again.
	n.Spec.Taints = []corev1.Taint{{Key: api.TaintUninitialized, Effect: corev1.TaintEffectNoSchedule}}
	delete(n.Labels, api.LabelFirstRunFinished)
	m.must(m.client.Update(t.Context(), n))
	m.put("uptime", "200.00 1.00\n")
	m.runs(0)
	if m.node().Labels[api.LabelFirstRunFinished] != "true" {
		t.Error("a node with the taint did not tell again")
	}
}

func TestFailingStep(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "failing")
	m.must(m.client.Create(t.Context(), &v1alpha2.Instance{ObjectMeta: metav1.ObjectMeta{Name: "failing"}}))
	m.settled("old")
	m.publish("new", map[string]string{
		"010_never.sh": count + "echo the disk is full >&2\ncat /no/such/file | true\n",
		"020_after.sh": `touch "$TEST_DIR/after"`,
	})
	o := m.runs(1, "--max-retries=4")
	if m.count() != 4 {
		t.Errorf("tried %d times, want 4:\n%s", m.count(), o.said)
	}
	if _, err := os.Stat(m.path("after")); err == nil {
		t.Error("the next step ran")
	}
	if trace := m.read("state/step.debug.log"); !strings.Contains(trace, "+ cat /no/such/file") {
		t.Errorf("the fourth try was not traced: %q", trace)
	}
	if log := m.read("state/step.log"); !strings.Contains(log, "the disk is full") || strings.Contains(log, "+ cat") {
		t.Errorf("the log of the step is %q, want what it said and no trace", log)
	}
	if m.read("state/configuration_checksum") != "" || m.node().Annotations[api.AnnotationChecksum] != "" {
		t.Error("a configuration that failed is recorded")
	}
	apitest.Eventually(t, "events tell of it", func(ctx context.Context) bool {
		events := new(eventsv1.EventList)
		m.must(m.client.List(ctx, events, client.InNamespace("default")))
		failed := 0
		for _, e := range events.Items {
			if e.Regarding.Name != "failing" || e.Reason != "BashibleStepFailed" {
				continue
			}
			failed++
			if string(e.Regarding.UID) != "failing" || e.ReportingController != "bashible" || e.Action != "BashibleStepExecution" || e.Type != "Warning" ||
				!strings.Contains(e.Note, "the disk is full") || len(e.Note) > 500 {
				t.Errorf("got event %+v", e)
			}
		}
		return failed == 4
	})
	instance := new(v1alpha2.Instance)
	m.must(m.client.Get(t.Context(), client.ObjectKey{Name: "failing"}, instance))
	if c := instance.Status.Conditions; len(c) != 1 || c[0].Status != metav1.ConditionFalse || c[0].Reason != api.ReasonStepsFailed {
		t.Errorf("conditions are %v, want that steps failed", c)
	}
}
