package capdvp

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator/emulatortest"
	"commander/internal/clock"
)

// A removal may be begun, cut off after any number of its steps and begun anew by another process: it
// ends the same.
func TestRemovalIsBegunAnew(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	volume := b.dvp.Disk("pvc-1", emulatortest.Immediate, "1Gi")
	volume.Labels = map[string]string{cloud.LabelClusterUUID: uuid}
	b.dvp.Make(volume)
	attachment := b.dvp.Attachment("vmbda-pvc-1-m", "m", "pvc-1")
	attachment.Labels = map[string]string{cloud.LabelClusterUUID: uuid}
	b.dvp.Make(attachment)
	b.patch(dm, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}}`)
	b.await(dm, "paused", func(dm *v1alpha1.DeckhouseMachine) bool {
		return condition(dm, v1alpha1.ConditionPaused).Status == metav1.ConditionTrue
	})
	b.delete(dm)

	// The steps of a process that is killed after each, and again, with the attachment lost to somebody
	// else in between.
	r := machines{&Provider{Client: b.provider.Client, Cloud: b.provider.Cloud, Clock: clock.System{}, Events: b.provider.Events, Poll: b.provider.Poll, Patience: b.provider.Patience}}
	if done, err := r.detachAll(t.Context(), dm); err != nil || !done {
		t.Fatal(done, err)
	}
	b.dvp.AwaitGone(attachment)
	for range 2 {
		if done, err := r.detachAll(t.Context(), dm); err != nil || !done {
			t.Errorf("detaching what is detached: got %v, %v", done, err)
		}
		if _, err := r.removeMachine(t.Context(), dm); err != nil {
			t.Errorf("removing the machine again: %v", err)
		}
		if _, err := r.removeDisks(t.Context(), dm); err != nil {
			t.Errorf("removing its disks again: %v", err)
		}
		if _, err := r.removeSecret(t.Context(), dm); err != nil {
			t.Errorf("removing its Secret again: %v", err)
		}
	}
	b.patch(dm, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)
	b.awaitGone(dm)
	for _, o := range []client.Object{b.vm("m"), b.disk("m-boot"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.dvp.Namespace, Name: "cloud-init-m"}}} {
		b.dvp.AwaitGone(o)
	}
	b.there(volume)
}

// A machine that runs costs little: nothing is written, and it is read once in a while.
func TestSteadyMachineIsQuiet(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.await(dm, "all is told of its spec as it is", func(dm *v1alpha1.DeckhouseMachine) bool {
		for _, c := range dm.Status.Conditions {
			if c.ObservedGeneration != dm.Generation {
				return false
			}
		}
		return condition(dm, v1alpha1.ConditionInPlace).Reason == v1alpha1.UpToDate
	})
	writes, version := b.writes.Load(), dm.ResourceVersion
	for _, label := range []string{"a", "b", "c"} { // each makes the controller look anew
		reads := b.reads.Load()
		b.patch(dm, `{"metadata":{"labels":{"look":"`+label+`"}}}`)
		b.dvp.Eventually("it is looked at", func(context.Context) bool { return b.reads.Load() > reads })
		version = dm.ResourceVersion
	}
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(dm), dm); err != nil || dm.ResourceVersion != version {
		t.Errorf("got version %s, %v, want %s: nothing changed", dm.ResourceVersion, err, version)
	}
	if got := b.writes.Load(); got != writes {
		t.Errorf("got %d writes to DVP about a machine that runs, want none", got-writes)
	}
}

// A status as it was before Cluster API's contract of today, with conditions that have no reason, is
// read and brought to what is written now.
func TestStatusOfOldIsRead(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.patch(dm, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}}`)
	b.await(dm, "paused", func(dm *v1alpha1.DeckhouseMachine) bool {
		return condition(dm, v1alpha1.ConditionPaused).Status == metav1.ConditionTrue
	})
	old := dm.DeepCopy()
	old.Status = v1alpha1.DeckhouseMachineStatus{Ready: true, Conditions: []metav1.Condition{
		{Type: "BootstrapExecSucceeded", Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: metav1.Now()},
		{Type: v1alpha1.ConditionVM, Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: metav1.Now()},
	}}
	if err := b.Status().Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	b.patch(dm, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":null}}}`)
	b.await(dm, "as it is written now", func(dm *v1alpha1.DeckhouseMachine) bool {
		return dm.Status.Initialization != nil && *dm.Status.Initialization.Provisioned && because(dm, v1alpha1.VMRunning, "") &&
			condition(dm, v1alpha1.ConditionReady).Status == metav1.ConditionTrue && condition(dm, v1alpha1.ConditionInPlace).Reason == v1alpha1.UpToDate
	})
}
