package capdvp

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/cloud"
	"commander/agents/dvp/emulator"
	"commander/agents/dvp/emulator/emulatortest"
)

func because(dm *v1alpha1.DeckhouseMachine, reason, words string) bool {
	c := condition(dm, v1alpha1.ConditionVM)
	return c.Reason == reason && strings.Contains(c.Message, words)
}

func TestMachineIsMade(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.machine("m", "script", func(dm *v1alpha1.DeckhouseMachine) {
		dm.Spec.AdditionalDisks = []v1alpha1.AdditionalDisk{{Size: resource.MustParse("1Gi"), StorageClass: emulatortest.Late}, {Size: resource.MustParse("1Gi"), StorageClass: emulatortest.Immediate}}
		dm.Spec.AdditionalVMLabels = map[string]string{"team": "a"}
	})
	b.awaitReason(dm, v1alpha1.VMRunning, "")
	vm, secret := b.vm("m"), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.dvp.Namespace, Name: "cloud-init-m"}}
	b.there(vm)
	b.there(secret)
	address := vm.Status.IPAddress
	want := []v1alpha1.Address{{Type: "Hostname", Address: "m"}, {Type: "InternalDNS", Address: "m"}, {Type: "InternalIP", Address: address}, {Type: "ExternalIP", Address: address}}
	if dm.Spec.ProviderID != "dvp://m" || !slices.Equal(dm.Status.Addresses, want) || address == "" || !dm.Status.Ready || !*dm.Status.Initialization.Provisioned {
		t.Errorf("got id %s, status %+v, want dvp://m with %v", dm.Spec.ProviderID, dm.Status, want)
	}
	if c := condition(dm, v1alpha1.ConditionReady); c.Status != metav1.ConditionTrue {
		t.Errorf("got condition Ready %+v", c)
	}
	for key, value := range map[string]string{cloud.LabelManagedBy: "deckhouse", cloud.LabelClusterUUID: uuid, cloud.LabelHostname: "m", "team": "a"} {
		if vm.Labels[key] != value {
			t.Errorf("got labels %v, want %s=%s", vm.Labels, key, value)
		}
	}
	if s := vm.Spec; s.Bootloader != v1alpha2.EFI || s.RunPolicy != v1alpha2.AlwaysOnUnlessStoppedManually || s.LiveMigrationPolicy != v1alpha2.PreferSafe || s.OSType != v1alpha2.Generic || !*s.EnableParavirtualization {
		t.Errorf("got %+v", s)
	}
	var devices []string
	for _, ref := range vm.Spec.BlockDeviceRefs {
		devices = append(devices, ref.Name)
	}
	if want := []string{"m-boot", "m-additional-disk-0", "m-additional-disk-1"}; !slices.Equal(devices, want) {
		t.Errorf("got devices %v, want %v", devices, want)
	}
	for _, name := range devices {
		disk := b.disk(name)
		b.there(disk)
		if len(disk.OwnerReferences) != 1 || disk.OwnerReferences[0].UID != vm.UID || disk.Labels[cloud.LabelHostname] != "m" || disk.Labels[cloud.LabelDisk] != name || disk.Labels[cloud.LabelClusterUUID] != uuid {
			t.Errorf("got disk %s with %v, %v, want the machine's", name, disk.OwnerReferences, disk.Labels)
		}
	}
	if secret.Type != "provisioning.virtualization.deckhouse.io/cloud-init" || string(secret.Data["userData"]) != "#cloud-config" || secret.OwnerReferences[0].UID != vm.UID {
		t.Errorf("got secret %+v", secret)
	}
	if secret.Immutable == nil || !*secret.Immutable {
		t.Error("the script of a machine that ran can still be changed")
	}

	// Its later life: other bootstrap data, another look, a move of the machine.
	script := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "script"}}
	b.patch(script, `{"stringData":{"value":"#cloud-config\n# another"}}`)
	reads, writes := b.reads.Load(), b.writes.Load()
	b.patch(dm, `{"metadata":{"annotations":{"look":"again"}}}`)
	b.dvp.Eventually("another look", func(context.Context) bool { return b.reads.Load() >= reads+2 }) // at the machine and its Secret
	if got := b.writes.Load(); got != writes {
		t.Errorf("got %d writes to DVP where all is there, want none", got-writes)
	}
	b.dvp.Knob(emulator.AnnotationDelays, "migrate=500ms")
	b.dvp.Make(&v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: "move"}, Spec: v1alpha2.OperationSpec{Type: v1alpha2.OperationEvict, VirtualMachineName: "m"}})
	emulatortest.AwaitPhase(b.dvp, vm, v1alpha2.MachineMigrating)
	b.patch(dm, `{"metadata":{"annotations":{"look":"while it moves"}}}`)
	emulatortest.AwaitPhase(b.dvp, vm, v1alpha2.MachineRunning)
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(dm), dm); err != nil || !dm.Status.Ready || dm.Spec.ProviderID != "dvp://m" || !slices.Equal(dm.Status.Addresses, want) {
		t.Errorf("got %+v, %v, want it unchanged by the move", dm.Status, err)
	}
	b.there(secret)
	if string(secret.Data["userData"]) != "#cloud-config" {
		t.Errorf("got %s, want the script that the machine started with", secret.Data["userData"])
	}
}

func TestControlPlaneMachine(t *testing.T) {
	t.Parallel()
	dm := &v1alpha1.DeckhouseMachine{Spec: v1alpha1.DeckhouseMachineSpec{MachineResources: v1alpha1.MachineResources{Bootloader: "BIOS", RunPolicy: "AlwaysOn"}}}
	if got := machineOf(dm, capiMachine{controlPlane: true}).Spec; got.LiveMigrationPolicy != v1alpha2.PreferForced || got.Bootloader != v1alpha2.BIOS || got.RunPolicy != v1alpha2.AlwaysOn {
		t.Errorf("got %+v", got)
	}
	dm.Spec.LiveMigrationPolicy = "AlwaysSafe"
	if got := machineOf(dm, capiMachine{controlPlane: true}).Spec.LiveMigrationPolicy; got != v1alpha2.AlwaysSafe {
		t.Errorf("got %s, want what was asked for", got)
	}
}

// A machine may run before DVP tells its address.
func TestNoEmptyAddress(t *testing.T) {
	t.Parallel()
	dm, vm := new(v1alpha1.DeckhouseMachine), &v1alpha2.VirtualMachine{Status: v1alpha2.VirtualMachineStatus{Phase: v1alpha2.MachineRunning}}
	if _, err := (machines{new(Provider)}).judge(t.Context(), dm, vm, capiMachine{}); err != nil {
		t.Fatal(err)
	}
	if !because(dm, v1alpha1.VMNotReady, "no address") || len(dm.Status.Addresses) > 0 || dm.Spec.ProviderID != "" || dm.Status.Initialization != nil {
		t.Errorf("got %+v, want it to wait", dm)
	}
}

func TestMachineWaits(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	cluster := b.capi("Cluster", "c", `{"spec":{}}`)
	dm := b.machine("m", "", nil)
	b.awaitReason(dm, v1alpha1.WaitingForInfrastructure, "")
	if !slices.Contains(dm.Finalizers, v1alpha1.FinalizerMachine) {
		t.Errorf("got finalizers %v before anything is made", dm.Finalizers)
	}
	b.patch(cluster, `{"status":{"initialization":{"infrastructureProvisioned":true}}}`)
	b.awaitReason(dm, v1alpha1.WaitingForBootstrapScript, "")
	machine := capiObject("Machine")
	machine.SetNamespace(b.namespace)
	machine.SetName("m")
	b.patch(machine, `{"spec":{"bootstrap":{"dataSecretName":"script"}}}`)
	b.awaitReason(dm, v1alpha1.VMError, "there is no Secret")
	b.script("script", "other")
	b.awaitReason(dm, v1alpha1.VMError, "no key value")
	if err := b.dvp.Get(t.Context(), client.ObjectKey{Namespace: b.dvp.Namespace, Name: "m"}, b.vm("m")); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want no machine yet", err)
	}
	b.patch(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: "script"}}, `{"stringData":{"value":"#cloud-config"}}`)
	b.awaitReason(dm, v1alpha1.VMRunning, "")
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	class := b.machine("class", "script", func(dm *v1alpha1.DeckhouseMachine) { dm.Spec.VMClassName = "of-" + b.namespace })
	image := b.machine("image", "script", func(dm *v1alpha1.DeckhouseMachine) {
		dm.Spec.BootDiskImageRef = v1alpha1.ImageRef{Kind: "VirtualImage", Name: "late"}
	})
	b.awaitReason(class, v1alpha1.VMError, class.Spec.VMClassName)
	b.awaitReason(image, v1alpha1.VMError, `VirtualImage "late"`)
	size := func(text string) *resource.Quantity { return new(resource.MustParse(text)) }
	b.dvp.Make(&v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: class.Spec.VMClassName}, Spec: v1alpha2.ClassSpec{
		CPU:            v1alpha2.ClassCPU{Type: "Host"},
		SizingPolicies: []v1alpha2.SizingPolicy{{Cores: v1alpha2.SizingCores{Min: 2, Max: 4}, Memory: &v1alpha2.SizingMemory{Min: size("1Gi"), Max: size("4Gi")}}},
	}})
	b.dvp.Make(&v1alpha2.VirtualImage{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Spec: v1alpha2.VirtualImageSpec{DataSource: v1alpha2.ImageDataSource{Type: "HTTP", HTTP: &v1alpha2.HTTPSource{URL: "http://127.0.0.1/a.qcow2"}}}})
	b.awaitReason(image, v1alpha1.VMRunning, "")
	b.awaitReason(class, v1alpha1.VMError, "sizing policy")
	b.dvp.Change(&v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: class.Spec.VMClassName}}, func(o client.Object) {
		o.(*v1alpha2.VirtualMachineClass).Spec.SizingPolicies[0].Cores.Min = 1
	})
	b.awaitReason(class, v1alpha1.VMRunning, "")
}

func TestQuotaIsToldAndRecovered(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.storage": resource.MustParse("1Gi")}}}
	b.dvp.Make(quota)
	emulatortest.Await(b.dvp, quota, "a judged quota", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	dm := b.machine("m", "script", nil)
	b.awaitReason(dm, v1alpha1.BootDiskProvisioningFailed, "exceeded quota")
	if dm.Status.FailureReason != "" {
		t.Errorf("got failure %s, want none that lasts", dm.Status.FailureReason)
	}
	b.dvp.Change(quota, func(o client.Object) {
		o.(*corev1.ResourceQuota).Spec.Hard["requests.storage"] = resource.MustParse("10Gi")
	})
	b.awaitReason(dm, v1alpha1.VMRunning, "")
}

func TestMachinesOfTheSameName(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	b.dvp.Run("foreign")
	dm := b.machine("foreign", "script", nil)
	b.awaitReason(dm, v1alpha1.VMError, "was not made for this machine")
	b.delete(dm)
	b.awaitGone(dm)
	b.there(b.vm("foreign"))

	// What a process made before it was killed is completed by the next one.
	half := b.vm("half")
	half.Labels = map[string]string{cloud.LabelHostname: "half", cloud.LabelClusterUUID: uuid}
	half.Spec = machineOf(b.sketch("half"), capiMachine{}).Spec
	b.dvp.Make(half)
	rest := b.machine("half", "script", nil)
	b.awaitReason(rest, v1alpha1.VMRunning, "")
	b.there(half)
	if half.Spec.BlockDeviceRefs[0].Name != "half-boot" {
		t.Errorf("got devices %v", half.Spec.BlockDeviceRefs)
	}
}

// sketch is a machine as it is stored, with its defaults.
func (b *bed) sketch(name string) *v1alpha1.DeckhouseMachine {
	return &v1alpha1.DeckhouseMachine{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DeckhouseMachineSpec{MachineResources: v1alpha1.MachineResources{
		VMClassName: emulatortest.Class, Memory: resource.MustParse("1Gi"), CPU: v1alpha1.CPU{Cores: 1, CPUFraction: "100%"}, Bootloader: "EFI", RunPolicy: "AlwaysOnUnlessStoppedManually",
	}}}
}

func TestStoppedAndDegraded(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	vm := b.vm("m")
	operate := func(name string, kind v1alpha2.OperationType, phase v1alpha2.MachinePhase) {
		b.dvp.Make(&v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: "m"}})
		emulatortest.AwaitPhase(b.dvp, vm, phase)
		b.patch(dm, `{"metadata":{"annotations":{"look":"`+name+`"}}}`)
	}
	operate("stop", v1alpha2.OperationStop, v1alpha2.MachineStopped)
	b.awaitReason(dm, v1alpha1.VMInStoppedState, "m-boot is Ready")
	if dm.Status.Ready {
		t.Error("a stopped machine is ready")
	}
	operate("start", v1alpha2.OperationStart, v1alpha2.MachineRunning)
	b.awaitReason(dm, v1alpha1.VMRunning, "")
	for name, node := range map[string]string{"before": "", "after": "n"} {
		other := b.machine(name, "script", nil)
		machine := capiObject("Machine")
		machine.SetNamespace(b.namespace)
		machine.SetName(name)
		if node != "" {
			b.patch(machine, `{"status":{"nodeRef":{"name":"n"}}}`)
		}
		b.awaitReason(other, v1alpha1.VMRunning, "")
		b.dvp.Change(b.vm(name), func(o client.Object) {
			o.SetAnnotations(map[string]string{emulator.AnnotationFaults: emulator.FaultDegraded})
		})
		emulatortest.AwaitPhase(b.dvp, b.vm(name), v1alpha2.MachineDegraded)
		b.patch(other, `{"metadata":{"annotations":{"look":"again"}}}`)
		b.awaitReason(other, v1alpha1.VMInFailedState, "Degraded")
		if got := other.Status.FailureReason != ""; got != (node == "") {
			t.Errorf("%s it has a node: got failure %q", name, other.Status.FailureReason)
		}
		if c := condition(other, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse {
			t.Errorf("got condition %+v, by which it can be replaced", c)
		}
		b.dvp.Change(b.vm(name), func(o client.Object) { o.SetAnnotations(nil) })
		b.awaitReason(other, v1alpha1.VMRunning, "")
		if other.Status.FailureReason != "" {
			t.Errorf("got failure %s, want it cleared", other.Status.FailureReason)
		}
	}
}

func TestLostMachineIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	vm := b.vm("m")
	if err := b.dvp.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	b.dvp.AwaitGone(vm)
	b.patch(dm, `{"metadata":{"annotations":{"look":"again"}}}`)
	b.awaitReason(dm, v1alpha1.VMError, "was removed from DVP")
	if c := condition(dm, v1alpha1.ConditionReady); c.Status != metav1.ConditionFalse || dm.Status.Ready || dm.Spec.ProviderID != "dvp://m" {
		t.Errorf("got %+v, %s", dm.Status, dm.Spec.ProviderID)
	}
	if err := b.dvp.Get(t.Context(), client.ObjectKeyFromObject(vm), vm); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that it is not made anew", err)
	}
	b.delete(dm)
	b.awaitGone(dm)
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.cluster()
	b.script("script", "value")
	dm := b.running("m")
	before := dm.DeepCopy()
	b.refuse.Store(true)
	b.patch(dm, `{"metadata":{"annotations":{"look":"again"}}}`)
	b.dvp.Eventually("DVP was asked in vain", func(context.Context) bool { return b.refused.Load() >= 3 })
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(dm), dm); err != nil || !dm.Status.Ready || len(dm.Status.Conditions) != len(before.Status.Conditions) {
		t.Errorf("got %+v, %v, want the status untouched", dm.Status, err)
	}
	b.delete(dm)
	asked := b.refused.Load()
	b.dvp.Eventually("DVP was asked in vain again", func(context.Context) bool { return b.refused.Load() >= asked+3 })
	if err := b.Get(t.Context(), client.ObjectKeyFromObject(dm), dm); err != nil {
		t.Errorf("got %v, want it to stay while nothing is known", err)
	}
	b.refuse.Store(false)
	b.awaitGone(dm)
	b.dvp.AwaitGone(b.vm("m"))
}
