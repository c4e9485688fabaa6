package emulator

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// machines runs VirtualMachines.
type machines struct{ *world }

func (r machines) setup(m ctrl.Manager) error {
	list := &v1alpha2.VirtualMachineList{}
	type vm = *v1alpha2.VirtualMachine
	return ctrl.NewControllerManagedBy(m).For(&v1alpha2.VirtualMachine{}).
		WatchesRawSource(source.Channel(r.guestChanges, &handler.EnqueueRequestForObject{})).
		Owns(&corev1.Pod{}).Owns(&v1alpha2.VirtualMachineIPAddress{}).
		Watches(&v1alpha2.VirtualMachineIPAddress{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return vm.Spec.VirtualMachineIPAddressName == o.GetName() })).
		Watches(&v1alpha2.VirtualDisk{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return uses(vm, v1alpha2.KindVirtualDisk, o.GetName()) })).
		Watches(&v1alpha2.VirtualImage{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return uses(vm, v1alpha2.KindVirtualImage, o.GetName()) })).
		Watches(&v1alpha2.ClusterVirtualImage{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return uses(vm, v1alpha2.KindClusterVirtualImage, o.GetName()) })).
		Watches(&v1alpha2.VirtualMachineBlockDeviceAttachment{}, whichever(r.world, list, func(o client.Object, vm vm) bool {
			return o.(*v1alpha2.VirtualMachineBlockDeviceAttachment).Spec.VirtualMachineName == vm.Name
		})).
		Watches(&v1alpha2.VirtualMachineOperation{}, whichever(r.world, list, func(o client.Object, vm vm) bool {
			return o.(*v1alpha2.VirtualMachineOperation).Spec.VirtualMachineName == vm.Name
		})).
		Watches(&v1alpha2.VirtualMachineClass{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return vm.Spec.VirtualMachineClassName == o.GetName() })).
		Watches(&corev1.Secret{}, whichever(r.world, list, func(o client.Object, vm vm) bool { return initializes(vm, o.GetName()) })).
		Watches(&corev1.ResourceQuota{}, whichever(r.world, list, func(_ client.Object, vm vm) bool { return vm.Status.Phase == v1alpha2.MachinePending })).
		Watches(&corev1.Node{}, whichever(r.world, list, func(client.Object, vm) bool { return true })).
		Named("machine").Complete(r)
}

// initializes says whether a machine has what it does at its first start from a Secret of this name.
func initializes(vm *v1alpha2.VirtualMachine, name string) bool {
	p := vm.Spec.Provisioning
	return p != nil && (p.UserDataRef != nil && p.UserDataRef.Name == name || p.SysprepRef != nil && p.SysprepRef.Name == name)
}

func uses(vm *v1alpha2.VirtualMachine, kind, name string) bool {
	return slices.ContainsFunc(vm.Spec.BlockDeviceRefs, func(ref v1alpha2.BlockDeviceRef) bool { return ref.Kind == kind && ref.Name == name })
}

// machine is one look at a VirtualMachine.
type machine struct {
	*world
	vm     *v1alpha2.VirtualMachine
	before *v1alpha2.VirtualMachine
	pods   []corev1.Pod
	delay  Delays
	result ctrl.Result
	// after is done once the status is written: what may only happen when the API has accepted what
	// the machine has become.
	after []func(context.Context) error
}

func (r machines) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	vm := new(v1alpha2.VirtualMachine)
	if err := r.Get(ctx, req.NamespacedName, vm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if vm.DeletionTimestamp.IsZero() {
		if err := r.hold(ctx, vm, v1alpha2.FinalizerVM); err != nil {
			return ctrl.Result{}, err
		}
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(vm.Namespace), client.MatchingLabels{v1alpha2.LabelLauncher: vm.Name}); err != nil {
		return ctrl.Result{}, err
	}
	m := &machine{world: r.world, vm: vm, before: vm.DeepCopy(), pods: pods.Items, delay: r.delays(ctx, vm)}
	steps := []func(context.Context) error{m.judgeClass, m.findAddress, m.judgeDevices, m.judgeProvisioning, m.power, m.migration, m.compare, m.devices, m.labels}
	if !vm.DeletionTimestamp.IsZero() {
		steps = []func(context.Context) error{m.terminate}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return ctrl.Result{}, err
		}
	}
	m.record()
	if err := r.write(ctx, m.before, vm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	for _, do := range m.after {
		if err := do(ctx); err != nil {
			return ctrl.Result{}, err
		}
	}
	return m.result, nil
}

func (m *machine) set(kind string, ok bool, reason, message string) {
	set(&m.vm.Status.Conditions, m.vm, kind, ok, reason, message)
}

func (m *machine) wait(result ctrl.Result) { m.result = sooner(m.result, result) }

// active is the pod in which the machine runs, or nil. While it moves, that is the old one; the
// target is noted as such until the move is over.
func (m *machine) active() *corev1.Pod {
	var found *corev1.Pod
	for i := range m.pods {
		pod := &m.pods[i]
		if _, target := pod.Annotations[notePod]; target {
			continue
		}
		if found == nil || found.CreationTimestamp.Before(&pod.CreationTimestamp) {
			found = pod
		}
	}
	return found
}

// record notes what follows from the phase.
func (m *machine) record() {
	status := &m.vm.Status
	status.ObservedGeneration = m.vm.Generation
	status.VirtualMachinePods = nil
	active := m.active()
	for i := range m.pods {
		status.VirtualMachinePods = append(status.VirtualMachinePods, v1alpha2.MachinePod{Name: m.pods[i].Name, Active: &m.pods[i] == active})
	}
	status.NodeName = ""
	if active != nil && status.Phase != v1alpha2.MachineStopped {
		status.NodeName = active.Spec.NodeName
	}
	transition(status)
}

// transition adds a change of phase to a machine's history, which keeps the last thirty.
func transition(status *v1alpha2.VirtualMachineStatus) {
	if status.Stats == nil {
		status.Stats = new(v1alpha2.MachineStats)
	}
	history := status.Stats.PhasesTransitions
	if len(history) > 0 && history[len(history)-1].Phase == status.Phase {
		return
	}
	history = append(history, v1alpha2.PhaseTransition{Phase: status.Phase, Timestamp: metav1.Now()})
	status.Stats.PhasesTransitions = history[max(0, len(history)-30):]
}
