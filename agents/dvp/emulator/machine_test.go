package emulator_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
	"commander/agents/dvp/emulator"
	. "commander/agents/dvp/emulator/emulatortest"
)

type (
	VM = *v1alpha2.VirtualMachine
	VD = *v1alpha2.VirtualDisk
)

func phases(vm VM) string {
	var all []string
	for _, t := range vm.Status.Stats.PhasesTransitions {
		all = append(all, string(t.Phase))
	}
	return strings.Join(all, " ")
}

func reason(conditions []metav1.Condition, kind string) string {
	if c := meta.FindStatusCondition(conditions, kind); c != nil {
		return string(c.Status) + " " + c.Reason
	}
	return ""
}

func TestMachineStarts(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	if got, want := phases(vm), "Pending Starting Running"; got != want {
		t.Errorf("got phases %s, want %s", got, want)
	}
	if vm.Status.NodeName == "" || vm.Status.IPAddress == "" {
		t.Errorf("got node %q, address %q, want both", vm.Status.NodeName, vm.Status.IPAddress)
	}
	if s := vm.Spec; s.RunPolicy != v1alpha2.AlwaysOnUnlessStoppedManually || s.OSType != v1alpha2.Generic || s.Bootloader != v1alpha2.BIOS ||
		!*s.EnableParavirtualization || s.LiveMigrationPolicy != v1alpha2.PreferSafe || *s.TerminationGracePeriodSeconds != 60 ||
		s.Disruptions.RestartApprovalMode != "Manual" || s.CPU.CoreFraction != "100%" {
		t.Errorf("got defaults %+v", s)
	}
}

func TestMachineWaitsForItsSecret(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Make(d.Disk("a", Immediate, "1Gi"))
	vm := d.Machine("a", "a")
	vm.Spec.Provisioning = &v1alpha2.Provisioning{Type: v1alpha2.UserDataRef, UserDataRef: &v1alpha2.ProvisioningRef{Kind: "Secret", Name: "init"}}
	d.Make(vm)
	waits := func(message string) {
		t.Helper()
		Await(d, vm, "provisioning not ready", func(vm VM) bool {
			c := meta.FindStatusCondition(vm.Status.Conditions, v1alpha2.VMProvisioningReady)
			return vm.Status.Phase == v1alpha2.MachinePending && c != nil && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, message)
		})
	}
	waits("not found")
	wrong := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "init"}, Data: map[string][]byte{"userData": []byte("#cloud-config")}}
	d.Make(wrong)
	waits("is of type")
	if err := d.Delete(t.Context(), wrong); err != nil {
		t.Fatal(err)
	}
	d.Make(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "init"}, Type: v1alpha2.SecretTypeCloudInit, Data: map[string][]byte{"userData": []byte("#cloud-config")},
	})
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
}

func TestMachineWaitsForItsClassAndDisk(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Machine("a", "a")
	vm.Spec.VirtualMachineClassName = "of-" + d.Namespace
	d.Make(vm)
	Await(d, vm, "class and disk not ready", func(vm VM) bool {
		return vm.Status.Phase == v1alpha2.MachinePending && reason(vm.Status.Conditions, v1alpha2.VMClassReady) == "False VirtualMachineClassNotReady" &&
			reason(vm.Status.Conditions, v1alpha2.VMBlockDevicesReady) == "False BlockDevicesNotReady"
	})
	d.Make(&v1alpha2.VirtualMachineClass{ObjectMeta: metav1.ObjectMeta{Name: vm.Spec.VirtualMachineClassName}, Spec: v1alpha2.ClassSpec{CPU: v1alpha2.ClassCPU{Type: "Host"}}})
	Await(d, vm, "class ready", func(vm VM) bool {
		return reason(vm.Status.Conditions, v1alpha2.VMClassReady) == "True VirtualMachineClassReady"
	})
	d.Make(d.Disk("a", Late, "1Gi")) // which in turn waits for the machine
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
}

func TestPodQuota(t *testing.T) {
	t.Parallel()
	d := Start(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"requests.cpu": resource.MustParse("500m")}}}
	d.Make(quota)
	Await(d, quota, "a judged quota", func(q *corev1.ResourceQuota) bool { return len(q.Status.Hard) > 0 })
	d.Make(d.Disk("a", Immediate, "1Gi"))
	vm := d.Machine("a", "a")
	d.Make(vm)
	Await(d, vm, "refused pod", func(vm VM) bool {
		c := meta.FindStatusCondition(vm.Status.Conditions, v1alpha2.VMRunning)
		return vm.Status.Phase == v1alpha2.MachinePending && c != nil && c.Reason == v1alpha2.VMPodNotStarted && strings.Contains(c.Message, "exceeded quota")
	})
	d.Change(quota, func(o client.Object) { o.(*corev1.ResourceQuota).Spec.Hard["requests.cpu"] = resource.MustParse("2") })
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
}

// A guest that shuts down is a pod that completed.
func TestGuestShutdown(t *testing.T) {
	t.Parallel()
	d := Start(t)
	for name, c := range map[string]struct {
		policy v1alpha2.RunPolicy
		want   v1alpha2.MachinePhase
	}{
		"unless": {v1alpha2.AlwaysOnUnlessStoppedManually, v1alpha2.MachineStopped},
		"always": {v1alpha2.AlwaysOn, v1alpha2.MachineRunning},
	} {
		d.Make(d.Disk(name, Immediate, "1Gi"))
		vm := d.Machine(name, name)
		vm.Spec.RunPolicy = c.policy
		d.Make(vm)
		AwaitPhase(d, vm, v1alpha2.MachineRunning)
		pod := podOf(t, d, vm)
		first := pod.UID
		pod.Status.Phase = corev1.PodSucceeded
		if err := d.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		Await(d, vm, "what follows the shutdown", func(vm VM) bool {
			if vm.Status.Phase != c.want {
				return false
			}
			pods := pods(t, d, vm)
			return c.want == v1alpha2.MachineStopped && len(pods) == 0 || len(pods) == 1 && pods[0].UID != first
		})
	}
}

func pods(t *testing.T, d *DVP, vm VM) []corev1.Pod {
	t.Helper()
	var list corev1.PodList
	if err := d.List(t.Context(), &list, client.InNamespace(d.Namespace), client.MatchingLabels{v1alpha2.LabelLauncher: vm.Name}); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func podOf(t *testing.T, d *DVP, vm VM) *corev1.Pod {
	t.Helper()
	all := pods(t, d, vm)
	if len(all) != 1 {
		t.Fatalf("got %d pods of %s, want 1", len(all), vm.Name)
	}
	return &all[0]
}

func TestRestartForChanges(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("manual")
	pod := podOf(t, d, vm)
	d.Change(vm, func(o client.Object) { o.(VM).Spec.CPU.Cores = 2 })
	Await(d, vm, "a change that waits", func(vm VM) bool {
		return reason(vm.Status.Conditions, v1alpha2.VMAwaitingRestart) == "True ChangesPendingRestart" &&
			len(vm.Status.RestartAwaitingChanges) == 1 && vm.Status.RestartAwaitingChanges[0].Path == "cpu"
	})
	if podOf(t, d, vm).UID != pod.UID {
		t.Error("it restarted without being allowed to")
	}
	d.Make(&v1alpha2.VirtualMachineOperation{
		ObjectMeta: metav1.ObjectMeta{Name: "restart"}, Spec: v1alpha2.OperationSpec{Type: v1alpha2.OperationRestart, VirtualMachineName: "manual"},
	})
	Await(d, vm, "the change applied", func(vm VM) bool {
		return vm.Status.Phase == v1alpha2.MachineRunning && len(vm.Status.RestartAwaitingChanges) == 0 && vm.Status.Resources.CPU.Cores == 2 &&
			reason(vm.Status.Conditions, v1alpha2.VMConfigurationApplied) == "True ConfigurationApplied"
	})

	other := d.Run("automatic")
	pod = podOf(t, d, other)
	d.Change(other, func(o client.Object) {
		o.(VM).Spec.Disruptions.RestartApprovalMode = v1alpha2.RestartAutomatic
		o.(VM).Spec.Memory.Size = resource.MustParse("2Gi")
	})
	Await(d, other, "a restart by itself", func(vm VM) bool {
		pods := pods(t, d, vm)
		return vm.Status.Phase == v1alpha2.MachineRunning && len(pods) == 1 && pods[0].UID != pod.UID && vm.Status.Resources.Memory.Size == "2Gi"
	})
}

func TestDeletedMachineTakesItsOwn(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	owner := []metav1.OwnerReference{{APIVersion: v1alpha2.GroupVersion.String(), Kind: "VirtualMachine", Name: vm.Name, UID: vm.UID}}
	owned, kept := d.Disk("owned", Immediate, "1Gi"), d.Disk("kept", Immediate, "1Gi")
	owned.OwnerReferences = owner
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "init", OwnerReferences: owner}}
	d.Make(owned)
	d.Make(kept)
	d.Make(secret)
	d.Knob(emulator.AnnotationDelays, "stop=500ms")
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	AwaitPhase(d, vm, v1alpha2.MachineTerminating)
	pod := podOf(t, d, vm) // it is still shutting down
	d.AwaitGone(vm)
	d.AwaitGone(pod)
	d.AwaitGone(owned)
	d.AwaitGone(secret)
	d.AwaitGone(&v1alpha2.VirtualMachineIPAddress{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: vm.Status.VirtualMachineIPAddressName}})
	for _, name := range []string{"kept", "a"} { // the spec's disk is not the machine's own
		disk := &v1alpha2.VirtualDisk{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: name}}
		Await(d, disk, "kept", func(vd VD) bool { return vd.DeletionTimestamp.IsZero() && vd.Status.Phase == v1alpha2.DiskPhaseReady })
	}
}

func TestGracePeriodEndsTheStop(t *testing.T) {
	t.Parallel()
	d := Start(t)
	d.Knob(emulator.AnnotationDelays, "stop=1h")
	d.Make(d.Disk("a", Immediate, "1Gi"))
	vm := d.Machine("a", "a")
	vm.Spec.TerminationGracePeriodSeconds = new(int64(1))
	d.Make(vm)
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
	if err := d.Delete(t.Context(), vm); err != nil {
		t.Fatal(err)
	}
	d.AwaitGone(vm)
}

func TestOperations(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	address := vm.Status.IPAddress
	do := func(name string, kind v1alpha2.OperationType, machine string, phase v1alpha2.OperationPhase, why string) {
		t.Helper()
		op := &v1alpha2.VirtualMachineOperation{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha2.OperationSpec{Type: kind, VirtualMachineName: machine}}
		d.Make(op)
		Await(d, op, "the end", func(op *v1alpha2.VirtualMachineOperation) bool { return op.Status.Phase.Finished() })
		if got := reason(op.Status.Conditions, v1alpha2.OperationCompletedCondition); op.Status.Phase != phase || got != why {
			t.Errorf("%s: got %s, %s, want %s, %s", name, op.Status.Phase, got, phase, why)
		}
	}
	const completed = "True OperationCompleted"
	do("stop", v1alpha2.OperationStop, "a", v1alpha2.OperationPhaseCompleted, completed)
	do("restart-stopped", v1alpha2.OperationRestart, "a", v1alpha2.OperationPhaseFailed, "False NotApplicableForVirtualMachinePhase")
	do("start", v1alpha2.OperationStart, "a", v1alpha2.OperationPhaseCompleted, completed)
	do("start-running", v1alpha2.OperationStart, "a", v1alpha2.OperationPhaseFailed, "False NotApplicableForVirtualMachinePhase")
	do("nobody", v1alpha2.OperationStart, "b", v1alpha2.OperationPhaseFailed, "False VirtualMachineNotFound")
	AwaitPhase(d, vm, v1alpha2.MachineRunning)
	if got := phases(vm); !strings.HasSuffix(got, "Running Stopping Stopped Pending Starting Running") || vm.Status.IPAddress != address {
		t.Errorf("got phases %s and address %s, want the way down and up and %s", got, vm.Status.IPAddress, address)
	}
	d.Change(vm, func(o client.Object) { o.(VM).Spec.RunPolicy = v1alpha2.AlwaysOn })
	Await(d, vm, "the policy seen", func(vm VM) bool { return vm.Status.ObservedGeneration == vm.Generation })
	do("stop-always", v1alpha2.OperationStop, "a", v1alpha2.OperationPhaseFailed, "False NotApplicableForVirtualMachineRunPolicy")
}

// A pod that is deleted is a lost machine, and starts again.
func TestLostPod(t *testing.T) {
	t.Parallel()
	d := Start(t)
	vm := d.Run("a")
	pod := podOf(t, d, vm)
	if err := d.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	Await(d, vm, "another pod", func(vm VM) bool {
		return vm.Status.Phase == v1alpha2.MachineRunning && slices.ContainsFunc(pods(t, d, vm), func(p corev1.Pod) bool { return p.UID != pod.UID && p.Status.Phase == corev1.PodRunning })
	})
}
