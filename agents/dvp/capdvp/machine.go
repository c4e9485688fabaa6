package capdvp

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"commander/agents/dvp/api/infrastructure/v1alpha1"
	"commander/agents/dvp/cloud"
)

// machines keeps DeckhouseMachines.
type machines struct{ *Provider }

func (r machines) setup(m ctrl.Manager) error {
	ofMachine := func(_ context.Context, o client.Object) []reconcile.Request {
		name, ok := infrastructureOf(o)
		if !ok {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: o.GetNamespace(), Name: name}}}
	}
	ofCluster := func(ctx context.Context, o client.Object) []reconcile.Request {
		var all v1alpha1.DeckhouseMachineList
		if err := r.List(ctx, &all, client.InNamespace(o.GetNamespace()), client.MatchingLabels{labelCluster: o.GetName()}); err != nil {
			return nil // from the cache, where it cannot fail
		}
		var requests []reconcile.Request
		for i := range all.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}
		return requests
	}
	return ctrl.NewControllerManagedBy(m).For(&v1alpha1.DeckhouseMachine{}).
		Watches(capiObject("Machine"), handler.EnqueueRequestsFromMapFunc(ofMachine)).
		Watches(capiObject("Cluster"), handler.EnqueueRequestsFromMapFunc(ofCluster)).
		WithOptions(r.options()).Named("deckhousemachine").Complete(r)
}

func (r machines) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	dm := new(v1alpha1.DeckhouseMachine)
	if err := r.Get(ctx, req.NamespacedName, dm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner, err := ownerMachine(ctx, r, dm)
	if err != nil {
		return ctrl.Result{}, err
	}
	name := owner.cluster
	if name == "" {
		name = dm.Labels[labelCluster]
	}
	cluster, err := readCluster(ctx, r, dm.Namespace, name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if paused(dm, cluster) {
		before := dm.DeepCopy()
		say(dm, v1alpha1.ConditionPaused, metav1.ConditionTrue, v1alpha1.ReasonPaused, "")
		return ctrl.Result{}, r.writeStatus(ctx, before, dm)
	}
	if !dm.DeletionTimestamp.IsZero() { // whether or not its owners are still there
		return r.remove(ctx, dm)
	}
	if !owner.exists || !cluster.exists {
		return ctrl.Result{}, nil // Cluster API has not come to it
	}
	if controllerutil.AddFinalizer(dm, v1alpha1.FinalizerMachine) { // before anything is made in DVP
		return ctrl.Result{}, r.Update(ctx, dm)
	}
	before := dm.DeepCopy()
	say(dm, v1alpha1.ConditionPaused, metav1.ConditionFalse, v1alpha1.ReasonNotPaused, "")
	for i := range dm.Status.Conditions { // which an older form of the API did not need
		if dm.Status.Conditions[i].Reason == "" {
			dm.Status.Conditions[i].Reason = v1alpha1.MigratedFromBeta1
		}
	}
	wait, err := r.provide(ctx, dm, owner, cluster)
	if cloud.Is(err, cloud.Unreachable) && ctx.Err() == nil {
		return ctrl.Result{}, err // nothing is known, so nothing is said; the queue grows the pause
	}
	if problem := r.writeStatus(ctx, before, dm); problem != nil {
		return ctrl.Result{}, problem
	}
	return ctrl.Result{RequeueAfter: wait}, err
}

// say sets a condition.
func say(dm *v1alpha1.DeckhouseMachine, kind string, is metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&dm.Status.Conditions, metav1.Condition{
		Type: kind, Status: is, Reason: reason, Message: message, ObservedGeneration: dm.Generation,
	})
}

// tell says how the VirtualMachine is, to people and to Cluster API.
func tell(dm *v1alpha1.DeckhouseMachine, is metav1.ConditionStatus, reason, message string) {
	say(dm, v1alpha1.ConditionVM, is, reason, message)
	say(dm, v1alpha1.ConditionReady, is, reason, message)
	dm.Status.Ready = is == metav1.ConditionTrue
}
