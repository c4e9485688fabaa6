package emulator

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// noteEvacuation marks operations that the evacuation made.
const noteEvacuation = "virtualization.deckhouse.io/evacuation"

// evacuations moves machines away from nodes that are being emptied.
type evacuations struct{ *world }

func (r evacuations) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(&v1alpha2.VirtualMachine{}).
		Watches(&operation{}, whichever(r.world, &v1alpha2.VirtualMachineList{}, func(o client.Object, vm *v1alpha2.VirtualMachine) bool {
			return o.(*operation).Spec.VirtualMachineName == vm.Name
		})).Named("evacuation").Complete(r)
}

func (r evacuations) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var ops v1alpha2.VirtualMachineOperationList
	if err := r.List(ctx, &ops, client.InNamespace(req.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	failed, active := 0, false
	for i := range ops.Items {
		op := &ops.Items[i]
		if op.Spec.VirtualMachineName != req.Name {
			continue
		}
		_, ours := op.Annotations[noteEvacuation]
		if ours && (op.Status.Phase.Finished() || !op.DeletionTimestamp.IsZero()) {
			if err := r.release(ctx, op, v1alpha2.FinalizerEvacuation); err != nil {
				return ctrl.Result{}, err
			}
		}
		active = active || !op.Status.Phase.Finished()
		if ours && op.Status.Phase == v1alpha2.OperationPhaseFailed {
			failed++
		}
	}
	vm := new(v1alpha2.VirtualMachine)
	if err := r.Get(ctx, req.NamespacedName, vm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	required := meta.IsStatusConditionTrue(vm.Status.Conditions, v1alpha2.VMEvictionRequired)
	if !required || active || vm.Status.Phase != v1alpha2.MachineRunning {
		return ctrl.Result{}, nil
	}
	if failed > 0 {
		const longest = 10 // doublings: beyond them the pause is hours
		pause := r.EvictionDelay << (min(failed, longest) - 1)
		if left := r.timers.left(vm.UID, "evict-"+time.Duration(failed).String(), pause); left > 0 {
			return again(left), nil
		}
	}
	return ctrl.Result{}, r.Create(ctx, &operation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: vm.Namespace, GenerateName: "evacuation-",
			Annotations: map[string]string{noteEvacuation: ""}, Finalizers: []string{v1alpha2.FinalizerEvacuation},
		},
		Spec: v1alpha2.OperationSpec{Type: v1alpha2.OperationEvict, VirtualMachineName: vm.Name},
	})
}
