package emulator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

type operation = v1alpha2.VirtualMachineOperation

// operations does VirtualMachineOperations: it sends one signal and waits for its effect. Moves are
// done by the machine's own controller while their operation is in progress.
type operations struct{ *world }

func (r operations) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&operation{}).
		Watches(&v1alpha2.VirtualMachine{}, whichever(r.world, &v1alpha2.VirtualMachineOperationList{}, func(o client.Object, op *operation) bool {
			return op.Spec.VirtualMachineName == o.GetName() && !op.Status.Phase.Finished()
		})).Named("operation").Complete(r)
}

// applicable says in which phases of a machine an operation can be done.
var applicable = map[v1alpha2.OperationType][]v1alpha2.MachinePhase{
	v1alpha2.OperationStart: {v1alpha2.MachineStopped, v1alpha2.MachineStopping},
	v1alpha2.OperationStop: {
		v1alpha2.MachineRunning, v1alpha2.MachineDegraded, v1alpha2.MachineStarting, v1alpha2.MachinePause, v1alpha2.MachinePending,
	},
	v1alpha2.OperationRestart: {v1alpha2.MachineRunning, v1alpha2.MachineDegraded, v1alpha2.MachineStarting, v1alpha2.MachinePause},
	v1alpha2.OperationMigrate: {v1alpha2.MachineRunning},
	v1alpha2.OperationEvict:   {v1alpha2.MachineRunning},
}

func (r operations) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	op := new(operation)
	if err := r.Get(ctx, req.NamespacedName, op); err != nil || op.Status.Phase.Finished() || !op.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	vm := new(v1alpha2.VirtualMachine)
	err := r.Get(ctx, client.ObjectKey{Namespace: op.Namespace, Name: op.Spec.VirtualMachineName}, vm)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	before := op.DeepCopy()
	op.Status.ObservedGeneration = op.Generation
	switch {
	case err != nil:
		fail(op, v1alpha2.OperationMachineNotFound, fmt.Sprintf("there is no VirtualMachine %q", op.Spec.VirtualMachineName))
	case op.Status.Phase == v1alpha2.OperationPhaseInProgress:
		ended, err := r.done(ctx, op, vm)
		if err != nil {
			return ctrl.Result{}, err
		}
		if ended {
			op.Status.Phase = v1alpha2.OperationPhaseCompleted
			set(&op.Status.Conditions, op, v1alpha2.OperationCompletedCondition, true, v1alpha2.OperationCompletedReason, "")
		}
	default:
		if err := r.begin(ctx, op, vm); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.write(ctx, before, op)
}

func fail(op *operation, reason, message string) {
	op.Status.Phase = v1alpha2.OperationPhaseFailed
	set(&op.Status.Conditions, op, v1alpha2.OperationCompletedCondition, false, reason, message)
}

// begin checks an operation and sends its signal.
func (r operations) begin(ctx context.Context, op *operation, vm *v1alpha2.VirtualMachine) error {
	kind, policy := op.Spec.Type, vm.Spec.RunPolicy
	if _, signalled := op.Annotations[notePod]; signalled { // and then there was a crash or a conflict
		if err := r.signal(ctx, op, vm); err != nil {
			return err
		}
		inProgress(op)
		return nil
	}
	forced := op.Spec.Force != nil && *op.Spec.Force && vm.Status.Phase == v1alpha2.MachineStopping
	byHand := policy == v1alpha2.Manual || policy == v1alpha2.AlwaysOnUnlessStoppedManually
	switch kind {
	case v1alpha2.OperationStart, v1alpha2.OperationStop:
		if !byHand {
			fail(op, v1alpha2.OperationNotForPolicy, fmt.Sprintf("%s cannot be done while the run policy is %s", kind, policy))
			return nil
		}
	default:
		if policy == v1alpha2.AlwaysOff {
			fail(op, v1alpha2.OperationNotForPolicy, fmt.Sprintf("%s cannot be done while the run policy is %s", kind, policy))
			return nil
		}
	}
	if !slices.Contains(applicable[kind], vm.Status.Phase) && !forced {
		fail(op, v1alpha2.OperationNotForPhase, fmt.Sprintf("%s cannot be done in phase %s", kind, vm.Status.Phase))
		return nil
	}
	if err := r.supersede(ctx, op); err != nil {
		return err
	}
	if err := r.signal(ctx, op, vm); err != nil {
		return err
	}
	inProgress(op)
	return nil
}

// supersede ends the unfinished operations whose place this one takes.
func (r operations) supersede(ctx context.Context, op *operation) error {
	var all v1alpha2.VirtualMachineOperationList
	if err := r.List(ctx, &all, client.InNamespace(op.Namespace)); err != nil {
		return err
	}
	for i := range all.Items {
		other := &all.Items[i]
		if other.UID == op.UID || other.Spec.VirtualMachineName != op.Spec.VirtualMachineName || other.Status.Phase.Finished() || !supersedes(op.Spec, other.Spec) {
			continue
		}
		if err := r.finish(ctx, other, v1alpha2.OperationPhaseSuperseded, v1alpha2.OperationAborted, "operation "+op.Name+" took its place"); err != nil {
			return err
		}
	}
	return nil
}

func inProgress(op *operation) {
	op.Status.Phase = v1alpha2.OperationPhaseInProgress
	set(&op.Status.Conditions, op, v1alpha2.OperationCompletedCondition, false, v1alpha2.OperationInProgressReason, "")
}

func (r operations) signal(ctx context.Context, op *operation, vm *v1alpha2.VirtualMachine) error {
	pods, err := r.podsOf(ctx, vm)
	if err != nil {
		return err
	}
	if _, again := op.Annotations[notePod]; !again {
		mark := "none" // no pod was ended
		if len(pods) > 0 {
			mark = string(pods[0].UID)
		}
		if err := r.note(ctx, op, mark); err != nil {
			return err
		}
	}
	pods = slices.DeleteFunc(pods, func(p corev1.Pod) bool { return string(p.UID) != op.Annotations[notePod] })
	switch kind := op.Spec.Type; {
	case kind == v1alpha2.OperationStart && vm.Status.Phase == v1alpha2.MachineStopped:
		return r.turn(ctx, vm, v1alpha2.MachinePending)
	case kind == v1alpha2.OperationStart:
		for i := range pods { // it is stopping: it starts again afterwards
			if err := r.end(ctx, &pods[i], intentRestart); err != nil {
				return err
			}
		}
	case kind == v1alpha2.OperationStop && op.Annotations[notePod] == "none":
		return r.turn(ctx, vm, v1alpha2.MachineStopped)
	case kind == v1alpha2.OperationStop, kind == v1alpha2.OperationRestart:
		for i := range pods {
			if err := r.end(ctx, &pods[i], pick(kind == v1alpha2.OperationStop, intentStop, intentRestart)); err != nil {
				return err
			}
		}
	}
	return nil
}

// note remembers on the operation that it was signalled, and which pod it ended. The status that is being written stays.
func (r operations) note(ctx context.Context, op *operation, pod string) error {
	noted := op.DeepCopy()
	if noted.Annotations == nil {
		noted.Annotations = map[string]string{}
	}
	noted.Annotations[notePod] = pod
	if err := r.Patch(ctx, noted, client.MergeFrom(op)); err != nil {
		return err
	}
	op.ResourceVersion, op.Annotations = noted.ResourceVersion, noted.Annotations
	return nil
}

// turn puts a machine that has no pod into another phase, from which its controller goes on.
func (w *world) turn(ctx context.Context, vm *v1alpha2.VirtualMachine, phase v1alpha2.MachinePhase) error {
	vm = vm.DeepCopy()
	vm.Status.Phase = phase
	transition(&vm.Status)
	return w.Status().Update(ctx, vm)
}

// done says whether what an operation in progress asked for has come.
func (r operations) done(ctx context.Context, op *operation, vm *v1alpha2.VirtualMachine) (bool, error) {
	switch op.Spec.Type {
	case v1alpha2.OperationStart:
		return vm.Status.Phase == v1alpha2.MachineRunning, nil
	case v1alpha2.OperationStop:
		return vm.Status.Phase == v1alpha2.MachineStopped, nil
	case v1alpha2.OperationRestart:
		pods, err := r.podsOf(ctx, vm)
		return vm.Status.Phase == v1alpha2.MachineRunning && len(pods) == 1 && string(pods[0].UID) != op.Annotations[notePod], err
	}
	return false, nil // a move: the machine's controller ends it
}

func (w *world) podsOf(ctx context.Context, vm *v1alpha2.VirtualMachine) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := w.List(ctx, &pods, client.InNamespace(vm.Namespace), client.MatchingLabels{v1alpha2.LabelLauncher: vm.Name})
	return pods.Items, err
}
