package emulator_test

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	. "commander/agents/dvp/emulator/emulatortest"
)

type VMBDA = *v1alpha2.VirtualMachineBlockDeviceAttachment

func awaitAttachment(d *DVP, a VMBDA, phase v1alpha2.AttachmentPhase, why string) VMBDA {
	return Await(d, a, string(phase)+" "+why, func(a VMBDA) bool {
		return a.Status.Phase == phase && reason(a.Status.Conditions, v1alpha2.AttachmentAttached) == why
	})
}

func TestAttachAndDetach(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Knob(emulator.AnnotationDelays, "detach=500ms")
	vm, vd := d.Run("a"), d.Disk("data", Immediate, "1Gi")
	d.Make(vd)
	a := d.Attachment("data", "a", "data")
	d.Make(a)
	awaitAttachment(d, a, v1alpha2.AttachmentPhaseAttached, "True Attached")
	Await(d, vm, "the device in its list", func(vm VM) bool {
		return slices.ContainsFunc(vm.Status.BlockDeviceRefs, func(ref v1alpha2.BlockDeviceStatusRef) bool {
			return ref.Name == "data" && ref.Hotplugged && ref.Attached && ref.AttachmentName == "data" && ref.Target == "sdb"
		})
	})
	Await(d, vd, "in use", func(vd VD) bool {
		return slices.Equal(vd.Status.AttachedToVirtualMachines, []v1alpha2.AttachedTo{{Name: "a", Mounted: true}})
	})
	if err := d.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	Await(d, a, "waiting for the unplugging", func(a VMBDA) bool {
		return a.Status.Phase == v1alpha2.AttachmentPhaseTerminating && reason(a.Status.Conditions, v1alpha2.AttachmentTerminating) == "True DetachPending"
	})
	d.AwaitGone(a)
	if err := d.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); err != nil || len(vm.Status.BlockDeviceRefs) != 1 {
		t.Errorf("got devices %v, %v, want its own alone", vm.Status.BlockDeviceRefs, err)
	}
}

func TestAttachmentWaitsForItsMachine(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Make(d.Disk("data", Immediate, "1Gi"))
	d.Make(d.Disk("a", Immediate, "1Gi"))
	a := d.Attachment("data", "a", "data")
	d.Make(a)
	awaitAttachment(d, a, v1alpha2.AttachmentPhasePending, "False NotAttached") // no machine
	vm := d.Machine("a", "a")
	vm.Spec.RunPolicy = v1alpha2.Manual
	d.Make(vm)
	Await(d, a, "a stopped machine", func(a VMBDA) bool {
		return a.Status.Phase == v1alpha2.AttachmentPhasePending && reason(a.Status.Conditions, v1alpha2.AttachmentMachineReady) == "False NotAttached"
	})
	operate := func(name string, kind v1alpha2.OperationType) {
		d.Make(&v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: "a"}})
	}
	AwaitPhase(d, vm, v1alpha2.MachineStopped)
	operate("start", v1alpha2.OperationStart)
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
	awaitAttachment(d, a, v1alpha2.AttachmentPhaseAttached, "True Attached")
	Await(d, &v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: "start"}}, "done", func(op *v1alpha2.VirtualMachineOperation) bool { return op.Status.Phase.Finished() })
	operate("stop", v1alpha2.OperationStop)
	awaitAttachment(d, a, v1alpha2.AttachmentPhasePending, "False NotAttached")
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(vm)
	if err := d.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(a) // at once, for there is nothing to unplug from
}

func TestFailedAttachments(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Run("a")
	conflict := d.Attachment("conflict", "a", "a")
	d.Make(conflict)
	awaitAttachment(d, conflict, v1alpha2.AttachmentPhaseFailed, "False Conflict")
	pinned := d.Disk("pinned", Immediate, "1Gi")
	pinned.Annotations = map[string]string{emulator.AnnotationFaults: emulator.FaultNotOnNode}
	d.Make(pinned)
	a := d.Attachment("pinned", "a", "pinned")
	d.Make(a)
	awaitAttachment(d, a, v1alpha2.AttachmentPhaseFailed, "False DeviceNotAvailableOnNode")
}

func TestStuckAttachment(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	d.Make(d.Disk("data", Immediate, "1Gi"))
	a := d.Attachment("data", "a", "data")
	a.Annotations = map[string]string{emulator.AnnotationFaults: emulator.FaultStuckAttaching}
	d.Make(a)
	awaitAttachment(d, a, v1alpha2.AttachmentPhaseInProgress, "False AttachmentRequestSent")
	d.Change(a, func(o client.Object) {
		o.SetAnnotations(map[string]string{emulator.AnnotationFaults: emulator.FaultStuckDetaching})
	})
	awaitAttachment(d, a, v1alpha2.AttachmentPhaseAttached, "True Attached")
	if err := d.Delete(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	Await(d, a, "stuck", func(a VMBDA) bool { return a.Status.Phase == v1alpha2.AttachmentPhaseTerminating })
	if err := d.Delete(t.Context(), vm); err != nil { // which ends it
		t.Fatal(err)
	}
	d.AwaitGone(a)
}
