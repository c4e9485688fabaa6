package emulator

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// classes keeps VirtualMachineClasses: where they can be had and whether somebody uses them.
type classes struct{ *world }

func (r classes) setup(m ctrl.Manager) error {
	used := func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: o.(*v1alpha2.VirtualMachine).Spec.VirtualMachineClassName}}}
	}
	return ctrl.NewControllerManagedBy(m).For(&v1alpha2.VirtualMachineClass{}).
		Watches(&v1alpha2.VirtualMachine{}, handler.EnqueueRequestsFromMapFunc(used)).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(everything(r.world, &v1alpha2.VirtualMachineClassList{}))).
		Named("class").Complete(r)
}

func (r classes) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	class := new(v1alpha2.VirtualMachineClass)
	if err := r.Get(ctx, req.NamespacedName, class); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var machines v1alpha2.VirtualMachineList
	if err := r.List(ctx, &machines); err != nil {
		return ctrl.Result{}, err
	}
	users := 0
	for _, vm := range machines.Items {
		if vm.Spec.VirtualMachineClassName == class.Name {
			users++
		}
	}
	if !class.DeletionTimestamp.IsZero() && users == 0 {
		return ctrl.Result{}, r.release(ctx, class, v1alpha2.FinalizerClass)
	}
	if class.DeletionTimestamp.IsZero() {
		if err := r.hold(ctx, class, v1alpha2.FinalizerClass); err != nil {
			return ctrl.Result{}, err
		}
	}
	before := class.DeepCopy()
	nodes, err := r.nodesOf(ctx, class)
	if err != nil {
		return ctrl.Result{}, err
	}
	class.Status.AvailableNodes = nil
	for _, node := range nodes {
		class.Status.AvailableNodes = append(class.Status.AvailableNodes, node.Name)
	}
	class.Status.ObservedGeneration = class.Generation
	class.Status.Phase = v1alpha2.ClassPhaseReady
	reason := v1alpha2.ClassNodesFound
	if len(nodes) == 0 {
		class.Status.Phase, reason = v1alpha2.ClassPhasePending, v1alpha2.ClassNoNodes
	}
	if !class.DeletionTimestamp.IsZero() {
		class.Status.Phase = v1alpha2.ClassPhaseTerminating
	}
	set(&class.Status.Conditions, class, v1alpha2.ClassReady, len(nodes) > 0, reason, "")
	set(&class.Status.Conditions, class, v1alpha2.ClassInUse, users > 0, "UsedByVirtualMachines", fmt.Sprintf("%d machines use it", users))
	return ctrl.Result{}, r.write(ctx, before, class)
}

// nodesOf lists the nodes that a class allows, in the order of their names.
func (w *world) nodesOf(ctx context.Context, class *v1alpha2.VirtualMachineClass) ([]corev1.Node, error) {
	selector := labels.Everything()
	if class.Spec.NodeSelector != nil {
		selector = labels.SelectorFromSet(class.Spec.NodeSelector.MatchLabels)
		for _, e := range class.Spec.NodeSelector.MatchExpressions {
			requirement, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
			if err != nil {
				return nil, fmt.Errorf("read node selector of class %s: %w", class.Name, err)
			}
			selector = selector.Add(*requirement)
		}
	}
	var nodes corev1.NodeList
	err := w.List(ctx, &nodes, client.MatchingLabelsSelector{Selector: selector})
	return nodes.Items, err
}
