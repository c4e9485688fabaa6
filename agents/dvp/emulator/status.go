package emulator

import (
	"context"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// set writes a condition of an object with the generation that it judges.
func set(conditions *[]metav1.Condition, o client.Object, kind string, ok bool, reason, message string) {
	status := metav1.ConditionFalse
	if ok {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: o.GetGeneration(),
	})
}

// write saves the status of an object if it differs from what it was. The API refuses it if the
// object has changed meanwhile.
func (w *world) write(ctx context.Context, before, now client.Object) error {
	if reflect.DeepEqual(before, now) {
		return nil
	}
	return w.Status().Update(ctx, now)
}

// hold adds finalizers that an object lacks.
func (w *world) hold(ctx context.Context, o client.Object, finalizers ...string) error {
	changed := false
	for _, finalizer := range finalizers {
		changed = controllerutil.AddFinalizer(o, finalizer) || changed
	}
	if !changed {
		return nil
	}
	return w.Update(ctx, o)
}

// release removes finalizers.
func (w *world) release(ctx context.Context, o client.Object, finalizers ...string) error {
	changed := false
	for _, finalizer := range finalizers {
		changed = controllerutil.RemoveFinalizer(o, finalizer) || changed
	}
	if !changed {
		return nil
	}
	return client.IgnoreNotFound(w.Update(ctx, o))
}

// again asks for another look when a step is over.
func again(left time.Duration) ctrl.Result {
	if left <= 0 {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: left}
}

// sooner is the earlier of two looks.
func sooner(a, b ctrl.Result) ctrl.Result {
	if a.RequeueAfter == 0 || b.RequeueAfter != 0 && b.RequeueAfter < a.RequeueAfter {
		return b
	}
	return a
}
