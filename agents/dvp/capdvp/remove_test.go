package capdvp

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/emulatortest"
)

// A machine takes its own with it, and leaves the volumes of others.
func TestMachineIsRemoved(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	cluster := b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	volume, old := b.dvp.Disk("pvc-1", emulatortest.Immediate, "1Gi"), b.dvp.Disk("m-old", emulatortest.Immediate, "1Gi")
	volume.Labels = map[string]string{cloud.LabelClusterUUID: uuid}
	old.Labels = map[string]string{cloud.LabelClusterUUID: uuid, cloud.LabelHostname: "m"} // of a version without owners
	b.dvp.Make(volume)
	b.dvp.Make(old)
	attachment := b.dvp.Attachment("vmbda-pvc-1-m", "m", "pvc-1")
	attachment.Labels = map[string]string{cloud.LabelClusterUUID: uuid}
	b.dvp.Make(attachment)
	emulatortest.Await(b.dvp, attachment, "attached", func(a *cloud.Attachment) bool { return a.Status.Phase == v1alpha2.AttachmentPhaseAttached })

	machine := capiObject("Machine")
	machine.SetNamespace(b.namespace)
	machine.SetName("m")
	b.delete(machine) // and the Cluster too: nobody is left whom it could ask
	b.delete(cluster)
	b.delete(dm)
	b.awaitGone(dm)
	for _, o := range []client.Object{b.vm("m"), b.disk("m-boot"), old, attachment, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.dvp.Namespace, Name: "cloud-init-m"}}} {
		b.dvp.AwaitGone(o)
	}
	b.there(volume)
	if !volume.DeletionTimestamp.IsZero() {
		t.Error("the volume of others is being removed")
	}
}

func TestNothingToRemove(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	dm := b.machine("m", "", nil)
	b.awaitReason(dm, v1alpha1.WaitingForBootstrapScript, "")
	b.delete(dm)
	b.awaitGone(dm)
}

func TestPausedMachineStays(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	cluster := b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.patch(cluster, `{"spec":{"paused":true}}`)
	b.await(dm, "paused", func(dm *v1alpha1.DeckhouseMachine) bool {
		return condition(dm, v1alpha1.ConditionPaused).Status == metav1.ConditionTrue
	})
	b.delete(dm)
	b.await(dm, "being removed", func(dm *v1alpha1.DeckhouseMachine) bool { return !dm.DeletionTimestamp.IsZero() })
	waiting := b.machine("waiting", "script", nil)
	b.await(waiting, "paused", func(dm *v1alpha1.DeckhouseMachine) bool {
		return condition(dm, v1alpha1.ConditionPaused).Status == metav1.ConditionTrue && len(dm.Finalizers) == 0
	})
	vm := b.vm("m")
	b.there(vm)
	if !vm.DeletionTimestamp.IsZero() {
		t.Error("a paused machine is being removed")
	}
	b.patch(cluster, `{"spec":{"paused":null}}`)
	b.awaitGone(dm)
	b.awaitReason(waiting, v1alpha1.VMRunning, "")
}

// What DVP does not get rid of is noted, and holds up nobody.
func TestStuckRemoval(t *testing.T) {
	t.Parallel()
	b := newBed(t, func(p *Provider) { p.Patience = time.Second })
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.patch(dm, `{"metadata":{"finalizers":["`+v1alpha1.FinalizerMachine+`","test/held"]}}`) // to see it to the end
	b.dvp.Knob(emulator.AnnotationFaults, emulator.FaultStuckTerminating)
	b.delete(dm)
	b.await(dm, "let go", func(dm *v1alpha1.DeckhouseMachine) bool { return len(dm.Finalizers) == 1 })
	if dm.Annotations["dvp.deckhouse.io/orphaned-vm"] != "m" {
		t.Errorf("got annotations %v, want the machine", dm.Annotations)
	}
	if _, err := time.Parse(time.RFC3339, dm.Annotations["dvp.deckhouse.io/orphaned-vm-timestamp"]); err != nil {
		t.Error(err)
	}
	if got := dm.Annotations["dvp.deckhouse.io/orphaned-disk-1b0e3bab7b5e603b"]; got != "m-boot" { // as sha1sum prints it
		t.Errorf("got annotations %v, want the disk", dm.Annotations)
	}
	b.dvp.Eventually("an event", func(ctx context.Context) bool {
		var all eventsv1.EventList
		if err := b.List(ctx, &all, client.InNamespace(b.namespace)); err != nil {
			return false
		}
		for _, e := range all.Items {
			if e.Reason == "LeftBehind" && strings.Contains(e.Note, "left behind in DVP") {
				return true
			}
		}
		return false
	})
	b.patch(dm, `{"metadata":{"finalizers":null}}`)
	b.awaitGone(dm)
}
