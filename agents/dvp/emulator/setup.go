package emulator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn: selection.In, corev1.NodeSelectorOpNotIn: selection.NotIn,
	corev1.NodeSelectorOpExists: selection.Exists, corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt: selection.GreaterThan, corev1.NodeSelectorOpLt: selection.LessThan,
}

// everything makes a change of any object a reason to look at all objects of a list's kind: in its
// namespace, or everywhere if it has none.
func everything(w *world, list client.ObjectList) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		all := list.DeepCopyObject().(client.ObjectList)
		if err := w.List(ctx, all, client.InNamespace(o.GetNamespace())); err != nil {
			return nil // only when the program ends
		}
		var requests []reconcile.Request
		_ = meta.EachListItem(all, func(item runtime.Object) error {
			requests = append(requests, request(item.(client.Object)))
			return nil
		})
		return requests
	}
}

// whichever makes a change of an object a reason to look at those of a list that satisfy a test.
func whichever[T client.Object](w *world, list client.ObjectList, related func(changed client.Object, other T) bool) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []reconcile.Request {
		all := list.DeepCopyObject().(client.ObjectList)
		// Nothing is changed here, and there may be many objects and many changes.
		if err := w.List(ctx, all, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
			return nil // only when the program ends
		}
		var requests []reconcile.Request
		_ = meta.EachListItem(all, func(item runtime.Object) error {
			if related(o, item.(T)) {
				requests = append(requests, request(item.(client.Object)))
			}
			return nil
		})
		return requests
	})
}

func request(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}
