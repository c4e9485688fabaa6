package capdvp

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator/emulatortest"
)

// inPlace waits for a reason of the condition InPlaceUpdate of the spec as it is now.
func (b *bed) inPlace(dm *v1alpha1.DeckhouseMachine, reason, words string) {
	b.t.Helper()
	generation := dm.Generation
	b.await(dm, reason+" "+words, func(dm *v1alpha1.DeckhouseMachine) bool {
		c := condition(dm, v1alpha1.ConditionInPlace)
		return c.ObservedGeneration >= generation && c.Reason == reason && strings.Contains(c.Message, words)
	})
}

// restarts counts the operations on a machine.
func (b *bed) restarts(name string) (n int) {
	b.t.Helper()
	var all v1alpha2.VirtualMachineOperationList
	if err := b.dvp.List(b.t.Context(), &all, client.InNamespace(b.dvp.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	for _, op := range all.Items {
		if op.Spec.VirtualMachineName == name {
			n++
		}
	}
	return n
}

// A machine takes changes over in its place: some at once, some by one restart, and some not.
func TestMachineIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	b.inPlace(dm, v1alpha1.UpToDate, "")
	vm, boot := b.vm("m"), b.disk("m-boot")
	b.there(vm)
	started := vm.Status.Stats.LastStartTime

	b.patch(dm, `{"spec":{"runPolicy":"AlwaysOn","liveMigrationPolicy":"AlwaysForced","rootDiskSize":"3Gi","additionalDisks":[{"size":"1Gi","storageClass":"immediate"}]}}`)
	b.inPlace(dm, v1alpha1.UpToDate, "")
	b.there(vm)
	if vm.Spec.RunPolicy != v1alpha2.AlwaysOn || vm.Spec.LiveMigrationPolicy != v1alpha2.AlwaysForced || len(vm.Spec.BlockDeviceRefs) != 2 || vm.Spec.BlockDeviceRefs[1].Name != "m-additional-disk-0" {
		t.Errorf("got %+v", vm.Spec)
	}
	emulatortest.Await(b.dvp, boot, "grown", func(d *v1alpha2.VirtualDisk) bool { return d.Status.Capacity == "3Gi" })
	if !vm.Status.Stats.LastStartTime.Equal(started) || b.restarts("m") != 0 {
		t.Error("the machine was restarted for what DVP does at once")
	}

	b.patch(dm, `{"spec":{"cpu":{"cores":2},"memory":"2Gi"}}`)
	b.inPlace(dm, v1alpha1.UpToDate, "")
	b.there(vm)
	if vm.Spec.CPU.Cores != 2 || vm.Spec.Memory.Size.String() != "2Gi" || b.restarts("m") != 1 || vm.Status.Phase != v1alpha2.MachineRunning || len(vm.Status.RestartAwaitingChanges) != 0 {
		t.Errorf("got %+v, %+v after %d restarts, want one", vm.Spec, vm.Status, b.restarts("m"))
	}
	b.patch(dm, `{"spec":{"cpu":{"cores":3}}}`)
	b.inPlace(dm, v1alpha1.UpToDate, "")
	if got := b.restarts("m"); got != 2 {
		t.Errorf("got %d restarts, want a second one of its own name", got)
	}

	// What somebody changes in DVP is no reason to restart a machine.
	b.dvp.Change(vm, func(o client.Object) { o.(*v1alpha2.VirtualMachine).Spec.CPU.Cores = 1 })
	b.patch(dm, `{"metadata":{"labels":{"looked":"again"}}}`)
	b.patch(dm, `{"spec":{"bootloader":"BIOS"}}`)
	b.inPlace(dm, v1alpha1.NeedsReplacement, "bootloader")
	b.patch(dm, `{"spec":{"bootloader":"EFI","rootDiskSize":"2Gi","additionalDisks":[]}}`)
	b.inPlace(dm, v1alpha1.NeedsReplacement, "rootDiskSize that is smaller, number of additionalDisks that is smaller")
	if b.there(vm); vm.Spec.CPU.Cores != 1 || b.restarts("m") != 2 {
		t.Errorf("got %d cores after %d restarts, want what somebody set", vm.Spec.CPU.Cores, b.restarts("m"))
	}

	strict := &v1alpha2.VirtualMachineClass{
		ObjectMeta: metav1.ObjectMeta{Name: "strict-" + b.namespace},
		Spec:       v1alpha2.ClassSpec{CPU: v1alpha2.ClassCPU{Type: "Host"}, SizingPolicies: []v1alpha2.SizingPolicy{{Cores: v1alpha2.SizingCores{Min: 8, Max: 16}}}},
	}
	b.dvp.Make(strict)
	b.patch(dm, `{"spec":{"vmClassName":"`+strict.Name+`","rootDiskSize":"3Gi","additionalDisks":[{"size":"1Gi","storageClass":"immediate"}]}}`)
	b.inPlace(dm, v1alpha1.UpdateRefused, "sizing policy")
	if !because(dm, v1alpha1.VMRunning, "") {
		t.Error("a change that was refused says that the machine does not run")
	}
	b.patch(dm, `{"spec":{"cpu":{"cores":8}}}`)
	b.inPlace(dm, v1alpha1.UpToDate, "")
	b.delete(dm)
	b.awaitGone(dm)
	b.dvp.Eventually("the operations go with the machine", func(context.Context) bool { return b.restarts("m") == 0 })
}
