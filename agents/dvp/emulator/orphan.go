package emulator

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"commander/agents/dvp/api/virtualization/v1alpha2"
)

// orphans deletes what belonged to a machine that is gone, as the garbage collector of Kubernetes
// does, which is one of the controllers that are not there.
type orphans[T client.Object] struct {
	*world
	name string
	make func() T
	list client.ObjectList
}

// ends lets the end of an object through, and nothing else.
var ends = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false }, UpdateFunc: func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

func (r orphans[T]) setup(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).For(r.make()).
		Watches(&v1alpha2.VirtualMachine{}, whichever(r.world, r.list, func(vm client.Object, o T) bool { return ownedBy(o, vm) }), builder.WithPredicates(ends)).
		Named("orphan-" + r.name).Complete(r)
}

func (r orphans[T]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	o := r.make()
	if err := r.Get(ctx, req.NamespacedName, o); err != nil || !o.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owners := 0
	for _, ref := range o.GetOwnerReferences() {
		if ref.Kind != v1alpha2.KindVirtualMachine {
			return ctrl.Result{}, nil
		}
		there, err := r.exists(ctx, o.GetNamespace(), ref.Name, ref.UID)
		if err != nil || there {
			return ctrl.Result{}, err
		}
		owners++
	}
	if owners == 0 {
		return ctrl.Result{}, nil
	}
	uid := o.GetUID()
	return ctrl.Result{}, client.IgnoreNotFound(r.Delete(ctx, o, client.Preconditions{UID: &uid}))
}

// exists asks the API itself: the cache may not have seen a new owner yet.
func (r orphans[T]) exists(ctx context.Context, namespace, name string, uid types.UID) (bool, error) {
	vm := new(v1alpha2.VirtualMachine)
	if err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, vm); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return vm.UID == uid, nil
}
