package emulator_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	. "commander/agents/dvp/emulator/emulatortest"
)

type VMOP = *v1alpha2.VirtualMachineOperation

// cordon closes the node of a machine, and opens it again at the end of the test.
func cordon(t *testing.T, d *DVP, name string) {
	t.Helper()
	closed := func(is bool) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"unschedulable":`+map[bool]string{true: "true", false: "null"}[is]+`}}`))
		if err := d.Patch(context.WithoutCancel(t.Context()), node, patch); err != nil {
			t.Fatal(err)
		}
	}
	closed(true)
	t.Cleanup(func() { closed(false) })
}

func evacuations(t *testing.T, d *DVP) []v1alpha2.VirtualMachineOperation {
	t.Helper()
	var list v1alpha2.VirtualMachineOperationList
	if err := d.List(t.Context(), &list, client.InNamespace(d.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, op := range list.Items {
		if !strings.HasPrefix(op.Name, "evacuation-") || op.Spec.Type != v1alpha2.OperationEvict {
			t.Errorf("got operation %s of type %s", op.Name, op.Spec.Type)
		}
	}
	return list.Items
}

// Nodes and the default class belong to the whole DVP, so the tests that change them run one after
// the other, before those that run side by side.
func TestAlone(t *testing.T) {
	Start(t) // held for all of them
	t.Run("DefaultClass", testDefaultClass)
	t.Run("Evacuation", testEvacuation)
	t.Run("FailedEvacuationIsRetried", testFailedEvacuationIsRetried)
	t.Run("DeletedEvacuationIsCancelled", testDeletedEvacuationIsCancelled)
}

func testEvacuation(t *testing.T) {
	d := Start(t)
	vm := d.Run("a")
	node, address := vm.Status.NodeName, vm.Status.IPAddress
	cordon(t, d, node)
	Await(d, vm, "moved", func(vm VM) bool { return vm.Status.Phase == v1alpha2.MachineRunning && vm.Status.NodeName != node })
	if !strings.HasSuffix(phases(vm), "Running Migrating Running") || vm.Status.IPAddress != address || vm.Status.MigrationState.Result != v1alpha2.MigrationSucceeded {
		t.Errorf("got phases %s, address %s, migration %+v", phases(vm), vm.Status.IPAddress, vm.Status.MigrationState)
	}
	d.Eventually("a completed evacuation", func(context.Context) bool {
		all := evacuations(t, d)
		return len(all) == 1 && all[0].Status.Phase == v1alpha2.OperationPhaseCompleted && len(all[0].Finalizers) == 0
	})
}

func testFailedEvacuationIsRetried(t *testing.T) {
	d := Start(t)
	d.Knob(emulator.AnnotationFaults, emulator.FaultMigrationFailed)
	vm := d.Run("a")
	node := vm.Status.NodeName
	cordon(t, d, node)
	d.Eventually("two failed evacuations", func(context.Context) bool {
		failed := 0
		for _, op := range evacuations(t, d) {
			if op.Status.Phase == v1alpha2.OperationPhaseFailed {
				failed++
			}
		}
		return failed >= 2
	})
	d.Knob(emulator.AnnotationFaults, "")
	Await(d, vm, "moved at last", func(vm VM) bool { return vm.Status.Phase == v1alpha2.MachineRunning && vm.Status.NodeName != node })
}

func testDeletedEvacuationIsCancelled(t *testing.T) {
	d := Start(t)
	d.Knob(emulator.AnnotationDelays, "migrate=1h")
	vm := d.Run("a")
	node := vm.Status.NodeName
	cordon(t, d, node)
	AwaitPhase(d, vm, v1alpha2.MachineMigrating)
	first := evacuations(t, d)[0]
	if err := d.Delete(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(&first)
	Await(d, vm, "a cancelled move", func(vm VM) bool {
		return vm.Status.NodeName == node && vm.Status.MigrationState.Target.Pod != ""
	})
	// The node is still being emptied, so another one follows.
	d.Eventually("another evacuation", func(context.Context) bool {
		all := evacuations(t, d)
		return len(all) > 0 && all[0].UID != first.UID
	})
}
